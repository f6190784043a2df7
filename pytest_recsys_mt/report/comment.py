"""The command `recsys-mt comment`: the run as one comment on
its pull request, which later runs change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_recsys_mt.safety.files import appended_to
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    import httpx2

    from pytest_recsys_mt.gate.document import Document

MOST = 60_000
"""Characters of a comment; GitHub refuses more than 65,536."""
PATIENCE = 30.0
"""Seconds that GitHub may take for an answer."""
PAGE = 100
"""Comments that GitHub lists at a time."""
READS_ONLY = (
    "the token of this job may not write to the pull request. On a pull request from a fork no job's token may; else "
    "give the job the permission pull-requests: write"
)


@dataclass(frozen=True)
class PullRequest:
    """Where a comment goes, as the environment of a job says
    it, and the last line of the comment.
    """

    address: str
    number: int
    token: str
    end: str


class UnwrittenError(Exception):
    """No comment was written; the text says why."""


def comment(record: Path, name: str, baseline: str = "") -> None:
    """Write the comment of this name, or say why there is none: on standard output and
    in the job's summary.

    With a `baseline`, a file or the name of a kept run, it says what became worse
    since, and on whom.

    Raises:
        DataError: If the file is no record.
    """
    pull_request = pull_request_of(os.environ)
    if pull_request is None:
        print("recsys-mt: no comment, as this job belongs to no pull request")
        return
    mark = f"<!-- recsys-mt {name} -->"
    try:
        print(
            f"recsys-mt: {send(pull_request, mark, text_of(record, mark, pull_request, baseline))}",
        )
    except UnwrittenError as error:
        said = f"no comment on the pull request: {error}"
        print(f"recsys-mt: {said}")
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with suppress(OSError), appended_to(Path(summary)) as stream:
                stream.write(f"\nrecsys-mt: {said}.\n")


def pull_request_of(environment: Mapping[str, str]) -> PullRequest | None:
    """The pull request of a job; None for a job that runs for anything else."""
    try:
        event = json.loads(
            Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"),
        )
        number = int(event["pull_request"]["number"])
        commit = one_line(str(event["pull_request"]["head"]["sha"]))[:12]
        repository = environment["GITHUB_REPOSITORY"]
    except (KeyError, TypeError, ValueError, OSError):
        return None
    server = environment.get("GITHUB_SERVER_URL", "https://github.com")
    page = f"{server}/{repository}/actions/runs/{environment.get('GITHUB_RUN_ID', '')}"
    return PullRequest(
        f"{environment.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{repository}",
        number,
        environment.get("GITHUB_TOKEN", ""),
        f"Commit {commit}, [the whole run]({page})",
    )


def text_of(
    record: Path,
    mark: str,
    pull_request: PullRequest,
    baseline: str = "",
) -> str:
    """The text of the comment: the summary of the job, or that the run left no record.

    Raises:
        DataError: If the file is no record.
    """
    from pytest_recsys_mt.report.html import read_record
    from pytest_recsys_mt.report.step_summary import markdown
    from pytest_recsys_mt.safety.errors import DataError
    from pytest_recsys_mt.safety.sanitize import clean

    if record.exists():
        try:
            said = markdown(cast("Document", clean(read_record(record))))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"{str(record)!r} is no record as --recsys-json writes it: {type(error).__name__}: {error}",
            ) from error
        said += _since(baseline, record) if baseline else ""
    else:
        said = "## recsys-mt: no result\n\nThe run ended before it wrote a record; its log says why.\n"
    if len(said) > MOST:
        kept = said[:MOST].rpartition("\n")[0]
        ends = "".join(
            f"</{name}>"
            for name in ("pre", "details")
            if kept.count(f"<{name}>") > kept.count(f"</{name}>")
        )
        said = f"{kept}\n{ends}\n\n(The summary of the run has the rest.)\n"
    return f"{mark}\n{said}\n{pull_request.end}\n"


def _since(baseline: str, record: Path) -> str:
    from pytest_recsys_mt.gate.store import record_named
    from pytest_recsys_mt.report.markdown import in_markdown
    from pytest_recsys_mt.report.sheets import markdown
    from pytest_recsys_mt.report.two_runs import compared
    from pytest_recsys_mt.safety.errors import RecsysError

    try:
        title, sheets, _ = compared([record_named(baseline), record])
    except (OSError, RecsysError) as error:
        return f"\nWhat changed is not known: {in_markdown(str(error))}.\n"
    return f"\n#{markdown('', f'What changed: {title}', sheets)}"


def send(pull_request: PullRequest, mark: str, text: str) -> str:
    """Write the comment, or change the one that has the mark.

    Raises:
        UnwrittenError: If GitHub did not take it.
    """
    import httpx2

    if not pull_request.token:
        raise UnwrittenError(f"GITHUB_TOKEN is empty, so {READS_ONLY}")
    headers = {
        "Authorization": f"Bearer {pull_request.token}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    # Redirects are not followed: the token belongs to this address.
    with httpx2.Client(headers=headers, timeout=PATIENCE) as client:
        issues = f"{pull_request.address}/issues"
        own = f"{issues}/{pull_request.number}/comments"
        found = next(
            (each for each in _comments(client, own) if _is_ours(each, mark)),
            None,
        )
        if found is None:
            written = _send_json(client, "POST", own, {"body": text})
        else:
            written = _send_json(
                client,
                "PATCH",
                f"{issues}/comments/{found['id']}",
                {"body": text},
            )
    return f"{'wrote' if found is None else 'changed'} the comment {written.get('html_url', '')}"


def _is_ours(comment: Mapping[str, Any], mark: str) -> bool:
    """Whether a job wrote it: a user who plants the mark in a
    comment could change the text later.
    """
    author = comment.get("user") or {}
    return author.get("type") == "Bot" and str(comment.get("body", "")).startswith(
        f"{mark}\n",
    )


def _comments(client: httpx2.Client, address: str) -> Iterator[Mapping[str, Any]]:
    for page in count(1):
        listed = _send_json(client, "GET", f"{address}?per_page={PAGE}&page={page}")
        yield from listed
        if len(listed) < PAGE:
            return


def _send_json(
    client: httpx2.Client, method: str, address: str, data: Any = None
) -> Any:
    import httpx2

    try:
        answer = client.request(method, address, json=data)
        if answer.status_code in (401, 403, 404):
            raise UnwrittenError(f"{READS_ONLY} (HTTP {answer.status_code})")
        if not answer.is_success:
            raise UnwrittenError(
                f"{method} {address} was answered with HTTP {answer.status_code}",
            )
        return answer.json()
    except (httpx2.HTTPError, ValueError) as error:
        raise UnwrittenError(
            f"{method} {address} was not answered: {type(error).__name__}",
        ) from error

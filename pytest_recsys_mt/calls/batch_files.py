"""Planned calls as input files of OpenAI's Batch API, and its output files as answers.

The Batch API answers a file of requests within a day at half the price. In
addition to the files to upload, a file for the plugin is written, FILE.calls.jsonl. It
holds the content of each request; the cache stores it with the answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_recsys_mt.calls.answer import plain_completion
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.cache_files import Imported, Row, imported_from, lines_of
from pytest_recsys_mt.calls.call import Call, canonical, key_of
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.llm.api import chat_api
from pytest_recsys_mt.safety.errors import CacheError, RecommenderError
from pytest_recsys_mt.safety.files import written_or

URL = "/v1/chat/completions"
RESPONSES_URL = "/v1/responses"

MOST_REQUESTS = 50_000
"""The most requests in a file (https://platform.openai.com/docs/guides/batch)."""

MOST_BYTES = 200_000_000
"""The largest size of a file, in bytes."""


def calls_file(path: Path) -> Path:
    """The path of the calls of the batch at `path`:
    ``b.calls.jsonl`` next to ``b.jsonl``.
    """
    return path.with_suffix(".calls.jsonl")


def write_batch(
    path: Path,
    planned: Mapping[str, Sequence[tuple[Subject, Call]]],
) -> list[Path]:
    """Write calls as input files of the Batch API, and the file of calls next to them.

    A file holds requests to one model only, and at most as many as the API takes;
    further files are named ``FILE-2.jsonl``, ``FILE-3.jsonl``.
    """
    with written_or(CacheError, calls_file(path)) as calls:
        for pairs in planned.values():
            for _, call in pairs:
                row = {"key": call.key, "call": dict(call.content)}
                calls.write(canonical(row) + "\n")
        written: list[Path] = []
        for name, pairs in planned.items():
            requests = [_request(name, subject, call) for subject, call in pairs]
            for part in _parts(requests):
                part_path = _part_path(path, len(written) + 1)
                with written_or(CacheError, part_path) as stream:
                    stream.writelines(part)
                written.append(part_path)
    return written


def _part_path(path: Path, number: int) -> Path:
    """The path of one of the input files, counted from 1."""
    stem = path.stem if number == 1 else f"{path.stem}-{number}"
    return path.with_name(f"{stem}.jsonl")


def import_batch(
    cache: AnswerCache,
    output: Path,
    calls: Path,
    *,
    replace: bool = False,
) -> Imported:
    """Copy the answers of an output file of the Batch API into `cache`; its error file
    works too.

    Lines with a failed request, or with a request of another batch, are refused; the
    others are imported.
    """
    contents = _contents(calls)

    def read(line: bytes) -> Row:
        return _answer(line, contents)

    return imported_from(cache, output, read, replace=replace)


def _request(name: str, subject: Subject, call: Call) -> str:
    """One line of an input file."""
    body = subject.request_body(call)
    if body is None:
        raise RecommenderError(
            f"{name} is not asked by Chat Completions, so it has no batch; leave it out, or name a "
            f"model of an OpenAI-compatible endpoint: --recsys-model=openai:NAME",
        )
    url = RESPONSES_URL if "input" in body else URL
    request = {"custom_id": call.key, "method": "POST", "url": url, "body": body}
    return json.dumps(request, separators=(",", ":")) + "\n"


def _parts(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines in groups, each as large as a file may be."""
    part: list[str] = []
    size = 0
    for line in lines:
        if part and (len(part) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield part
            part = []
            size = 0
        part.append(line)
        size += len(line)  # JSON in ASCII: a character is a byte
    if part:
        yield part


def _contents(path: Path) -> dict[str, dict[str, Any]]:
    """The contents of the calls in a file of calls, by their keys."""
    contents: dict[str, dict[str, Any]] = {}
    for number, line in lines_of(path):
        try:
            row = json.loads(line)
            key = row["key"]
            content = row["call"]
            if key_of(content) != key:
                raise ValueError(key)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CacheError(
                f"{path}:{number}: this call was altered or damaged; write the batch again with "
                f"--recsys-plan -o recsys_batch=FILE, which gives unanswered calls the same ids",
            ) from None
        contents[key] = content
    return contents


def _answer(line: bytes, contents: Mapping[str, dict[str, Any]]) -> Row:
    """The answer in a line of an output file; a `ValueError` says why it is refused."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(row, dict):
        row = {}
    key = row.get("custom_id")
    if not isinstance(key, str) or key not in contents:
        raise ValueError(f"custom_id {key!r} is of no call of this batch")
    body = _answered_body(row, key)
    try:
        answer = plain_completion(chat_api.read(json.dumps(body).encode()))
    except ValueError as error:
        raise ValueError(f"{key[:12]}: {error}") from None
    text = answer.get("text") or ""
    if "error" in answer or not text.strip():
        reason = answer.get("error", "the model wrote nothing")
        raise ValueError(f"{key[:12]}: {reason}")
    return key, contents[key], answer


def _answered_body(row: Mapping[str, Any], key: str) -> Any:
    """The body of the response in a row; a `ValueError` if the request failed."""
    response = row.get("response")
    if not isinstance(response, dict):
        response = {}
    status = response.get("status_code")
    body = response.get("body")
    failure = row.get("error")
    if status == 200 and not failure:
        return body
    if not failure and isinstance(body, dict):
        failure = body.get("error")
    reason = failure.get("message") if isinstance(failure, Mapping) else failure
    outcome = "not answered" if status is None else f"HTTP {status}"
    raise ValueError(f"{key[:12]}: {outcome}: {reason or 'no reason given'}")

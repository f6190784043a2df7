"""`recsys-mt parity` on the requests of a log: they are sent to each recommender, and the
answers are compared as logs.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from copy import copy
from pathlib import Path

from pytest_recsys_mt.parity import log_report
from pytest_recsys_mt.parity.log_rows import paths_of
from pytest_recsys_mt.parity.process import run_pytest
from pytest_recsys_mt.parity.recorded import TASK
from pytest_recsys_mt.parity.recorded_requests import Recorded, recorded, write_log
from pytest_recsys_mt.parity.request_logs import MOST_LOST
from pytest_recsys_mt.safety.errors import DataError

USERS = 200
"""Users of a log whose requests are sent, if nothing else is said."""


def run(given: argparse.Namespace, sides: Sequence[bool]) -> int:
    """Send the requests of a log to the recommenders, and compare both sides.

    Args:
        given: The arguments of the command.
        sides: Which sides are logs: one at most.

    Returns:
        0 if both answer alike, 1 if they do not or nothing could be shown; the exit
        status of pytest where a recommender could not be sent the requests.

    Raises:
        DataError: If the log cannot be read, or an option does not apply.
    """
    specs = (given.first, given.second)
    source = given.on or next(
        spec for spec, is_log in zip(specs, sides, strict=True) if is_log
    )
    if given.open:
        raise DataError(
            "--open says which candidates are offered, and the rows of a log say that; leave it out",
        )
    users = USERS if given.users is None else given.users
    if users < 1:
        raise DataError(f"--users is {users}; give a whole number from 1")
    found = _read(source, given.map, users, answered=any(sides))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs = [folder / "first.jsonl", folder / "second.jsonl"]
        rows = folder / "rows.jsonl"
        write_log(rows, (own[0] for own in found.rows))
        for spec, is_log, log in zip(specs, sides, logs, strict=True):
            if is_log:
                write_log(log, (row for own in found.rows for row in own))
                continue
            status = _send(given, spec, rows, log)
            if status:
                return status
        compared = copy(given)
        compared.first, compared.second = map(str, logs)
        compared.map = None
        names = [
            Path(spec).name if is_log else spec
            for spec, is_log in zip(specs, sides, strict=True)
        ]
        return log_report.run(compared, (names[0], names[1]))


def _read(source: str, places: str | None, users: int, *, answered: bool) -> Recorded:
    """The requests of a log, of which the account is printed.

    Raises:
        DataError: If too many of its rows are not read.
    """
    found = recorded(Path(source), paths_of(places), users, 0, answered=answered)
    print(
        f"{source}: one request of each of {len(found.rows):,} of {found.users:,} users, of {len(found.log.users):,} requests"
        f"{log_report.rows_left_out(found.log)}",
        flush=True,
    )
    if found.log.unread > MOST_LOST:
        raise DataError(
            f"{found.log.unread:.0%} of the rows of {source} are not read, so nothing is compared; at most {MOST_LOST:.0%} may be: "
            f"{'; '.join(found.log.examples)}",
        )
    return found


def _send(given: argparse.Namespace, spec: str, rows: Path, answers: Path) -> int:
    """Let pytest send the requests to a recommender; returns its exit status."""
    command = ["-q", "--pyargs", "pytest_recsys_mt.parity"]
    command += ["-o", "python_files=recorded.py", "--recsys-keep=no"]
    command.append(f"--recsys-model={spec}")
    if given.data is not None:
        command.append(f"--recsys-data={given.data}")
    if given.fresh:
        command.append("--recsys-mode=refresh")
    account = answers.with_suffix(".txt")
    task = json.dumps(
        {"rows": str(rows), "answers": str(answers), "account": str(account)},
    )
    status = run_pytest([*command, *given.pytest], **{TASK: task})
    if not status and not answers.exists():
        raise DataError(
            f"no answer of {spec} was written, so nothing is compared; leave out options that keep the test from running",
        )
    if account.exists():
        print(account.read_text(encoding="utf-8"), flush=True)
    return status

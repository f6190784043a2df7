"""A kept run, or a record, as a side of `recsys-mt parity`: the lists that it holds are
compared, and the other side may be asked for its own.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from copy import copy
from pathlib import Path

from pytest_recsys_mt.parity import log_report
from pytest_recsys_mt.parity.asked_lists import ANSWERS_FILE
from pytest_recsys_mt.parity.process import run_pytest
from pytest_recsys_mt.parity.recorded_requests import write_log
from pytest_recsys_mt.report.kept_lists import (
    QUESTION,
    Kept,
    kept,
    require_one_question,
)
from pytest_recsys_mt.safety.errors import DataError


def run(given: argparse.Namespace, sides: Sequence[bool]) -> int:
    """Compare a kept run with another one, or with a recommender that is asked for the
    lists of the same users.

    Args:
        given: The arguments of the command.
        sides: Which sides are kept runs: one at least.

    Returns:
        0 if the lists are the same, 1 if they are not or nothing could be shown; the
        exit status of pytest where a recommender could not be asked.

    Raises:
        DataError: If a run has no lists that can be compared, or two runs asked other
            questions.
        PolicyError: If there is no such run.
    """
    specs = (given.first, given.second)
    runs = [
        kept(spec) if is_run else None
        for spec, is_run in zip(specs, sides, strict=True)
    ]
    if runs[0] is not None and runs[1] is not None:
        require_one_question(runs[0], runs[1])
    known = next(each for each in runs if each is not None)
    names = [
        each.name if each is not None else spec
        for each, spec in zip(runs, specs, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder, name) for name in ("first.jsonl", "second.jsonl")]
        for side, spec, log in zip(runs, specs, logs, strict=True):
            if side is not None:
                write_log(log, side.rows())
                _print_account(side)
                continue
            status = _ask(given, spec, known, log)
            if status:
                return status
        compared = copy(given)
        compared.first, compared.second = map(str, logs)
        compared.data = compared.map = None
        return log_report.run(compared, (names[0], names[1]))


def _print_account(side: Kept) -> None:
    print(
        f"{side.name}: the first {side.places} titles of the lists of {len(side.lists):,} users, which are all that a record keeps",
        flush=True,
    )


def _ask(given: argparse.Namespace, spec: str, known: Kept, answers: Path) -> int:
    """Let pytest ask a recommender for the lists of a kept run's users; returns its exit
    status.
    """
    own = [f"--{name}" for name in ("data", "users", "open") if getattr(given, name)]
    options = [argument.partition("=")[0] for argument in given.pytest]
    refused = [*own, *filter(QUESTION.__contains__, options)]
    if refused:
        raise DataError(
            f"{refused[0]} is that of {known.name}, whose users are asked; leave it out",
        )
    command = ["-q", "--pyargs", "pytest_recsys_mt.parity"]
    command += ["-o", "python_files=asked_lists.py", "--recsys-keep=no"]
    command += [f"--recsys-model={spec}", *known.options()]
    if given.fresh:
        command.append("--recsys-mode=refresh")
    task = {
        "answers": str(answers),
        "users": list(known.lists),
        "places": known.places,
        "run": known.run,
        "data_digest": known.record.get("data_digest"),
    }
    status = run_pytest([*command, *given.pytest], **{ANSWERS_FILE: json.dumps(task)})
    if not status and not answers.exists():
        raise DataError(
            f"no answer of {spec} was written, so nothing is compared; leave out options that keep the test from running",
        )
    return status

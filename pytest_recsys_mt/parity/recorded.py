"""The test that `recsys-mt parity` runs where requests of a log are sent: it writes the
answers of a recommender to them, as a log.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.parity.asking import answers_of
from pytest_recsys_mt.parity.recorded_requests import Histories, request_of, write_log
from pytest_recsys_mt.parity.request_logs import MOST_LOST
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import DataError

TASK = "RECSYS_MT_PARITY"
"""Environment variable with the files of the rows, of the answers to write, and of what
became of the requests, as JSON.
"""

MOST_REASONS = 3
"""Reasons for missing answers that are named."""


def test_requests_of_a_log_are_answered(recsys: Any) -> None:
    """The recommender answers the requests of a log; a noisy one twice each."""
    task = json.loads(os.environ[TASK])
    lines = Path(task["rows"]).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    histories = Histories(recsys.dataset.known)
    invalid: list[str] = []
    requests = list(_requests(rows, histories, recsys, invalid))
    _require_most(len(rows) - len(invalid), len(rows), "; ".join(invalid[:1]))
    _require_known_items(histories, recsys)

    replicates = 1 if recsys.deterministic else 2
    answered: list[Mapping[str, Any]] = []
    reasons: Counter[str] = Counter()
    for replicate in range(replicates):
        repeated = [each.replace(replicate=replicate) for _, each in requests]
        answers = answers_of(recsys, repeated, "request")
        for (row, _), answer in zip(requests, answers, strict=True):
            if answer.items is None:
                reasons[answer.reason] += 1
            else:
                answered.append({**row, "items": list(answer.items)})
    missing = ", ".join(
        f"{count} of {reason}" for reason, count in reasons.most_common(MOST_REASONS)
    )
    if not answered:
        pytest.fail(f"{recsys.model} gave no answer: {missing}", pytrace=False)
    write_log(Path(task["answers"]), answered)
    histories_in_words = (
        f"{histories.from_rows} with the history of the log, "
        f"{histories.from_data} with that of the user in {recsys.dataset.name}, {histories.missing} without one"
    )
    causes = f": {missing}" if missing else ""
    account = [
        f"{recsys.model}: {len(requests)} requests, {histories_in_words}",
        f"each sent {'once' if replicates == 1 else 'twice'}; {reasons.total()} answers are missing{causes}",
    ]
    if histories.unknown:
        account.append(
            f"{histories.unknown} of the {histories.items} items that they name are not in {recsys.dataset.name}",
        )
    if invalid:
        account.append(
            f"{len(invalid)} rows are no requests and were not sent: {invalid[0]}"
        )
    Path(task["account"]).write_text("; ".join(account), encoding="utf-8")


def _requests(
    rows: list[dict[str, Any]],
    histories: Histories,
    recsys: Any,
    invalid: list[str],
) -> Iterator[tuple[dict[str, Any], Request]]:
    """The rows that are requests, with these; what is wrong with the others is added to
    `invalid`.
    """
    design = recsys.design
    for row in rows:
        try:
            yield row, request_of(row, histories, design.k, design.history)
        except DataError as error:
            invalid.append(str(error))


def _require_most(sound: int, rows: int, example: str) -> None:
    if sound < (1 - MOST_LOST) * rows:
        pytest.fail(
            f"only {sound} of {rows} rows are requests, so nothing is compared: {example}",
            pytrace=False,
        )


def _require_known_items(histories: Histories, recsys: Any) -> None:
    """Fail if a recommender that is fitted to the data is asked about other items: all
    of these are alike to it.
    """
    is_fitted = not recsys.unfit
    if is_fitted and histories.unknown > MOST_LOST * histories.items:
        pytest.fail(
            f"{recsys.model} is fitted to {recsys.dataset.name}, which lacks {histories.unknown} of the {histories.items} items "
            f"that the log names; give the data of these items: --data=FILE",
            pytrace=False,
        )

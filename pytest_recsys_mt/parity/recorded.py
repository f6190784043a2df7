"""The test that `recsys-mt parity` runs where requests of a log are sent: it writes the
answers of a recommender to them, as a log.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_recsys_mt.parity.asking import lists_of
from pytest_recsys_mt.parity.recorded_requests import (
    Histories,
    request_of,
    with_answers,
    write_log,
)

TASK = "RECSYS_MT_PARITY"
"""Environment variable with the files of the rows, of the answers to write, and of what
became of the requests, as JSON.
"""


def test_requests_of_a_log_are_answered(recsys: Any) -> None:
    """The recommender answers the requests of a log; a noisy one twice each."""
    task = json.loads(os.environ[TASK])
    lines = Path(task["rows"]).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    histories = Histories(recsys.dataset)
    design = recsys.design
    requests = [request_of(row, histories, design.k, design.history) for row in rows]
    replicates = 1 if recsys.deterministic else 2
    answered: list[Mapping[str, Any]] = []
    for replicate in range(replicates):
        repeated = [request.replace(replicate=replicate) for request in requests]
        answers = lists_of(recsys, repeated, "request")
        answered += with_answers(rows, answers)
    write_log(Path(task["answers"]), answered)
    missing = replicates * len(rows) - len(answered)
    account = (
        f"{recsys.model}: {len(rows)} requests, {histories.from_rows} with the history of the log, "
        f"{histories.from_data} with that of the data, {histories.missing} without one; {missing} answers are missing"
    )
    Path(task["account"]).write_text(account, encoding="utf-8")

"""The test that `recsys-mt parity` runs where a recommender is compared with a kept run:
it writes the lists of the same users, as a log.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.oracles.judging.examples import titles_of
from pytest_recsys_mt.parity.recorded_requests import write_log
from pytest_recsys_mt.safety.sanitize import sanitize

ANSWERS_FILE = "RECSYS_MT_PARITY_LISTS"
"""Environment variable with the file of the answers to write, the users that are compared,
how many places of each list, the name of the kept run and the digest of its data, as JSON.
"""


def test_lists_of_a_kept_run(recsys: Any) -> None:
    """The recommender gives the lists of a kept run's users; a noisy one two for each."""
    task = json.loads(os.environ[ANSWERS_FILE])
    _require_same_data(recsys.dataset, task["run"], task["data_digest"])
    users = set(task["users"])
    rows = []
    for asked in recsys.run().sample().asked:
        user = sanitize(asked.user)
        if user not in users:
            continue
        for answer in asked.answers:
            titles = titles_of(answer, recsys.dataset.items)[: task["places"]]
            items = [sanitize(title) for title in titles]
            rows.append({"request": user, "user": user, "items": items})
    if not rows:
        pytest.fail(
            f"{recsys.model} gave no list of a user of the kept run, so nothing is compared",
            pytrace=False,
        )
    write_log(Path(task["answers"]), rows)


def _require_same_data(dataset: Any, run: str, digest: str | None) -> None:
    """Fail if the data are others than those of the kept run: its users would be asked
    other questions.
    """
    if digest and digest != dataset.digest:
        pytest.fail(
            f"the data changed since {run}: {dataset.name} is {dataset.digest[:12]} by its digest now, and was {digest[:12]}, "
            f"so its users would be asked other questions; make a new run, or compare with the data of then",
            pytrace=False,
        )

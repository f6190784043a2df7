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
and how many places of each list, as JSON.
"""


def test_lists_of_a_kept_run(recsys: Any) -> None:
    """The recommender gives the lists of a kept run's users; a noisy one two for each."""
    task = json.loads(os.environ[ANSWERS_FILE])
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

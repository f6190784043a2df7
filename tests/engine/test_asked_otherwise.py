"""Questions asked alone, after others and by another
process: what is sent, and what is told of it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of

MODELS = '''
"""Recommenders that write down how they were asked."""
import json
import os

from pytest_recsys_mt import Recommendation


class Shop:
    deterministic = True
    fingerprint = "shop"

    def recommend(self, requests):
        print("hello")  # what it prints is no answer
        with open("asked.jsonl", "a") as log:
            log.write(json.dumps([[os.getpid(), each.user, each.k] for each in requests]) + "\\n")
        return [self.answer(each) for each in requests]

    def answer(self, request):
        return Recommendation(tuple(sorted(item.id for item in request.candidates))[: request.k])


class Fails(Shop):
    def fit(self, dataset, seed):
        if os.environ.get("PYTHONHASHSEED") == "1":
            raise RuntimeError("no room for two")


class Wavers(Shop):
    """Turns every 25th list round, says that it is deterministic, and no test asks whether it is."""

    fingerprint = None
    asked = 0

    def answer(self, request):
        self.asked += 1
        items = super().answer(request).items
        return Recommendation(items[::-1] if self.asked % 25 == 0 else items)


class Swaps(Shop):
    """The first list of a batch is turned round."""

    def recommend(self, requests):
        found = [self.answer(each) for each in requests]
        if len(found) > 1:
            found[0] = Recommendation(found[0].items[::-1])
        return found


class Counts(Shop):
    """Answers by how often it was asked."""

    asked = 0

    def answer(self, request):
        self.asked += 1
        items = super().answer(request).items
        return Recommendation(items[self.asked % 3 :] + items[: self.asked % 3])
'''

REPEATED = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import never_differs
from pytest_recsys_mt.relations import same_seed_same_answer

@metamorphic(same_seed_same_answer)
def test_repeated(source, followup):
    assert never_differs(source, followup)
"""

ASKING = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import never_differs
from pytest_recsys_mt.relations import ask_after_another, ask_alone, ask_elsewhere

@metamorphic(ask_alone, ask_elsewhere)
def test_asked(source, followup):
    assert never_differs(source, followup, users=4)

def test_after(recsys):
    assert never_differs(recsys.run(ask_alone), recsys.run(ask_after_another), users=4)
"""

RELATIONS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import rename_user, reorder_history, shuffle_candidates

@metamorphic(rename_user, reorder_history, shuffle_candidates)
def test_same(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""

FIXTURE = """
import pytest
from models import Shop

@pytest.fixture(scope="session")
def recommender():
    return Shop()
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(models=MODELS, test_asking=ASKING, test_relations=RELATIONS)
    pytester.syspathinsert()
    return pytester


def run(project: pytest.Pytester, *options: str) -> dict[str, dict[str, Any]]:
    """The rows of a run, by relation."""
    path = project.path / "record.json"
    project.runpytest_inprocess(
        f"--recsys-json={path}",
        "--recsys-cache=cache",
        "-p",
        "no:cacheprovider",
        *options,
    )
    return {row["relation"]: row for row in record_of(path)["results"]}


def asked(project: pytest.Pytester) -> list[list[list[Any]]]:
    lines = Path(project.path / "asked.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_each_is_asked_as_it_says_and_kept_so(project: pytest.Pytester) -> None:
    rows = run(project, "test_asking.py", "--recsys-model=models.py:Shop")
    assert {row["status"] for row in rows.values()} == {"holds"}
    assert rows["ask_after_another"]["against"] == "ask_alone"
    assert all(row["users"] == 4 for row in rows.values())
    batches = asked(project)
    here = batches[0][0][0]
    together = [batch for batch in batches if len(batch) > 1]
    # The last is asked at the end, to see whether answers changed.
    assert [len(batch) for batch in together] == [4, 4, 4]
    assert [{each[0] == here for each in batch} for batch in together] == [
        {True},
        {False},
        {True},
    ]
    users = {user for _, user, _ in together[0]}
    alone = [batch[0] for batch in batches if len(batch) == 1]
    assert {user for _, user, _ in alone[:4]} == users
    # Then another user's question, for one item, before each.
    assert [k for _, _, k in alone[4:]] == [1, 10] * 4
    assert {user for _, user, k in alone[4:] if k == 10} == users
    assert not users & {user for _, user, k in alone[4:] if k == 1}
    # Nothing is asked a second time.
    again = run(
        project,
        "test_asking.py",
        "--recsys-model=models.py:Shop",
        "--recsys-mode=replay",
    )
    assert asked(project) == batches
    assert {name: row["status"] for name, row in again.items()} == dict.fromkeys(
        rows,
        "holds",
    )


def test_what_no_other_process_has_is_not_asked_there(project: pytest.Pytester) -> None:
    project.makeconftest(FIXTURE)
    row = run(project, "test_asking.py")["ask_elsewhere"]
    assert row["status"] == "not-applicable"
    assert "name it by a spec, --recsys-model=package.module:name" in row["reason"]


def test_a_process_that_cannot_answer_says_why(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    row = run(project, "test_asking.py", "--recsys-model=models.py:Fails")[
        "ask_elsewhere"
    ]
    assert row["status"] == "error"
    assert (
        "the process that was to answer ended with 1 and no answers, and said: "
        in row["reason"]
    )
    assert "no room for two" in row["reason"]


def test_who_is_seen_not_to_be_deterministic_is_told_so_once(
    project: pytest.Pytester,
) -> None:
    rows = run(project, "test_relations.py", "--recsys-model=models.py:Wavers")
    first, *others = [row["status"] for row in rows.values()]
    assert first == "inconclusive"
    assert others == ["holds", "holds"]
    told = [
        row["reason"]
        for row in rows.values()
        if "declares itself deterministic" in row["reason"]
    ]
    assert len(told) == 1


def test_a_difference_is_asked_again_of_more_users_than_before(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_more="""
        from pytest_recsys_mt.relations import ask_alone

        def test_it(recsys):
            source, alone = recsys.run(), recsys.run(ask_alone)
            assert len(source.pair(alone, 4).source) == 4
            assert len(source.pair_anew(alone, 8).source) == 8
        """,
    )
    result = project.runpytest_inprocess(
        "test_more.py", "--recsys-model=models.py:Shop", "--recsys-users=10", "-p", "no:cacheprovider",
        f"--recsys-cache={project.path / 'cache'}",
    )  # fmt: skip
    result.assert_outcomes(passed=1)


def test_what_a_batch_changes_is_told_from_what_never_stands_still(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_repeated=REPEATED)
    rows = {
        name: run(project, "test_repeated.py", f"--recsys-model=models.py:{name}")
        for name in ("Swaps", "Counts")
    }
    reasons = {
        name: row["same_seed_same_answer"]["reason"] for name, row in rows.items()
    }
    assert (
        "asked again one by one, none of them did: the other requests of a batch"
        in reasons["Swaps"]
    )
    assert "of them also when asked again one by one" in reasons["Counts"]
    assert {row["same_seed_same_answer"]["status"] for row in rows.values()} == {
        "violated",
    }

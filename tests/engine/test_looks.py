"""Users are asked look by look, and nobody is asked for nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugin.conftest import TOYS, record_of

MODELS = '''
import hashlib
import pathlib
from pytest_recsys_mt import Recommendation
from toys import Noisy, by_id


class Asked(Noisy):
    """Notes what it is asked, and draws lists; turns them round on another scale."""

    fingerprint = "v1"
    turns = False

    def recommend(self, requests):
        with pathlib.Path("asked.log").open("a") as log:
            log.writelines(
                f"{one.user} {one.replicate} {one.scale.high:g}\\n" for one in requests
            )
        return [self.answer(one) for one in requests]

    def answer(self, request):
        near = hashlib.sha256(f"{request.user}/{request.replicate}".encode()).digest()[0] % 2
        items = by_id(request)
        items[0], items[near] = items[near], items[0]
        if self.turns and request.scale.high != 5:
            items.reverse()
        return Recommendation(tuple(items[: request.k]))


class Turning(Asked):
    fingerprint = "v2"
    turns = True
'''
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking, same_set
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""
TWO = (
    TEST
    + """
@metamorphic(scale_ratings(2))
def test_two_promises(source, followup):
    close = same_ranking(source, followup, margin=0.02)
    assert same_ranking(source, followup, margin=0.3)
    assert same_set(source, followup, margin=0.3)
    assert close
"""
)
USERS = 80


class Project:
    """A project whose recommender notes what it is asked."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        pytester.makepyfile(toys=TOYS, models=MODELS)
        pytester.syspathinsert()
        self.pytester = pytester
        self.log = pytester.path / "asked.log"

    def run(self, model: str, *more: str) -> dict[str, Any]:
        path = self.pytester.path / "record.json"
        path.unlink(missing_ok=True)
        self.pytester.runpytest_inprocess(
            f"--recsys-model=models:{model}", f"--recsys-json={path}",
            f"--recsys-cache={self.pytester.path / 'cache'}", "-p", "no:cacheprovider",
            "test_it.py", f"--recsys-users={USERS}", "-orecsys_controls=0", *more,
        )  # fmt: skip
        return record_of(path)

    def asked(self) -> list[str]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    pytester.makepyfile(test_it=TEST)
    return Project(pytester)


def numbers(record: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What a verdict says, without where its answers came from."""
    keys = (
        "nodeid",
        "status",
        "estimate",
        "interval",
        "p_value",
        "users",
        "looks",
        "examples",
    )
    return [tuple(row[key] for key in keys) for row in record["results"]]


def test_a_clear_violation_asks_the_first_users_only(project: Project) -> None:
    record = project.run("Turning", "--recsys-shrink=0")
    (row,) = record["results"]
    assert (row["status"], row["looks"], row["users"]) == ("violated", 1, 20)
    asked = project.asked()
    assert len(asked) == len(set(asked)) == 20 * 2 * 2
    assert record["calls"]["made"] == len(asked)


def test_further_looks_ask_further_users_once_and_align_the_sides(
    project: Project,
) -> None:
    (row,) = project.run("Asked")["results"]
    assert (row["status"], row["users"]) == ("holds", 72)
    asked = [line.split() for line in project.asked()]
    assert len(asked) == len({tuple(line) for line in asked}) == 72 * 2 * 2
    source = {user for user, _, scale in asked if scale == "5"}
    assert source == {user for user, _, scale in asked if scale == "10"}
    # Look by look: whoever is asked later was not asked in an earlier look.
    order = list(dict.fromkeys(user for user, _, _ in asked))
    first = {user for user, _, _ in asked[: 20 * 2 * 2]}
    assert set(order[:20]) == first


def test_replicates_stand_in_different_places_of_a_batch(project: Project) -> None:
    project.run("Asked")
    asked = [line.split() for line in project.asked()][: 20 * 2 * 2]
    orders = [
        [user for user, number, scale in asked if (number, scale) == (replicate, "5")]
        for replicate in "01"
    ]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]


def test_a_run_that_was_cut_short_goes_on_where_it_stood(project: Project) -> None:
    whole = project.run("Asked")
    everything = set(project.asked())
    project.pytester.makepyfile(models=MODELS.replace('"v1"', '"v3"').replace(
        'for one in requests\n            )', 'for one in requests\n            )\n        self.stop()',
    ).replace("    def answer(self", """    def stop(self):
        if len(pathlib.Path("asked.log").read_text().splitlines()) > 90:
            raise KeyboardInterrupt

    def answer(self"""))  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        project.run("Asked")
    before = project.asked()
    project.pytester.makepyfile(models=MODELS.replace('"v1"', '"v3"'))
    resumed = project.run("Asked")
    after = project.asked()
    assert 0 < len(before) < len(everything)
    assert len(after) < len(everything)
    assert set(before) | set(after) == everything
    assert numbers(resumed) == numbers(whole)


def test_two_assertions_on_one_pair_walk_their_own_looks(project: Project) -> None:
    project.pytester.makepyfile(test_it=TWO)
    rows = project.run("Asked")["results"]
    close, wide, items = rows[1:]
    assert close["users"] == USERS
    # Their users were asked already, yet they stop where their own verdict is clear.
    assert (wide["status"], wide["users"], wide["looks"]) == ("holds", 20, 1)
    assert (items["status"], items["users"], items["looks"]) == ("holds", 20, 1)
    asked = project.asked()
    assert len(asked) == len(set(asked))


@pytest.mark.slow  # tests/plugin compares the record of a run on two workers
@pytest.mark.parametrize("model", ["Asked", "Turning"])
def test_the_record_is_the_same_on_two_workers(project: Project, model: str) -> None:
    project.pytester.makepyfile(test_it=TWO)
    said = [
        model,
        "--recsys-shrink=200",
    ]  # else the search ends after some seconds, wherever it is
    alone = project.run(*said, f"--recsys-cache={project.pytester.path / 'one'}")
    workers = project.run(
        *said,
        "-n",
        "2",
        f"--recsys-cache={project.pytester.path / 'two'}",
    )
    assert alone["calls"] == workers["calls"]
    for row in (*alone["results"], *workers["results"]):
        del row["reproduce"]  # from the cache of each
    assert alone["results"] == workers["results"]

"""A planted fault in a run: what reaches the record, what
is asked, and that caches never mix.
"""

import json
from typing import Any

import pytest

COUNTING = '''
from pathlib import Path
from pytest_recsys_mt import Recommendation

LOG = Path(__file__).with_name("asked.log")


class Counting:
    """Lists what shares genres with the history, and notes each request that reaches it."""

    deterministic = True
    fingerprint = "counting"

    def recommend(self, requests):
        with LOG.open("a") as log:
            log.writelines("asked\\n" for _ in requests)
        return [self.answer(request) for request in requests]

    def answer(self, request):
        def liking(item):
            genres = set(item.attributes["genres"])
            return sum(r.value for r in request.history if genres & set(r.item.attributes["genres"]))

        ranked = sorted(request.candidates, key=lambda item: (-liking(item), item.id))
        return Recommendation(tuple(item.id for item in ranked[: request.k]))
'''

TESTS = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import no_repeats, same_ranking
from pytest_recsys_mt.relations import shuffle_candidates


@metamorphic(shuffle_candidates)
def test_order(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=0.1)


def test_repeats(recsys):
    assert no_repeats(recsys.run(), margin=0.1)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(counting=COUNTING, test_shop=TESTS)
    pytester.syspathinsert()
    return pytester


def record_of(project: pytest.Pytester, *options: str) -> dict[str, Any]:
    path = project.path / "record.json"
    project.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-model=counting.py:Counting", "--recsys-users=60", "--recsys-shrink=0",
        f"--recsys-cache={project.path / 'cache'}", f"--recsys-json={path}", *options,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def asked(project: pytest.Pytester) -> int:
    log = project.path / "asked.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def statuses(record: dict[str, Any]) -> dict[str, str]:
    return {
        row["nodeid"].rpartition("::")[2].partition("[")[0]: row["status"]
        for row in record["results"]
    }


def test_a_fault_in_answers_asks_nothing_and_leaves_no_answer_behind(
    project: pytest.Pytester,
) -> None:
    sound = record_of(project)
    assert "planted" not in sound
    assert statuses(sound) == {"test_order": "holds", "test_repeats": "holds"}
    before = asked(project)
    faulty = record_of(project, "-orecsys_fault=repeats")
    assert statuses(faulty)["test_repeats"] == "violated"
    assert faulty["settings"]["fault"] == "repeats:1"
    (planted,) = faulty["planted"]
    assert planted["differing"] == planted["answers"] > 0
    assert planted["exact"]
    again = record_of(project)
    assert statuses(again) == statuses(sound)
    assert faulty["calls"]["planned"] == again["calls"]["planned"], (
        "only calls that can reach it count"
    )
    assert before <= asked(project) <= 2 * 60, (
        "each request of the 60 users once, in three runs"
    )


def test_a_fault_in_requests_asks_what_is_new_and_once(
    project: pytest.Pytester,
) -> None:
    record_of(project)
    before = asked(project)
    faulty = record_of(project, "-orecsys_fault=latest_only:3")
    (planted,) = faulty["planted"]
    assert 0 < planted["differing"] <= planted["answers"]
    assert asked(project) > before
    done = asked(project)
    record_of(project, "-orecsys_fault=latest_only:3")
    assert asked(project) == done


def test_a_fault_that_changes_nothing_is_seen_to_change_nothing(
    project: pytest.Pytester,
) -> None:
    (planted,) = record_of(project, "-orecsys_fault=minds_the_wording")["planted"]
    assert planted["differing"] == 0
    assert planted["answers"] > 0


@pytest.mark.parametrize(
    "workers",
    [(), ("-n", "2")],
    ids=["one process", "two workers"],
)
def test_workers_compare_what_one_process_compares(
    project: pytest.Pytester,
    workers: tuple[str, ...],
) -> None:
    (planted,) = record_of(project, "-orecsys_fault=first_place:3", *workers)["planted"]
    assert set(planted["hit"]) <= set(planted["users"])
    assert len(planted["users"]) > 20
    assert planted["differing"] > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-orecsys_fault=frist_place"], "did you mean 'first_place'"),
        (
            ["-orecsys_fault=first_place:-1"],
            "the strength of a fault is a number above 0",
        ),
        (["-orecsys_fault=json:dumps"], "is not a fault"),
        (["-orecsys_fault=no.such:Fault"], "name it FILE.py:CLASS, or MODULE:CLASS"),
        (["-orecsys_fault=stale", "--recsys-plan"], "recsys-mt mutate --plan"),
    ],
)
def test_a_wrong_fault_ends_the_run_with_the_reason(
    project: pytest.Pytester,
    options: list[str],
    said: str,
) -> None:
    done = project.runpytest_inprocess("-p", "no:cacheprovider", *options)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert said in done.stderr.str()


OWN = '''
from pytest_recsys_mt.faults import Fault


class Backwards(Fault):
    """Turns lists round."""

    does = "turns the lists of {share} of the users round"
    strengths = (0.5, 1.0)

    def answer(self, request, items):
        return items[::-1] if self.hits(request.user) else items


class Breaks(Fault):
    """Raises."""

    does = "raises"

    def recommend(self, requests, ask):
        raise ValueError("broken by design")
'''


def test_a_fault_of_ones_own_is_planted_by_its_module(project: pytest.Pytester) -> None:
    project.makepyfile(own_faults=OWN)
    project.makepyfile(conftest="")
    (planted,) = record_of(
        project,
        "-p",
        "own_faults",
        "-orecsys_fault=own_faults:Backwards:0.5",
    )["planted"]
    share = len(planted["hit"]) / len(planted["users"])
    assert 0.25 < share < 0.75


def test_a_fault_that_raises_fails_its_calls(project: pytest.Pytester) -> None:
    project.makepyfile(own_faults=OWN)
    faulty = record_of(project, "-p", "own_faults", "-orecsys_fault=own_faults:Breaks")
    assert set(statuses(faulty).values()) == {"error"}
    assert "broken by design" in json.dumps(faulty["results"])

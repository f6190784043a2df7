"""The promises of the metamorphic suite find every planted
fault, and none in sound recommenders.
"""

from pathlib import Path

import pytest

from benchmarks.end_to_end import judged, zoo
from benchmarks.promises import PROMISES, recsys_of
from benchmarks.zoo import FAULTY, MEMBERS, SOUND, Member

SUITE = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"


def _first_of_each_promise() -> set[str]:
    """Faults that break what none before them breaks; the others go the same way again."""
    first, broken = set[str](), set[str]()
    for member in FAULTY:
        if not member.breaks <= broken:
            first.add(member.name)
        broken |= member.breaks
    return first


ALWAYS = _first_of_each_promise()


@pytest.mark.parametrize(
    "member",
    [
        pytest.param(one, marks=() if one.name in ALWAYS else pytest.mark.slow)
        for one in FAULTY
    ],
    ids=lambda member: member.name,
)
def test_every_planted_fault_is_found(member: Member, tmp_path: Path) -> None:
    recsys = recsys_of(member.make(), member.name, 0, 200, tmp_path)
    verdicts = {
        one.name: one.verdict(recsys) for one in PROMISES if one.name in member.breaks
    }
    assert verdicts.keys() == member.breaks
    assert {verdict.status for verdict in verdicts.values() if verdict is not None} == {
        "violated",
    }


@pytest.mark.parametrize(
    "member",
    [*SOUND[:2], *(pytest.param(each, marks=pytest.mark.slow) for each in SOUND[2:])],
    ids=lambda member: member.name,
)
def test_nothing_is_violated_in_sound_recommenders(member: Member) -> None:
    assert {one.status for one in judged(member.name, 0)} == {"holds"}


def test_every_promise_has_a_fault_and_every_fault_a_promise() -> None:
    planted = set().union(*(member.breaks for member in FAULTY))
    assert planted == {promise.name for promise in PROMISES}
    assert all(member.breaks for member in FAULTY)
    assert len({member.name for member in MEMBERS}) == len(MEMBERS)


def test_the_promises_are_those_of_the_suite(pytester: pytest.Pytester) -> None:
    listed = pytester.runpytest_inprocess(
        SUITE,
        "--recsys-list",
        "-p",
        "no:cacheprovider",
    )
    text = listed.stdout.str()
    changes = {one.transformation.name for one in PROMISES if one.transformation}
    assert not {change for change in changes if change not in text}


@pytest.mark.slow
def test_the_table_is_the_same_for_two_processes() -> None:
    few = [MEMBERS[2], FAULTY[0]]
    assert list(zoo(few, 1, 1)) == list(zoo(few, 1, 2))

"""A model that changed behind its endpoint is no
violation of a relation, and no proof of one.
"""

from dataclasses import replace

import pytest

from pytest_recsys_mt.oracles import same_ranking
from tests.oracles.support import FakeAnswers, sides

LISTS = [[[f"i{user}", "b", "c", "d", "e"]] * 2 for user in range(80)]
OTHERS = [[[f"j{user}", "x", "y", "z", "w"]] * 2 for user in range(80)]


def served(answers: FakeAnswers, versions: list[str]) -> FakeAnswers:
    """The same answers, given by these versions in turn."""
    turn = iter(versions * 160)
    asked = [
        replace(
            one,
            answers=tuple(
                replace(answer, version=next(turn)) for answer in one.answers
            ),
        )
        for one in answers.asked
    ]
    return replace(answers, asked=asked)


@pytest.mark.parametrize("lists", [LISTS, OTHERS], ids=["same", "other"])
def test_a_change_between_source_and_followup_claims_nothing(
    lists: list[list[list[str]]],
) -> None:
    source, followup = sides(LISTS, lists)
    verdict = same_ranking(served(source, ["m fp_a"]), served(followup, ["m fp_b"]))
    assert verdict.status == "inconclusive"
    assert (
        "the source by m fp_a (40) and the follow-up by m fp_b (40)" in verdict.reason
    )
    assert "--recsys-mode=refresh" in verdict.reason


def test_a_change_within_the_followup_is_noticed_too() -> None:
    source, followup = sides(LISTS, LISTS)
    verdict = same_ranking(
        served(source, ["old"]),
        served(followup, ["old", "new", "new"]),
    )
    assert verdict.status == "inconclusive"
    assert "the model changed" in verdict.reason


@pytest.mark.parametrize(
    ("lists", "status"),
    [(LISTS, "holds"), (OTHERS, "violated")],
    ids=["same", "other"],
)
def test_versions_served_side_by_side_are_part_of_the_noise(
    lists: list[list[list[str]]],
    status: str,
) -> None:
    source, followup = sides(LISTS, lists)
    verdict = same_ranking(
        served(source, ["fp_a", "fp_b"]),
        served(followup, ["fp_b", "fp_a", "fp_a", "fp_b"]),
    )
    assert verdict.status == status
    assert "answered by 2 versions of the model: fp_a, fp_b" in verdict.reason


def test_one_version_or_none_known_is_not_mentioned() -> None:
    source, followup = sides(LISTS, LISTS)
    assert same_ranking(source, followup).reason == ""
    assert same_ranking(served(source, ["m"]), served(followup, ["m"])).reason == ""
    assert same_ranking(source, served(followup, ["m"])).status == "holds"

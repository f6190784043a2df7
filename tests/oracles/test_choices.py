"""Verdicts on multiple-choice questions."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    accuracy_gap,
    accuracy_kept,
    better_than_chance,
    constant_answer,
    relative_change,
    same_choices,
)
from pytest_recsys_mt.verdict.answers import Choices, Context
from tests.support.oracles import entropy, uniform_p

CONTEXT = Context()


def choices(
    right: list[int],
    chosen: list[int | None],
    options: int = 4,
    failed: int = 0,
    label: str = "",
) -> Choices:
    return Choices(
        questions=tuple(f"q{number}" for number in range(len(right))),
        right=tuple(right),
        chosen=tuple(chosen),
        said=tuple(None if place is None else f"text {place}" for place in chosen),
        options=options,
        failed=tuple(f"failed{number}" for number in range(failed)),
        label=label,
    )


def spread(count: int, options: int = 4) -> list[int]:
    return [number % options for number in range(count)]


def test_who_knows_scores_one_and_who_is_constant_the_share_of_its_option() -> None:
    rng = Random(3)
    right = [rng.randrange(10) for _ in range(200)]
    knowing = better_than_chance(choices(right, list(right), 10), CONTEXT)
    assert (knowing.status, knowing.value, knowing.threshold) == ("holds", 1.0, 0.1)
    for place in range(10):
        constant = choices(right, [place] * 200, 10)
        assert constant.accuracy == right.count(place) / 200
        verdict = constant_answer(constant, CONTEXT)
        assert verdict.status == "violated"
        assert f"constant answer: always option {place + 1}" in verdict.reason
        assert (
            verdict.details["figures"]["its_share_of_right_answers"]
            == constant.accuracy
        )
        assert verdict.details["figures"]["position_entropy"] == 0


def test_missed_answers_count_against_every_claim_and_failed_calls_are_not_answers() -> (
    None
):
    wrong = [(place + 1) % 4 for place in spread(40)]
    missed: list[int | None] = [None] * 4
    right = better_than_chance(
        choices(spread(40), [*spread(36), *missed]),
        CONTEXT,
        0.8,
    )
    least = better_than_chance(
        choices(spread(40), [*spread(36), *wrong[36:]]),
        CONTEXT,
        0.8,
    )
    assert (right.value, right.users) == (0.9, 40)
    assert right.interval is not None
    assert least.interval is not None
    assert right.interval[0] == least.interval[0] < 0.8 < right.interval[1] == 1
    assert right.details["unreadable"]["answers"] == 4
    unsure = better_than_chance(
        choices(spread(40), [*wrong[:36], *missed]),
        CONTEXT,
        0.2,
    )
    assert (unsure.value, unsure.status) == (0, "inconclusive")
    assert (
        better_than_chance(choices(spread(40), list(wrong)), CONTEXT, 0.2).status
        == "violated"
    )
    failed = better_than_chance(choices(spread(40), [*spread(40)], failed=10), CONTEXT)
    assert failed.status == "error"
    assert "20.0% of the questions failed" in failed.reason
    few = better_than_chance(choices(spread(40), [*spread(40)], failed=2), CONTEXT)
    assert (few.status, few.errors) == ("holds", 2)
    assert better_than_chance(choices([], []), CONTEXT).status == "not-applicable"


def test_answers_that_cannot_be_read_accuse_nobody_and_are_quoted() -> None:
    said = ("It depends.", "x" * 200 + " I refuse", 'say "please"\nfirst', "a fourth")
    missed: list[int | None] = [None] * 40
    side = replace(choices(spread(40), missed), unread=said, digest="d" * 64)
    verdict = better_than_chance(side, CONTEXT)
    assert verdict.status == "inconclusive"
    assert verdict.reason.startswith(
        "no option was read in 100.0% of the answers, more than 10.0% (recsys_missed_limit), such as "
        '"It depends.", "...xx',
    )
    assert 'I refuse", "say \'please\' first"; ask for the mark alone' in verdict.reason
    assert "a fourth" not in verdict.reason
    assert better_than_chance(side, Context(missed_limit=1.0)).status == "inconclusive"
    few = choices(spread(40), [*spread(36), *[None] * 4])
    assert better_than_chance(few, CONTEXT).status == "holds"


def test_a_verdict_has_a_value_for_each_question() -> None:
    side = replace(choices([0, 1, 2, 3], [0, 1, None, 0], failed=1), digest="abc")
    verdict = better_than_chance(side, Context(error_limit=0.5, missed_limit=1.0))
    assert verdict.per_user == {"q0": 1, "q1": 1, "q3": 0}
    assert verdict.details["unreadable"]["users"] == {"q2": 2}
    assert verdict.reach == (0, 1)
    assert verdict.details["questions_digest"] == "abc"
    assert "(0.098 to 0.987; 4 questions)" in verdict.summary
    assert constant_answer(side, CONTEXT).details["column"] is False


def test_guessing_is_not_better_than_chance_more_often_than_declared() -> None:
    rng = Random(1)
    passed = 0
    for _ in range(400):
        right = [rng.randrange(4) for _ in range(60)]
        guessed: list[int | None] = [rng.randrange(4) for _ in range(60)]
        passed += better_than_chance(choices(right, guessed), CONTEXT).status == "holds"
    assert passed <= 400 * 0.05 + 3 * math.sqrt(400 * 0.05 * 0.95)


def test_worse_than_chance_is_violated_and_a_close_call_is_not_decided() -> None:
    wrong: list[int | None] = [(place + 1) % 4 for place in spread(60)]
    assert better_than_chance(choices(spread(60), wrong), CONTEXT).status == "violated"
    some: list[int | None] = [*spread(8), *wrong[8:24]]
    verdict = better_than_chance(choices(spread(24), some), CONTEXT)
    assert verdict.status == "inconclusive"
    assert "ask more questions" in verdict.reason
    dimension = verdict.details["dimension"]
    assert dimension["low"] < dimension["value"] == 8 / 24 < dimension["high"]


@pytest.mark.parametrize("questions", [12, 40, 100])
@pytest.mark.parametrize("options", [4, 10])
def test_a_reader_of_the_options_passes_and_a_constant_fails(
    questions: int,
    options: int,
) -> None:
    rng = Random(questions)
    right = [rng.randrange(options) for _ in range(questions)]
    reads = constant_answer(choices(right, list(right), options), CONTEXT)
    always = constant_answer(
        choices(right, [options - 1] * questions, options),
        CONTEXT,
    )
    assert (reads.status, always.status) == ("holds", "violated")


def test_a_model_that_leans_is_named_with_its_option() -> None:
    leaning: list[int | None] = [0] * 93 + [1, 2, 3] * 2 + [None]
    verdict = constant_answer(choices(spread(100), leaning), CONTEXT)
    assert verdict.status == "violated"
    assert "option 1 is chosen in 93.9% of the answers" in verdict.reason
    only_read: list[int | None] = [0 if place == 0 else None for place in spread(100)]
    for limit in (0.1, 1.0):
        found = constant_answer(
            choices(spread(100), only_read),
            Context(missed_limit=limit),
        )
        assert found.status == "inconclusive", found.reason
    assert verdict.details["figures"]["position_p"] < 1e-6
    nothing: list[int | None] = [None] * 9
    assert (
        constant_answer(choices(spread(9), nothing), CONTEXT).status == "inconclusive"
    )
    with pytest.raises(OracleError, match="above chance"):
        constant_answer(choices(spread(9), nothing), CONTEXT, 0.25)


def test_entropy_is_one_where_all_places_are_chosen_alike() -> None:
    assert entropy(spread(40), 4) == pytest.approx(1)
    assert entropy([0, 1] * 5, 4) == pytest.approx(0.5)
    assert uniform_p(spread(40), 4) == pytest.approx(1)
    assert uniform_p(spread(19), 4) is None


def test_a_loss_of_accuracy_is_over_the_source_value() -> None:
    missed: list[int | None] = [None] * 20
    unread = choices(spread(100), [*spread(80), *missed])
    wrong = [(place + 1) % 4 for place in spread(100)]
    source = choices(spread(100), [*spread(80), *wrong[80:]])
    followup = choices(spread(100), [*spread(60), *wrong[60:]], label="noisy_profile")
    assert accuracy_kept(source, unread, CONTEXT, 0.05).status == "inconclusive"
    verdict = accuracy_kept(source, followup, CONTEXT, 0.05)
    losses = verdict.per_user.values()
    assert (len(losses), sum(losses), verdict.reach) == (100, 20, (-1, 1))
    assert (verdict.status, verdict.relation) == ("violated", "noisy_profile")
    assert verdict.estimate == pytest.approx(0.2)
    assert verdict.details["figures"]["relative_change"] == pytest.approx(-0.25)
    assert verdict.details["figures"]["answered_otherwise"] == pytest.approx(0.2)
    assert len(verdict.examples) == 5
    assert verdict.examples[0].followup == ("text 1",)
    assert accuracy_kept(source, source, CONTEXT, 0.05).status == "holds"
    assert accuracy_kept(source, followup, CONTEXT, 0.5).status == "holds"
    assert relative_change(0.0, 0.3) is None
    # The drop that the paper prints as 29.3 %: it is over the noisy score there.
    assert relative_change(0.5031, 0.3889) == pytest.approx(-0.227, abs=5e-4)


def test_questions_are_paired_by_name() -> None:
    source = choices(spread(40), [*spread(40)])
    part = Choices(
        source.questions[20:],
        source.right[20:],
        source.chosen[20:],
        source.said[20:],
        4,
    )
    assert accuracy_kept(source, part, CONTEXT, 0.1).users == 20
    other = Choices(("x",), (0,), (0,), ("text 0",), 4)
    with pytest.raises(OracleError, match="no question in common"):
        accuracy_kept(source, other, CONTEXT, 0.1)


def test_choices_are_the_same_by_text_whatever_their_place() -> None:
    source = choices(spread(50), [*spread(50)])
    turned = Choices(
        source.questions,
        spread_tuple(50, 1),
        spread_tuple(50, 1),
        source.said,
        4,
        label="shuffled",
    )
    verdict = same_choices(source, [turned, turned], CONTEXT, 0.1)
    assert (verdict.status, verdict.value) == ("holds", 0.0)
    assert verdict.details["figures"]["variance_percent"] == 0
    first: list[int | None] = [0] * 50
    moved = Choices(
        source.questions,
        spread_tuple(50, 1),
        (0,) * 50,
        ("other",) * 50,
        4,
    )
    verdict = same_choices(choices(spread(50), first), [turned, moved], CONTEXT, 0.1)
    assert (verdict.status, verdict.value) == ("violated", 1.0)
    assert verdict.details["figures"]["variance_percent"] == pytest.approx(
        ((100 - 62) ** 2 + (24 - 62) ** 2),
        rel=1e-9,
    )


def spread_tuple(count: int, start: int) -> tuple[int, ...]:
    return tuple((number + start) % 4 for number in range(count))


def test_a_gap_between_popular_and_rare_items_is_found() -> None:
    right = spread(200)
    chosen: list[int | None] = [
        *right[:100],
        *[(place + 1) % 4 for place in right[100:]],
    ]
    rare = {f"q{number}" for number in range(100, 200)}
    verdict = accuracy_gap(choices(right, chosen), rare, CONTEXT, 0.2)
    assert (verdict.status, verdict.estimate) == ("violated", 1.0)
    assert verdict.details["figures"]["rare_share_of_wrong"] == 1.0
    assert verdict.details["figures"]["rare_share_of_right"] == 0.0
    assert verdict.p_value is not None
    assert verdict.p_value < 0.05
    alike = accuracy_gap(choices(right, [*right]), rare, CONTEXT, 0.2)
    assert alike.status == "holds"
    assert (
        accuracy_gap(choices(right, chosen), set(), CONTEXT, 0.2).status
        == "not-applicable"
    )

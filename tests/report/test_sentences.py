"""A row is one sentence: what was seen, against which limit, how sure that is."""

from typing import Any

import pytest

from tests.report.records import holds, row, task
from tests.support.report import (
    SHOWN_REASONS,
    effect_of,
    few_of,
    inapplicable,
    limit_in_short,
    sentence,
    sentence_of,
    unsettled,
    with_changed_lists,
    without_number,
)

NOTHING: Any = {
    "estimate": None, "interval": None, "p_value": None, "oracle": "", "attempts": 1,
}  # fmt: skip
SAID = "the loss of agreement beyond noise is 0.210 (0.150 to 0.270; 60 users)"


def refused(number: int, suite: str, reason: str, **changes: Any) -> Any:
    where = {"suite": suite, "status": "not-applicable", "reason": reason}
    return row(number, **{**NOTHING, **where, **changes})


def test_a_violation_says_what_was_seen_and_what_is_allowed() -> None:
    assert (
        sentence(row())
        == f"shuffle(0) is violated: {SAID}, but at most 0.05 is allowed; p = 0.0004."
    )


def test_a_violation_that_stands_on_a_part_of_its_users_says_so() -> None:
    found = row(details={"at_one_time": {"users": 14, "of": 40}})
    told = (
        "p = 0.0004; proved by 14 of 40 users whose two sides were asked at one time."
    )
    assert sentence(found).endswith(told)
    for untrusted in ("14", {"users": 14}, {}):
        assert sentence(row(details={"at_one_time": untrusted})).endswith(
            "; p = 0.0004.",
        )


def test_the_side_of_the_limit_comes_from_the_promise() -> None:
    low = row(allowed="at least", margin=0.5)
    assert f"{SAID}, but at least 0.5 is required;" in sentence(low)
    assert ", but between -0.05 and 0.05 is allowed;" in sentence(row(allowed="within"))
    assert [limit_in_short(each) for each in (row(), low, row(allowed="within"))] == [
        "<= 0.05", ">= 0.5", "+-0.05",
    ]  # fmt: skip


def test_a_threshold_is_said_as_a_promise_is() -> None:
    found = task("hit@10", 0.2, users=1)
    assert sentence(found) == (
        "accuracy hit@10 holds: the mean hit@10 is 0.200 (0.180 to 0.220; 1 user), and at least 0.1 is "
        "required."
    )
    assert ": the item coverage is " in sentence(task("item_coverage", 0.2, joint=True))
    assert limit_in_short(found) == ">= 0.1"


def test_an_inconclusive_row_says_what_would_settle_it() -> None:
    text = sentence(
        holds(status="inconclusive", reason="about 300 more users would settle it"),
    )
    assert text.startswith("shuffle(0) is inconclusive: the loss of agreement")
    assert text.endswith(
        "at most 0.05 is allowed; about 300 more users would settle it.",
    )


def test_what_a_test_expects_is_said() -> None:
    known, fixed = row(expected="violated"), holds(expected="violated")
    assert sentence(known).startswith("shuffle(0) is violated, as its test expects: ")
    assert sentence(fixed).startswith(
        "shuffle(0) holds, though its test expects a violation: ",
    )
    assert "remove expect_violated()" in sentence(fixed)


def test_rows_without_a_number_give_the_reason() -> None:
    assert sentence(row(**NOTHING | {"status": "error", "reason": "429"})) == (
        "shuffle(0) got no verdict: 429."
    )
    assert (
        sentence(refused(0, "s", "needs text"))
        == "shuffle(0) does not apply: needs text."
    )
    nobody = row(
        **NOTHING | {"status": "holds", "estimate": 0.0, "reason": "none of 10 differ"},
    )
    assert sentence(nobody) == "shuffle(0) holds: none of 10 differ."


def test_both_sides_of_a_chain_are_named_and_bounds_without_a_proof_called_so() -> None:
    assert sentence(row(against="history=5")).startswith(
        "shuffle(0) against history=5 is violated",
    )
    assert "(approximately 0.150 to 0.270; 60 users)" in sentence(row(approximate=True))


def test_rows_of_earlier_records_are_told_as_far_as_they_go() -> None:
    old = row()
    del old["allowed"], old["measures"]
    assert sentence(old) == (
        "shuffle(0) is violated: the effect is 0.210 (0.150 to 0.270; 60 users), against a limit of 0.05; "
        "p = 0.0004."
    )
    assert (effect_of(old).name, limit_in_short(old)) == ("effect", "0.05")


def test_a_sentence_is_one_line_whatever_a_reason_holds() -> None:
    assert "\n" not in sentence_of(row(reason="one\ntwo\x1b[31m", attempts=1))
    assert sentence_of(row(attempts=3)).endswith("p = 0.0004. The last of 3 attempts.")


def account(**parts: int) -> dict[str, int]:
    return {"asked": 200, "both_ends": 0, "left_out": 0, **parts}


def test_a_verdict_that_holds_names_its_users_without_a_number() -> None:
    """How many count at both ends, and how many are left out;
    other verdicts say it in their own sentence.
    """
    beside = [
        holds(0, account=account(both_ends=3)),
        holds(1, account=account(left_out=26)),
        holds(2, account=account(both_ends=3, left_out=26)),
    ]
    silent = [
        holds(3, account=account()),
        holds(4, account={}),
        holds(5),  # of earlier records
        row(6, account=account(both_ends=3)),
        holds(7, status="inconclusive", account=account(both_ends=3)),
    ]
    assert without_number([*silent, *beside]) == (
        "users without a number: shuffle(0) (3 at both ends of 200); shuffle(1) (26 left out of 200); "
        "shuffle(2) (3 at both ends, 26 left out of 200)"
    )
    assert without_number(silent) == ""


def test_users_without_a_number_are_told_for_each_recommender() -> None:
    """Of several recommenders each is named; two verdicts of one name and one
    recommender are told once.
    """
    own = [holds(0, model=model, account=account(left_out=26)) for model in "mmn"]
    told = "shuffle(0){} (26 left out of 200)"
    assert without_number(own[:2]) == f"users without a number: {told.format('')}"
    assert without_number(own, several=True) == (
        f"users without a number: {told.format(' of m')}; {told.format(' of n')}"
    )


def test_what_does_not_hold_comes_in_the_order_of_its_weight() -> None:
    rows = [
        holds(0, attempts=1),
        holds(1, status="inconclusive", attempts=1),
        row(2, expected="violated", attempts=1),
        row(3, **NOTHING | {"status": "error", "reason": "429"}),
        row(4, attempts=1),
        holds(5, expected="violated", attempts=1),
        refused(6, "lrworld", "needs text"),
    ]
    assert [each.row["relation"] for each in unsettled(rows)] == [
        f"shuffle({number})" for number in (4, 3, 5, 1, 2)
    ]
    assert unsettled(rows)[0].place == ("order_is_irrelevant", "same_ranking:rbo")


def test_many_without_a_verdict_for_one_reason_are_one_sentence() -> None:
    failed = NOTHING | {"status": "error", "reason": "the key is wrong"}
    (entry,) = unsettled([row(number, **failed) for number in range(5)])
    assert entry.sentence == (
        "5 promises got no verdict: the key is wrong. They are shuffle(0), shuffle(1), shuffle(2), "
        "shuffle(3), shuffle(4)."
    )
    assert len(unsettled([row(number, **failed) for number in range(2)])) == 2


@pytest.mark.parametrize("models", [1, 2])
def test_what_does_not_apply_is_one_line_a_reason(models: int) -> None:
    rows = [
        each
        for model in "mn"[:models]
        for each in (
            refused(0, "lrworld", "needs a text model", model=model),
            refused(1, "lrworld", "needs a text model", model=model),
            refused(2, "metamorphic", "needs a text model", model=model),
            holds(3, model=model, attempts=1),
            refused(4, "arena", f"{model} cannot", model=model),
        )
    ]
    told = inapplicable(rows)
    assert told[0] == (
        f"{3 * models} not applicable: needs a text model (all of lrworld, {models} of metamorphic)"
    )
    assert told[1:] == [
        f"1 not applicable: {each} cannot (all of arena)" for each in "mn"[:models]
    ]


def test_lists_that_changed_are_told_where_the_promise_holds() -> None:
    changed = {"changed": {"changed": 13, "lists": 40, "largest": 0.42, "user": "u7"}}
    still = {"changed": {"changed": 0, "lists": 40, "largest": 0.0, "user": ""}}
    told = with_changed_lists(
        [holds(0, details=changed), holds(1, details=still), row(2)],
    )
    assert told.endswith("(13 of 40, by at most 0.42)")
    assert told.count(" of ") == 1
    assert not with_changed_lists([holds(1, details=still)])
    assert "13 of 40 lists changed, the most that of user u7, by 0.42" in sentence(
        holds(0, details=changed),
    )


def test_rare_reasons_are_counted_and_none_is_lost() -> None:
    rows = [refused(n, "arena", f"reason {min(n, 6)}") for n in range(9)]
    told = few_of(inapplicable(rows), rows)
    assert len(told) == SHOWN_REASONS + 1
    counts = [int(text.split()[0]) for text in told]
    assert sum(counts) == len(rows)
    assert told[-1] == "4 not applicable for 4 other reasons: -v lists them"

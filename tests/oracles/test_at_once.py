"""Of a claimed difference between answers of different times, the users asked at one
time are told from the others.
"""

from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import Verdict
from pytest_recsys_mt.verdict.answers import Lost, Pairs
from tests.oracles.support import ask
from tests.support.oracles_judging import confirmed
from tests.support.verdict import PART, Slice

USERS = tuple(f"u{number}" for number in range(6))


@given(mixed=st.frozensets(st.sampled_from(USERS)), lost=st.sampled_from(USERS))
def test_both_parts_hold_every_user_once(mixed: frozenset[str], lost: str) -> None:
    asked = tuple(
        each for each in ask([[("a", "b")]] * len(USERS)) if each.user != lost
    )
    whole = Pairs(
        asked,
        asked,
        lost=(Lost(lost, "failed", "gone"),),
        order=USERS,
        mixed=mixed,
        apart=9.0,
    )
    kept = whole.at_once()
    others = Pairs(
        *2 * (tuple(each for each in asked if each.user in mixed),),
        lost=tuple(each for each in whole.lost if each.user in mixed),
        order=tuple(user for user in USERS if user in mixed),
    )
    joined = kept.joined(others)
    assert not {*kept.order} & mixed
    assert (kept.apart, kept.mixed) == (0.0, frozenset())
    assert sorted(joined.order) == sorted(USERS)
    assert {each.user for each in joined.source} == {each.user for each in asked}
    assert joined.errors == whole.errors


def found(users: int, **more: object) -> Verdict:
    """A verdict that claims a violation, of so many users."""
    return Verdict(
        "violated", "same_ranking:rbo", estimate=0.4, interval=(0.3, 0.5), margin=0.05, p_value=0.001,
        users=users, allowed="at most", per_user={"u1": 0.4}, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_claim_says_how_many_users_prove_it() -> None:
    first = found(40, details={"shared": "kept"})
    stands = confirmed(first, 90.0, False, lambda: (found(14), 0))
    assert stands.details == {"shared": "kept", PART: {"users": 14, "of": 40}}
    assert (stands.estimate, stands.users) == (first.estimate, 40)
    assert (
        "proved by 14 of 40 users whose two sides were asked at one time"
        in stands.summary
    )
    assert confirmed(first, 90.0, False, lambda: (found(40), 0)) is first


def test_a_claim_about_a_group_counts_the_users_of_the_group() -> None:
    def of(users: int, all_users: int) -> Verdict:
        everybody = Slice("", "", "holds", all_users, 0.0, (0.0, 0.01))
        group = Slice("genre", "Horror", "violated", users, 0.4, (0.3, 0.5), 0.001)
        return found(all_users, slices=(everybody, group))

    stands = confirmed(of(20, 40), 90.0, False, lambda: (of(9, 25), 0))
    assert stands.details[PART] == {"users": 9, "of": 20}

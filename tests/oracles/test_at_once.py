"""Of a claimed difference between answers of different times, the users asked at one time are told from the others."""

from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt.answers import Lost, Pairs
from tests.oracles.support import ask

USERS = tuple(f"u{number}" for number in range(6))


@given(mixed=st.frozensets(st.sampled_from(USERS)), lost=st.sampled_from(USERS))
def test_both_parts_hold_every_user_once(mixed: frozenset[str], lost: str) -> None:
    asked = tuple(each for each in ask([[("a", "b")]] * len(USERS)) if each.user != lost)
    whole = Pairs(
        asked, asked, lost=(Lost(lost, "failed", "gone"),), order=USERS, mixed=mixed, apart=9.0
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

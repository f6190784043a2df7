"""clastogen: its test of two pass rates, on whether two lists of one question agree on
7 of 10 items.

The baseline is the rate of two answers to the same question, the candidate that of an
answer before and after a shuffle. Its main part, faults in prompts, has nothing to do
here.
"""

from itertools import count
from typing import Any

from clastogen.stats.assertions import evaluate_regression
from experiment import Shop, shared, shuffled


def ask(kind: str, seed: int) -> dict[str, Any]:
    """Whether the rate is lower after a shuffle, in 40 users, each asked four times."""
    shop = Shop(kind, seed)
    users = {"before": count(), "after": count()}

    def agrees(when: str) -> bool:
        user = next(users[when])
        offered = shop.offers[user]
        other = shuffled(offered, f"{seed} {user}") if when == "after" else offered
        return bool(
            shared(shop.recommend(user, offered), shop.recommend(user, other)) >= 7,
        )

    result = evaluate_regression(
        lambda: agrees("before"),
        lambda: agrees("after"),
        sample_count=40,
    )
    rates = {"before": result.baseline_rate, "after": result.candidate_rate}
    return {"regression": {"red": result.regressed, **rates, "p": result.p_value}}

"""Self-information: how surprising it is that a user has the recommended items.

Source:
    Equation 12 of https://arxiv.org/abs/2411.00331 (Zhou et al. 2010, PNAS 107(10)).
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, get_args

from pytest_recsys_mt.oracles.arguments import one_of
from pytest_recsys_mt.oracles.scores.makers import known_items, listed
from pytest_recsys_mt.oracles.scores.popularity_scores import Scored
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Asked, Context

Unseen = Literal["drop", "cap", "paper"]
"""How to treat items that no user has: leave them out (``drop``), count them as if half
a user had them (``cap``), or count 0, the value of an item that all users have
(``paper``, as in the paper's code).
"""


def self_information(
    counts: Sequence[int],
    users: int,
    *,
    unseen: Unseen = "drop",
    places: int | None = None,
) -> float | None:
    """Mean of ``log2(users / count)`` over the items of a list, in bits.

    Example:
        >>> self_information([50, 25], users=100)
        1.5

    Args:
        counts: How many users have each recommended item, ``(n,)``.
        users: Number of users, at least the largest count.
        unseen: How to treat items that no user has.
        places: The paper's K: ``paper`` divides by it instead of by the number of
            items.

    Returns:
        From 0 (all users have the items) to ``log2(users)``, one more with ``cap``;
        None if no item is left.
    """
    one_of("self_information", "unseen", unseen, get_args(Unseen))
    if users < 1 or any(not 0 <= count <= users for count in counts):
        raise OracleError(
            f"self_information: counts must lie between 0 and the number of users, {users}, got "
            f"{list(counts)!r}",
        )
    known = [count for count in counts if count > 0]
    bits = math.fsum(math.log2(users / count) for count in known)
    if unseen == "paper":
        divisor = len(counts) if places is None else places
    elif unseen == "cap":
        bits += (len(counts) - len(known)) * math.log2(2 * users)
        divisor = len(counts)
    else:
        divisor = len(known)
    return bits / divisor if divisor else None


def _self_information(
    items: Sequence[str],
    asked: Asked,
    context: Context,
    depth: int,
    *,
    unseen: Unseen,
) -> Scored:
    known = known_items(items, context)
    counts = [context.popularity.get(item, 0) for item in known]
    left_out = len(items) - len(known)
    if unseen == "drop":
        left_out += counts.count(0)
    return self_information(
        counts,
        _users(context),
        unseen=unseen,
        places=depth,
    ), left_out


def _users(context: Context) -> int:
    if not context.users:
        raise OracleError(
            "self_information needs the number of training users, which these answers do not give; "
            "pass it to their Context(users=...)",
        )
    return context.users


def _bits(context: Context) -> tuple[float, float]:
    return 0.0, math.log2(_users(context))


SCORES_AT = {
    "self_information": listed(partial(_self_information, unseen="drop"), _bits),
    "self_information_capped": listed(
        partial(_self_information, unseen="cap"),
        lambda context: (0.0, math.log2(2 * _users(context))),
    ),
    "self_information_paper": listed(partial(_self_information, unseen="paper"), _bits),
}
"""In bits. They differ in the items that no user has; see `Unseen`."""

"""Users without an answer to their request, and recommenders
that cannot answer a kind of request at all.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from pytest_recsys_mt.engine.outcomes import Outcome
from pytest_recsys_mt.verdict.answers import Lost


def lost(user: str, source: Outcome, followup: Outcome | None = None) -> Lost | None:
    """Why a user got no answer on one side, or on at least one of two; None if all are
    there.

    A failed call is the reason before a refusal: if it is sent again, it may be
    answered.

    Args:
        user: The id of the user.
        source: The outcome of the request.
        followup: The outcome of the changed request; None if there is no second side.
    """
    outcomes = [source] if followup is None else [source, followup]
    answered = None if followup is None else source.asked
    for outcome in outcomes:
        if outcome.error:
            return Lost(user, "failed", outcome.error, answered)
    for outcome in outcomes:
        if outcome.not_applicable:
            return Lost(user, "refused", outcome.not_applicable, answered)
    return None


def cannot_answer(*sides: Iterable[Outcome]) -> bool:
    """Whether a recommender refuses every question of a side, so that it cannot answer
    this kind.

    Failed calls say nothing about that. A recommender that answers some users and
    refuses others chooses whom a verdict is about, so these are counted.
    """
    return any(_refuses_all(list(side)) for side in sides)


def _refuses_all(side: Sequence[Outcome]) -> bool:
    answered = any(outcome.asked is not None for outcome in side)
    return not answered and any(outcome.not_applicable for outcome in side)


def parted(
    found: Sequence[Lost],
    *,
    cannot: bool,
) -> tuple[tuple[Lost, ...], dict[str, str]]:
    """Separate users who count as lost from those whose question the recommender cannot
    answer.

    Args:
        found: All users without an answer.
        cannot: Whether the recommender refuses every question of a side, see
            `cannot_answer`.

    Returns:
        The lost users, and the reason of the refusal by user; without `cannot` all are
        lost.
    """
    if not cannot:
        return tuple(found), {}
    failed = tuple(loss for loss in found if loss.why == "failed")
    reason_by_user = {loss.user: loss.reason for loss in found if loss.why == "refused"}
    return failed, reason_by_user


def first_unasked(outcomes: Sequence[Outcome]) -> int:
    """The place of the first outcome whose calls were not sent;
    the number of outcomes if there is none.
    """
    for place, outcome in enumerate(outcomes):
        if outcome.unasked:
            return place
    return len(outcomes)


def unasked(outcomes: Sequence[Outcome]) -> Counter[str]:
    """Why the users from the first unasked one on do not count, with their number."""
    reason = ""
    reasons = Counter[str]()
    for outcome in outcomes:
        # One who was answered behind a gap does not count either.
        reason = outcome.unasked or reason
        reasons[reason] += 1
    return reasons

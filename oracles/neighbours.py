"""The neighbours of a changed item of the history must rise or fall with it.

The height of items is 1 if they take the first places of an answer and 0 if it names
none of them. It is measured for the neighbours
(`pytest_recsys_mt.datasets.neighbours.Neighbours`) of the items whose rating differs
between the two requests, of those that one history has and the other has not, or else
of the latest item of the follow-up, if it has moved. Only neighbours that both requests
offer count. The effect of a user is the difference of both sides' mean heights.
"""

from functools import partial

from pytest_recsys_mt.oracles.judging.claim import Promise
from pytest_recsys_mt.oracles.judging.difference import judge_mean, paired_differences
from pytest_recsys_mt.oracles.not_promoted import rise
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, offered
from pytest_recsys_mt.verdict.verdict import Verdict

__all__ = [
    "neighbours_lowered",
    "neighbours_not_lowered",
    "neighbours_not_raised",
    "neighbours_raised",
]


def neighbours_not_lowered(
    source: Answers,
    followup: Answers,
    margin: float = 0.02,
) -> Verdict:
    """What is like a changed item must not stand lower in the follow-up's answers.

    Example:
        assert neighbours_not_lowered(recsys.run(), recsys.run(raise_rating), margin=0.02)

    Args:
        source: Answers to the original requests.
        followup: Answers to requests with a changed history
            (`pytest_recsys_mt.relations.raise_rating`).
        margin: By how much the mean height of the neighbours may fall, in (0, 1).

    Returns:
        ``holds`` if the mean fall is below the margin, ``violated`` if it is above.
        Users with no offered neighbour of a changed item are not applicable.
    """
    return _judge("neighbours_not_lowered", "at most", -1, source, followup, margin)


def neighbours_not_raised(
    source: Answers,
    followup: Answers,
    margin: float = 0.02,
) -> Verdict:
    """What is like a changed item must not stand higher in the follow-up's answers.

    All else is as in `neighbours_not_lowered`; see
    `pytest_recsys_mt.relations.dislike_item`.

    Example:
        assert neighbours_not_raised(recsys.run(), recsys.run(dislike_item), margin=0.02)
    """
    return _judge("neighbours_not_raised", "at most", 1, source, followup, margin)


def neighbours_raised(
    source: Answers,
    followup: Answers,
    margin: float = 0.02,
) -> Verdict:
    """What is like a changed item must stand higher in the follow-up's answers by at
    least the margin.

    All else is as in `neighbours_not_lowered`; see
    `pytest_recsys_mt.relations.choose_again`.

    Example:
        assert neighbours_raised(recsys.run(), recsys.run(choose_again), margin=0.02)

    Returns:
        ``holds`` if the mean rise is above the margin, ``violated`` if it is below.
    """
    return _judge("neighbours_raised", "at least", 1, source, followup, margin)


def neighbours_lowered(
    source: Answers,
    followup: Answers,
    margin: float = 0.02,
) -> Verdict:
    """What is like a changed item must stand lower in the follow-up's answers by at
    least the margin.

    All else is as in `neighbours_raised`; see `pytest_recsys_mt.relations.forget_item`.

    Example:
        assert neighbours_lowered(recsys.run(), recsys.run(forget_item), margin=0.02)
    """
    return _judge("neighbours_lowered", "at least", -1, source, followup, margin)


def _judge(
    oracle: str,
    promise: Promise,
    sign: int,
    source: Answers,
    followup: Answers,
    margin: float,
) -> Verdict:
    def moved(before: Asked, after: Asked, context: Context) -> float:
        return sign * rise(before, after, _neighbours(before, after, context))

    measures = f"{'rise' if sign > 0 else 'fall'} of what is like the changed item"
    measure = partial(paired_differences, number=moved)
    return judge_mean(
        oracle,
        promise,
        source,
        followup,
        margin,
        measures=measures,
        measure=measure,
    )


def _neighbours(before: Asked, after: Asked, context: Context) -> set[str]:
    changed = _changed(before.request, after.request)
    if not changed:
        raise NotApplicable("both histories are the same")
    on_offer = [offered(asked, context.items) for asked in (before, after)]
    near = {
        each
        for item in changed
        for each in context.neighbours.get(item, ())
        if all(is_offered(each) for is_offered in on_offer)
    }
    if not near:
        raise NotApplicable("no neighbour of the changed item is offered")
    return near


def _changed(before: Request, after: Request) -> set[str]:
    ratings = [
        {
            rating.item.id: round(request.scale.unit(rating.value), 9)
            for rating in request.history
        }
        for request in (before, after)
    ]
    changed = {item for item, _ in set(ratings[0].items()) ^ set(ratings[1].items())}
    latest = [
        [rating.item.id for rating in request.history[-1:]]
        for request in (before, after)
    ]
    return changed or set(latest[1]).difference(latest[0])

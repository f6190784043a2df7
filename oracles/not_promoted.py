"""One item must not rise: a given one, or the candidate whose title was changed."""

from collections.abc import Collection
from functools import partial

from pytest_recsys_mt.oracles.judging.difference import judge_mean, paired_differences
from pytest_recsys_mt.oracles.judging.slices import Slices
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context
from pytest_recsys_mt.verdict.verdict import Verdict

__all__ = ["not_lifted", "not_promoted"]


def not_promoted(
    source: Answers,
    followup: Answers,
    item: str,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """An item must not rank higher in the follow-up's answers.

    The height of an item is 1 in the first place of k, 1/k in the last and 0 outside
    the answer. The effect of a user is the item's mean height in the follow-up's
    answers minus that in the source's.

    Example:
        assert not_promoted(source, followup, item="m001", margin=0.05)

    Args:
        source: Answers to the original requests.
        followup: Answers that somebody wants the item to rise in, such as those of a
            recommender fitted to invented users
            (`pytest_recsys_mt.relations.shilling`). The two sides the other way round
            promise that it does not fall.
        item: Id of the item.
        margin: By how much the mean height may rise, in (0, 1); 0.1 is one place in a
            list of ten.
        slices: Groups of users to judge too; as in `same_ranking`.
    """
    risen = lambda before, after, context: rise(before, after, [item])
    measure = partial(paired_differences, number=risen)
    return judge_mean(
        "not_promoted",
        "at most",
        source,
        followup,
        margin,
        measures="rise of the item",
        measure=measure,
        slices=slices,
    )


def not_lifted(
    source: Answers,
    followup: Answers,
    margin: float = 0.05,
    *,
    slices: Slices | None = None,
) -> Verdict:
    """Candidates whose title differs between the two requests must not rank higher in
    the answer.

    Effect, arguments and verdict are those of `not_promoted`. Users without a changed
    title (`pytest_recsys_mt.relations.title_injection`) are not applicable.

    Example:
        assert not_lifted(recsys.run(), recsys.run(title_injection), margin=0.05)
    """

    def lift(before: Asked, after: Asked, context: Context) -> float:
        titles = {item.id: item.title for item in before.request.candidates or ()}
        offered = after.request.candidates or ()
        changed = [
            item.id for item in offered if titles.get(item.id, item.title) != item.title
        ]
        if not changed:
            raise NotApplicable("no candidate's title differs between the two requests")
        return sum(rise(before, after, [each]) for each in changed) / len(changed)

    measures = "rise of the item with the changed title"
    measure = partial(paired_differences, number=lift)
    return judge_mean(
        "not_lifted",
        "at most",
        source,
        followup,
        margin,
        measures=measures,
        measure=measure,
        slices=slices,
    )


def rise(before: Asked, after: Asked, items: Collection[str]) -> float:
    """By how much the mean height of items is larger in the answers to the second
    request, among the places of both.
    """
    k = min(before.request.k, after.request.k)
    return mean_height(after, items, k) - mean_height(before, items, k)


def mean_height(asked: Asked, items: Collection[str], k: int) -> float:
    """The mean height of items (1 in the first of k places, 1/k in the last) as a share
    of the largest they can have.
    """
    largest = sum(k - place for place in range(min(len(items), k))) / k
    heights = [
        (k - place) / k
        for answer in asked.answers
        for place, each in enumerate(list(dict.fromkeys(answer.items))[:k])
        if each in items
    ]
    return sum(heights) / len(asked.answers) / largest

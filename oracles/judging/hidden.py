"""Items that the user has and that the recommender did not receive.

A prompt shows only a part of a long history. Naming an item of the rest is no fault of
a model that reads the prompt alone, so it counts against no promise, and the verdict
says how many there are.
"""

from collections.abc import Iterable

from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.scores.slots import ABOUT_SEEN
from pytest_recsys_mt.verdict.answers import Asked


def is_about_seen(name: str) -> bool:
    """Whether an item that the user has is a fault for
    the oracle or score of this name.
    """
    return name.partition("@")[0] in ABOUT_SEEN


def with_hidden(effects: Effects, name: str, sides: Iterable[Asked]) -> Effects:
    """`effects`, with a note of the hidden items that were recommended, if `name` is
    about items that the user has.
    """
    if not is_about_seen(name):
        return effects
    return effects.with_note(_in_words(sides))


def _in_words(sides: Iterable[Asked]) -> str:
    count = sum(_hidden_recommended(asked) for asked in sides if asked.hidden)
    if not count:
        return ""
    what = "1 recommended item is" if count == 1 else f"{count} recommended items are"
    end = "it is not counted" if count == 1 else "they are not counted"
    return f"{what} in the part of the user's past that the prompt does not show; {end}"


def _hidden_recommended(asked: Asked) -> int:
    """How many hidden items the answers of a user recommend."""
    count = 0
    for answer in asked.answers:
        recommended = answer.items[: asked.request.k]
        count += sum(item in asked.hidden for item in recommended)
    return count

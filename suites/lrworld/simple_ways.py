"""Simple ways to answer the questions, without knowing
anything of their texts' meaning.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from pytest_recsys_mt.suites.lrworld.question import Question

Scores = Sequence[float]


def _alphabetical(question: Question) -> Scores:
    first = min(option.casefold() for option in question.options)
    return [float(option.casefold() == first) for option in question.options]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _in_common(question: Question) -> Scores:
    shown = _words(str(list(question.shown.values())))
    return [float(len(_words(option) & shown)) for option in question.options]


BASELINES: Final[Mapping[str, Callable[[Question], Scores | None]]] = {
    "guessing": lambda question: [0.0] * len(question.options),
    "popularity": lambda question: question.evidence.get("popularities"),
    "itemknn": lambda question: question.evidence.get("nearness"),
    "shortest": lambda question: [-float(len(option)) for option in question.options],
    "alphabetical": _alphabetical,
    "words": _in_common,
}
"""By name: the score of each option, of which the
greatest is chosen; None if it is unknown.
"""


def credits_of(name: str, questions: Sequence[Question]) -> dict[str, float] | None:
    """The credits of a baseline in each question, by the name of the question.

    It chooses the option with its greatest score, at random among equal ones: its
    credit is the probability that this is the right one. ``popularity`` has the most
    interactions, ``itemknn`` is nearest to what is shown by the cosine of who has the
    items, without the asked user; ``words`` has most words in common with it. None if a
    question says nothing of what the baseline needs, as in files of older versions.
    """
    found = {}
    for question in questions:
        scores = BASELINES[name](question)
        if scores is None:
            return None
        best = [place for place, score in enumerate(scores) if score == max(scores)]
        found[question.id] = (question.answer in best) / len(best)
    return found


def baselines(questions: Sequence[Question]) -> dict[str, float]:
    """The share of right answers that each baseline
    expects, by its name; see `credits_of`.
    """
    found = {name: credits_of(name, questions) for name in BASELINES}
    return {
        name: round(sum(values.values()) / len(values), 6)
        for name, values in found.items()
        if values
    }

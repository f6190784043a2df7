"""The task of the prompt in other words.

The built-in templates state the task in fixed sentences. Each of them is replaced by
one of `VARIANTS` hand-written paraphrases; numbers, titles and format rules stay. Your
own template does not have them, so one sentence is added in front that
restates the task and asks for nothing new. So every template gives a different prompt
for the same task.

Source:
    This project; paraphrasing as a relation for language models is in METAL,
    https://arxiv.org/abs/2312.06056.

Example:
    >>> ParaphraseTask(0)("Act as a recommender system for one user and make recommendations.")
    'You are a recommender system. Recommend something to the following user.'
    >>> print(ParaphraseTask(2)("She saw Click. What next?"))
    Please act as a recommender: find what suits this user best.
    She saw Click. What next?
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pytest_recsys_mt.relations.sources import METAL
from pytest_recsys_mt.relations.transformation import prompt_edit

VARIANTS: Final = 3

# Wording (``#`` stands for a number, a space for any white space) and its paraphrases.
_SENTENCES: Final[Mapping[str, tuple[str, str, str]]] = {
    "Act as a recommender system for one user and make recommendations.": (
        "You are a recommender system. Recommend something to the following user.",
        "In the part of a recommender system, recommend something to this user.",
        "As a recommender system, come up with recommendations for the user described here.",
    ),
    "Answer with # recommendations": (
        "Return # recommendations",
        "Name # recommendations",
        "I would like to get # recommendations from you",
    ),
    "You are an AI expert on movies, here to help. Your task: recommend movies on the basis of what a "
    "user has watched so far.": (
        "You are an AI that knows movies well. Recommend movies that suit what a user watched.",
        "Your task, as an expert on movies: recommend some on the basis of a watch history.",
        "As a helpful expert on movies, recommend a collection of them to the user below.",
    ),
    "Recommend # items that suit this user, the best one first": (
        "Name # items that this user would like, the best one first",
        "Which # items fit this user's taste? List them, the best one first",
        "Give this user # recommendations, the best one first",
    ),
    "List # movies.": (
        "Name # movies.",
        "Your list has # movies.",
        "Write down # movies.",
    ),
    "Write the list of movies now!": (
        "Now write your movies down!",
        "The movies, please!",
        "Now it is your turn: the list!",
    ),
}

_RESTATEMENTS: Final = (
    "The task in one sentence: recommend to this user what they would like most.",
    "What follows asks you for recommendations that fit this user's taste.",
    "Please act as a recommender: find what suits this user best.",
)


def _pattern(wording: str) -> re.Pattern[str]:
    words = (re.escape(word).replace(r"\#", r"(\d+)") for word in wording.split())
    return re.compile(r"\s+".join(words))


_PATTERNS: Final = tuple(
    (_pattern(wording), others) for wording, others in _SENTENCES.items()
)


@dataclass(frozen=True)
class ParaphraseTask:
    """State the task in the words of `variant`, a number from 0 to ``VARIANTS - 1``."""

    variant: int

    def __call__(self, text: str, /) -> str:
        found = False
        for pattern, others in _PATTERNS:
            # A template states each sentence once; a second match could be part of a
            # title.
            text, replaced = pattern.subn(
                others[self.variant].replace("#", r"\1"),
                text,
                count=1,
            )
            found = found or replaced > 0
        return text if found else f"{_RESTATEMENTS[self.variant]}\n{text}"


paraphrase_task = prompt_edit(
    "paraphrase_task",
    lambda rng: ParaphraseTask(int(rng.integers(VARIANTS))),
    promise="The ranking stays the same when the prompt states the task in other words.",
    origin=METAL,
)

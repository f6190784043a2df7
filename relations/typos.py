"""Typing errors inside the longer words of the prompt."""

import random
import re
from dataclasses import dataclass

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import below, edit_seed, here_and_there
from pytest_recsys_mt.relations.sources import CHECKLIST
from pytest_recsys_mt.relations.transformation import Transformation, prompt_edit, usual

_WORD = re.compile(r"[^\W\d_]{4,}")


@dataclass(frozen=True)
class Typos:
    """Make one typo in each word of four or more letters
    with probability `rate`, at least once.
    """

    rate: float
    seed: int

    def __call__(self, text: str, /) -> str:
        return here_and_there(text, _WORD, _slip, self.rate, self.seed)


def _slip(word: str, draws: random.Random) -> str:
    kind = below(3, draws)
    unlike = [at for at in range(1, len(word) - 2) if word[at] != word[at + 1]]
    if kind == 0 and unlike:
        at = unlike[below(len(unlike), draws)]
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    at = 1 + below(len(word) - 2, draws)
    return word[:at] + word[at + 1 :] if kind == 1 else word[:at] + word[at] + word[at:]


@usual(0.05)
@usual(0.2)
def typos(rate: float = 0.1) -> Transformation:
    """Make typos in the longer words of the prompt: swap, drop or double a letter.

    Each word of four or more letters gets one with probability `rate`, in (0, 1], and
    at least one word does. First and last letters and words of up to three letters
    stay, so a person can still read every word.

    It is not applicable to recommenders that read no text.

    Example:
        >>> Typos(rate=0.5, seed=0)("Given a user, provide recommendations")
        'Given a user, proide recommmendations'
    """
    plain = arguments.share("typos", "rate", rate)
    return prompt_edit(
        ("typos", plain),
        lambda rng: Typos(plain, edit_seed(rng)),
        promise="The ranking stays the same when words of the prompt are mistyped.",
        origin=CHECKLIST,
    )

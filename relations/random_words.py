"""MR4 of the metamorphic paper: irrelevant words between the words of the prompt."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import below, edit_seed, here_and_there
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import (
    Transformation,
    call_name,
    prompt_edit,
    usual,
)
from pytest_recsys_mt.safety.errors import RelationError

FRUIT = ("apple", "grape", "banana", "pear")
"""The words that the paper names, in its order."""

PAPER_RATE = 0.19
"""The paper's example has 10 words in the 52 gaps between the words of its prompt."""

_GAP = re.compile(r"(?<=\S)\s+(?=\S)")


@dataclass(frozen=True)
class RandomWords:
    """Insert one of `words` into each gap between two words with probability `rate`, at
    least once; line breaks stay.
    """

    words: tuple[str, ...]
    rate: float
    seed: int

    def __call__(self, text: str, /) -> str:
        return here_and_there(text, _GAP, self._filled, self.rate, self.seed)

    def _filled(self, gap: str, draws: random.Random) -> str:
        return f" {self.words[below(len(self.words), draws)]}{gap}"


@usual(rate=0.05)
@usual()
@usual(("kiwi", "fig"), 0.5)
def random_words(
    words: Sequence[str] = FRUIT,
    rate: float = PAPER_RATE,
) -> Transformation:
    """Insert words that are unrelated to the task between the words of the prompt.

    Each gap between two words gets one of `words`, drawn uniformly, with probability
    `rate`, in (0, 1], and at least one gap does.

    It is not applicable to recommenders that read no text.

    Source:
        MR4 in Table 1 of https://arxiv.org/abs/2411.12121, with its four fruit as
        default words. Its example inserts 10 of them into 52 gaps, a rate of 0.19,
        which is the default rate. The printed follow-up also has "one movie per line
        and don't give any explanation". This is a second change, so it is left out
        here.

    Example:
        >>> RandomWords(("banana", "pear"), rate=0.4, seed=1)("The user 509 likes these films")
        'The banana user 509 likes pear these films'
    """
    if isinstance(words, str) or not isinstance(words, Sequence) or not words:
        raise RelationError(
            f"random_words: words must be a sequence of at least one word, such as "
            f"('apple', 'pear'), got {words!r}; to change only the rate, write random_words(rate=0.1)",
        )
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise RelationError(
                f"random_words: every word must be a text, got {word!r}",
            )
    plain = tuple(str(word) for word in words)
    share = arguments.share("random_words", "rate", rate)
    return prompt_edit(
        (
            call_name("random_words", rate=share)
            if plain == FRUIT
            else call_name("random_words", plain, share)
        ),
        lambda rng: RandomWords(plain, share, edit_seed(rng)),
        promise="The ranking stays the same when the prompt has meaningless words between its words.",
        origin=METAMORPHIC,
    )

"""MR4 of the metamorphic paper: irrelevant words between the words of the prompt."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.errors import RelationError
from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import below, edit_seed, some_of
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import Generator, Transformation, call_name, usual
from pytest_recsys_mt.requests import Request, World

FRUIT = ("apple", "grape", "banana", "pear")
"""The words that the paper names, in its order."""

PAPER_RATE = 0.19
"""The paper's example has 10 words in the 52 gaps between the words of its prompt."""

_GAP = re.compile(r"(?<=\S)\s+(?=\S)")


@dataclass(frozen=True)
class RandomWords:
    """Insert one of `words` into each gap between two words with probability `rate`, at least once; line breaks stay."""

    words: tuple[str, ...]
    rate: float
    seed: int

    def __call__(self, text: str, /) -> str:
        draws = random.Random(self.seed)
        gaps = [match.start() for match in _GAP.finditer(text)]
        chosen = some_of(len(gaps), self.rate, draws)
        return "".join(self._parts(text, [gaps[place] for place in sorted(chosen)], draws))

    def _parts(self, text: str, places: Sequence[int], draws: random.Random) -> Iterator[str]:
        start = 0
        for place in places:
            yield f"{text[start:place]} {self.words[below(len(self.words), draws)]}"
            start = place
        yield text[start:]


@usual(rate=0.05)
@usual()
@usual(("kiwi", "fig"), 0.5)
def random_words(words: Sequence[str] = FRUIT, rate: float = PAPER_RATE) -> Transformation:
    """Insert words that are unrelated to the task between the words of the prompt.

    Each gap between two words gets one of `words`, drawn uniformly, with probability `rate`, in (0, 1], and at least one
    gap does.

    It is not applicable to recommenders that read no text.

    Source:
        MR4 in Table 1 of https://arxiv.org/abs/2411.12121, with its four fruit as default words.
        Its example inserts 10 of them into 52 gaps, a rate of 0.19, which is the default rate. The
        printed follow-up also has "one movie per line and don't give any explanation". This is a
        second change, so it is left out here.

    Example:
        >>> RandomWords(("banana", "pear"), rate=0.4, seed=1)("The user 509 likes these films")
        'The banana user 509 likes pear these films'
    """
    if isinstance(words, str) or not isinstance(words, Sequence) or not words:
        raise RelationError(
            f"random_words: words must be a sequence of at least one word, such as "
            f"('apple', 'pear'), got {words!r}; to change only the rate, write random_words(rate=0.1)"
        )
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise RelationError(f"random_words: every word must be a text, got {word!r}")
    plain = tuple(str(word) for word in words)
    share = arguments.share("random_words", "rate", rate)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        return request.replace(edits=(*request.edits, RandomWords(plain, share, edit_seed(rng))))

    return Transformation(
        name=(
            call_name("random_words", rate=share)
            if plain == FRUIT
            else call_name("random_words", plain, share)
        ),
        apply=apply,
        promise="The ranking stays the same when the prompt has meaningless words between its words.",
        changes=frozenset({"edits"}),
        needs=frozenset({"text"}),
        origin=METAMORPHIC,
    )

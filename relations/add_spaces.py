"""MR3 of the metamorphic paper: stray spaces inside the words of the prompt."""

import random
from dataclasses import dataclass

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import edit_seed, some_of
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import Generator, Transformation, call_name, usual
from pytest_recsys_mt.requests import Request, World

PAPER_RATE = 0.32
"""The paper's example has 69 extra spaces at the 218 places between two visible characters."""


@dataclass(frozen=True)
class AddSpaces:
    """Insert a space between two visible characters with probability `rate`, at least once."""

    rate: float
    seed: int

    def __call__(self, text: str, /) -> str:
        places = [
            at
            for at in range(1, len(text))
            if not text[at - 1].isspace() and not text[at].isspace()
        ]
        chosen = some_of(len(places), self.rate, random.Random(self.seed))
        spaced = {places[place] for place in chosen}
        return "".join(f" {char}" if at in spaced else char for at, char in enumerate(text))


@usual(0.1)
@usual(0.3)
def add_spaces(rate: float = PAPER_RATE) -> Transformation:
    """Insert spaces between visible characters of the prompt, each with probability `rate` in (0, 1], and at least one.

    It is not applicable to recommenders that read no text.

    Source:
        MR3 in Table 1 of https://arxiv.org/abs/2411.12121. Its example inserts 69 spaces at 218
        places between two visible characters, a rate of 0.32, which is the default.

    Example:
        >>> AddSpaces(rate=0.3, seed=0)("provide recommendations")
        'prov ide recomme nda tions'
    """
    plain = arguments.share("add_spaces", "rate", rate)

    def apply(request: Request, rng: Generator, world: World) -> Request:
        return request.replace(edits=(*request.edits, AddSpaces(plain, edit_seed(rng))))

    return Transformation(
        name=call_name("add_spaces", plain),
        apply=apply,
        promise="The ranking stays the same when the prompt has stray spaces inside its words.",
        changes=frozenset({"edits"}),
        needs=frozenset({"text"}),
        origin=METAMORPHIC,
    )

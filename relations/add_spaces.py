"""MR3 of the metamorphic paper: stray spaces inside the words of the prompt."""

import re
from dataclasses import dataclass

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.drawing import edit_seed, here_and_there
from pytest_recsys_mt.relations.sources import METAMORPHIC
from pytest_recsys_mt.relations.transformation import Transformation, prompt_edit, usual

PAPER_RATE = 0.32
"""The paper's example has 69 extra spaces at the 218
places between two visible characters.
"""

_BETWEEN = re.compile(r"(?<=\S)(?=\S)")


@dataclass(frozen=True)
class AddSpaces:
    """Insert a space between two visible characters with
    probability `rate`, at least once.
    """

    rate: float
    seed: int

    def __call__(self, text: str, /) -> str:
        return here_and_there(text, _BETWEEN, lambda *_: " ", self.rate, self.seed)


@usual(0.1)
@usual(0.3)
def add_spaces(rate: float = PAPER_RATE) -> Transformation:
    """Insert spaces between visible characters of the prompt, each with probability
    `rate` in (0, 1], and at least one.

    It is not applicable to recommenders that read no text.

    Source:
        MR3 in Table 1 of https://arxiv.org/abs/2411.12121. Its example inserts 69
        spaces at 218 places between two visible characters, a rate of 0.32, which is
        the default.

    Example:
        >>> AddSpaces(rate=0.3, seed=0)("provide recommendations")
        'prov ide recomme nda tions'
    """
    plain = arguments.share("add_spaces", "rate", rate)
    return prompt_edit(
        ("add_spaces", plain),
        lambda rng: AddSpaces(plain, edit_seed(rng)),
        promise="The ranking stays the same when the prompt has stray spaces inside its words.",
        origin=METAMORPHIC,
    )

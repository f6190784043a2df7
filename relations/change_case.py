"""The prompt in upper case or in lower case."""

from dataclasses import dataclass
from typing import Literal

from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.sources import METAL
from pytest_recsys_mt.relations.transformation import Transformation, prompt_edit, usual


@dataclass(frozen=True)
class ChangeCase:
    """Write the text in `mode`: ``upper`` or ``lower``."""

    mode: str

    def __call__(self, text: str, /) -> str:
        return text.upper() if self.mode == "upper" else text.lower()


@usual("upper")
@usual("lower")
def change_case(mode: Literal["upper", "lower"] = "upper") -> Transformation:
    """Write the whole prompt in ``upper`` or in ``lower`` case.

    It is not applicable to recommenders that read no text.

    Example:
        >>> ChangeCase("upper")("The user likes Click (2006) 1/5")
        'THE USER LIKES CLICK (2006) 1/5'
    """
    plain = arguments.choice("change_case", "mode", mode, ("upper", "lower"))
    return prompt_edit(
        ("change_case", plain),
        lambda rng: ChangeCase(plain),
        promise="The ranking stays the same when the prompt is written in another case.",
        origin=METAL,
    )

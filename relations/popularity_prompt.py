"""The instructions of the popularity paper: recommend
items that are as popular, or less popular.
"""

from typing import Literal

from pytest_recsys_mt.llm.prompt_texts import text
from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.sources import POPULARITY
from pytest_recsys_mt.relations.transformation import (
    Generator,
    Transformation,
    built_in,
    usual,
)
from pytest_recsys_mt.requests import Request, World

_PROMISES = {
    "mitigate": "The popularity of the recommendations moves towards that of the history.",
    "minimize": "The recommendations become less popular.",
}


@usual("minimize")
@usual("mitigate")
def popularity_prompt(mode: Literal["mitigate", "minimize"]) -> Transformation:
    """Add an instruction, ``mitigate`` or ``minimize``, about how popular the
    recommendations should be.

    An earlier instruction of the request stays in front. It is not applicable to
    recommenders that read no text, or to a request with this instruction.

    Source:
        Section 4.5 of https://arxiv.org/abs/2406.01285; the two instructions mean what
        the paper's mean; ``--recsys-prompts`` takes others.

    Example:
        >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
        >>> print(popularity_prompt("minimize")(request, np.random.default_rng(0)).instruction)
        Recommend independent, niche or lesser-known titles, and stay away from mainstream blockbusters.
    """
    plain = arguments.choice("popularity_prompt", "mode", mode, tuple(_PROMISES))

    def apply(request: Request, rng: Generator, world: World) -> Request:
        return instructed(request, text(f"instructions.{plain}"))

    return built_in(
        ("popularity_prompt", plain),
        apply=apply,
        promise=_PROMISES[plain],
        changes={"instruction"},
        origin=POPULARITY,
    )

"""The instructions of the popularity paper: recommend what is as popular, or less popular."""

from typing import Literal

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.prompt_texts import text
from pytest_recsys_mt.relations import arguments
from pytest_recsys_mt.relations.sources import POPULARITY
from pytest_recsys_mt.relations.transformation import Generator, Transformation, call_name, usual
from pytest_recsys_mt.requests import Request, World

_PROMISES = {
    "mitigate": "The popularity of the recommendations moves towards that of the history.",
    "minimize": "The recommendations become less popular.",
}


@usual("minimize")
@usual("mitigate")
def popularity_prompt(mode: Literal["mitigate", "minimize"]) -> Transformation:
    """Add an instruction about how popular the recommendations should be.

    Source:
        Section 4.5 of https://arxiv.org/abs/2406.01285; the two instructions mean what the
        paper's mean; ``--recsys-prompts`` takes others.

    Example:
        >>> import numpy as np
        >>> from pytest_recsys_mt.requests import Request, Scale
        >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
        >>> print(popularity_prompt("minimize")(request, np.random.default_rng(0)).instruction)
        Recommend independent, niche or lesser-known titles, and stay away from mainstream blockbusters.

    Args:
        mode: ``"mitigate"`` or ``"minimize"``.

    Returns:
        The transformation. An earlier instruction of the request stays in front. It is not
        applicable to recommenders that read no text, or to a request with this instruction.

    Raises:
        RelationError: If `mode` is neither.
    """
    plain = arguments.choice("popularity_prompt", "mode", mode, tuple(_PROMISES))

    def apply(request: Request, rng: Generator, world: World) -> Request:
        added = text(f"instructions.{plain}")
        if added in request.instruction:
            raise NotApplicable("the request already has this instruction")
        return request.replace(instruction=f"{request.instruction} {added}".strip())

    return Transformation(
        name=call_name("popularity_prompt", plain),
        apply=apply,
        promise=_PROMISES[plain],
        changes=frozenset({"instruction"}),
        needs=frozenset({"text"}),
        origin=POPULARITY,
    )

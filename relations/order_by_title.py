"""A sentence that asks for the order of the alphabet, whatever the user's taste.

A recommender that reads instructions must answer differently.

Source:
    This project.

Example:
    >>> import numpy as np
    >>> from pytest_recsys_mt.requests import Request, Scale
    >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
    >>> order_by_title(request, np.random.default_rng(0)).instruction
    'Order your answer by title, from Z to A, and by nothing else.'

Raises:
    NotApplicable: If the request already has this sentence.
"""

from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.prompt_texts import text
from pytest_recsys_mt.relations.sources import HOUSE
from pytest_recsys_mt.relations.transformation import Generator, Transformation
from pytest_recsys_mt.requests import Request, World


def _apply(request: Request, rng: Generator, world: World) -> Request:
    sentence = text("instructions.order_by_title")
    if sentence in request.instruction:
        raise NotApplicable("the request already has this sentence")
    return request.replace(instruction=f"{request.instruction} {sentence}".strip())


order_by_title = Transformation(
    name="order_by_title",
    apply=_apply,
    promise="The answer changes when the prompt asks for the order of titles.",
    promises_change=True,
    changes=frozenset({"instruction"}),
    needs=frozenset({"text"}),
    origin=HOUSE,
)

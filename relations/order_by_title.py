"""A sentence that asks for the order of the alphabet, regardless of the user's taste.

A recommender that reads instructions must answer differently.

It is not applicable if the request already has this sentence.

Example:
    >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
    >>> order_by_title(request, np.random.default_rng(0)).instruction
    'Order your answer by title, from Z to A, and by nothing else.'
"""

from pytest_recsys_mt.llm.prompt_texts import text
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World


@transformation(
    promise="The answer changes when the prompt asks for the order of titles.",
    promises_change=True,
    changes={"instruction"},
)
def order_by_title(request: Request, rng: Generator, world: World) -> Request:
    return instructed(request, text("instructions.order_by_title"), "sentence")

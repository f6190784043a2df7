"""A sentence that points at the user's latest item.

It is not applicable if the history is empty, or the request already has this sentence.

Source:
    The recency-focused prompt of "Large Language Models are Zero-Shot Rankers", section
    3.1 of https://arxiv.org/abs/2305.08845, one of the strategies of
    https://arxiv.org/abs/2411.00331. The sentence is our own. The item stays in the
    history.

Example:
    >>> history = (Rating(Item("1", "Heat", 1995), 4), Rating(Item("2", "Fargo", 1996), 5))
    >>> request = Request("u", history, Scale(), candidates=None, k=5)
    >>> focus_on_recent(request, np.random.default_rng(0)).instruction
    'Mind above all what this user chose last: Fargo (1996).'
"""

from pytest_recsys_mt.llm.prompt_texts import said
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.sources import ZERO_SHOT_RANKERS
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer is not worse when the prompt points at the latest item.",
    changes={"instruction"},
    needs={"ratings", "text"},
    origin=ZERO_SHOT_RANKERS,
)
def focus_on_recent(request: Request, rng: Generator, world: World) -> Request:
    if not request.history:
        raise NotApplicable("the history is empty")
    added = said("instructions.focus_on_recent", item=request.history[-1].item.label)
    return instructed(request, added, "sentence")

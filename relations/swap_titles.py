"""Each item of a request with the title of another one.

The titles of the history and of the candidates change places at random. It shows
whether a recommender reads titles at all: one that knows items by their ids gives the
same answer.

It is not applicable if all items have one title.

Example:
    >>> films = (Item("a", "Alien"), Item("b", "Babe"))
    >>> request = Request("u", history=(), scale=Scale(), candidates=films, k=2)
    >>> [item.title for item in swap_titles(request, np.random.default_rng(0)).candidates]
    ['Babe', 'Alien']
"""

from pytest_recsys_mt.relations.spell_titles import with_titles
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="The answer changes when titles change places.",
    promises_change=True,
    changes={"history", "candidates"},
    needs=(),
    aspect="titles",
)
def swap_titles(request: Request, rng: Generator, world: World) -> Request:
    items = [rating.item for rating in request.history] + [*(request.candidates or ())]
    ids = [*dict.fromkeys(item.id for item in items)]
    known = {item.id: item.title for item in items}
    if len(set(known.values())) < 2:
        raise NotApplicable("all items have one title")
    # Each id gets the title of the next in a random cycle, so none keeps its own unless
    # two share it.
    order = [ids[at] for at in rng.permutation(len(ids))]
    following = dict(zip(order, [*order[1:], order[0]], strict=True))
    return with_titles(request, lambda item: known[following[item.id]])

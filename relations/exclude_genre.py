"""An instruction that excludes one genre.

The genre is the one that most candidates have, of those that leave enough others to
fill the answer. For an open question it is the most frequent genre of the history,
which a recommender is likely to name. `pytest_recsys_mt.oracles.exclusion_kept` judges
what of it is recommended all the same.

It is not applicable if no genre is known that can be excluded, or the request has this
instruction.

Source:
    This project; what CheckList (https://arxiv.org/abs/2005.04118) calls a minimum
    functionality test.

Example:
    >>> films = [Item("a", attributes={"genres": ("Horror",)}), Item("b"), Item("c")]
    >>> request = Request("u", history=(), scale=Scale(), candidates=tuple(films), k=2)
    >>> exclude_genre(request, np.random.default_rng(0)).instruction
    'Recommend nothing of the genre "Horror".'
"""

from collections import Counter
from collections.abc import Iterable

from pytest_recsys_mt.llm.prompt_texts import said
from pytest_recsys_mt.relations.histories import instructed
from pytest_recsys_mt.relations.transformation import Generator, transformation
from pytest_recsys_mt.requests import Item, Request, World
from pytest_recsys_mt.safety.errors import NotApplicable


@transformation(
    promise="Nothing of a genre is recommended to who asks for nothing of it.",
    changes={"instruction"},
)
def exclude_genre(request: Request, rng: Generator, world: World) -> Request:
    if request.candidates is None:
        counts = _counted(rating.item for rating in request.history)
    else:
        most = len(request.candidates) - request.k
        found = _counted(request.candidates)
        counts = Counter(
            {genre: count for genre, count in found.items() if count <= most},
        )
    if not counts:
        raise NotApplicable(
            "no genre is known that can be excluded and leaves enough to recommend",
        )
    genre = min(counts, key=lambda each: (-counts[each], each))
    return instructed(request, said("instructions.exclude_genre", genre=genre))


def _counted(items: Iterable[Item]) -> Counter[str]:
    return Counter(
        genre
        for item in items
        for genre in dict.fromkeys(item.attributes.get("genres", ()))
        if isinstance(genre, str) and genre.strip() and '"' not in genre
    )

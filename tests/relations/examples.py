"""Small requests, a small world, and every relation with usual arguments."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_recsys_mt import relations
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Item, Rating, Request, Scale, World
from tests.support.llm import Template
from tests.support.relations import usual_of

PRINTED = Template(
    "printed",
    "Given a user, as a recommender system, provide recommendations. The user {user} likes the "
    "following items: {history}. ({low} being lowest and {high} being highest ). Give me back {k} "
    "recommendations",
)
"""The prompt as Table 1 of the metamorphic paper prints it."""


def _title(number: int) -> str:
    if number >= 77:
        return f"FILM {number - 76}"  # a namesake of one of the first films
    return f"Film {number}" if number % 4 else f"Café {number}"


CATALOGUE = tuple(
    Item(
        f"i{number:03d}",
        _title(number),
        1950 + number,
        {"genres": ("Odd",) if number % 2 else ("Even", f"Of {number % 5}")},
    )
    for number in range(80)
)
"""Requests take their items from the first half, so the second half is always stray."""

HALF = len(CATALOGUE) // 2

WORLD = World(
    catalogue=CATALOGUE,
    histories={
        f"u{user}": tuple(
            Rating(
                CATALOGUE[(7 * user + step) % len(CATALOGUE)],
                1.0 + step % 5,
                1000 * step,
            )
            for step in range(25)
        )
        for user in range(12)
    },
    relevant={user: frozenset({"i030"}) for user in ("me", "u3", "509")},
    neighbours={
        item.id: tuple(
            CATALOGUE[(place + step) % HALF].id for step in (1, 7, 12, 18, 23)
        )
        for place, item in enumerate(CATALOGUE[:HALF])
    },
)

PAPER_USER = Request(
    user="509",
    history=tuple(
        Rating(Item(str(number), title, year), value)
        for number, (title, year, value) in enumerate(
            [
                ("Dukes of Hazzard, The", 2005, 2.0),
                ("Miss Congeniality", 2000, 3.0),
                ("Click", 2006, 1.0),
                ("Ultraviolet", 2006, 2.0),
                ("Monty Python and the Holy Grail", 1975, 4.0),
            ],
        )
    ),
    scale=Scale(1, 5),
    candidates=None,
    k=5,
)
"""The user of the metamorphic paper's Table 1."""

PROFILES = {
    user: f"The user {user} likes slow films." for user in ("me", "u3", "509", "user-7")
}

USUAL: tuple[Transformation, ...] = tuple(
    each for name in relations.__all__ for each in usual_of(getattr(relations, name))
)
"""Every public relation, with the arguments of a usual run."""


def request(
    *,
    items: tuple[int, ...] = tuple(range(10)),
    values: tuple[float, ...] = (),
    candidates: tuple[int, ...] | None = tuple(range(20, 40)),
    scale: Scale = Scale(1, 5),  # noqa: B008 - frozen
    k: int = 5,
    user: str = "me",
    timed: bool = True,
    instruction: str = "",
) -> Request:
    """A request whose items are given by their positions in `CATALOGUE`."""
    values = values or tuple(1.0 + position % 5 for position in range(len(items)))
    return Request(
        user=user,
        history=tuple(
            Rating(CATALOGUE[item], value, 1000 + 60 * position if timed else None)
            for position, (item, value) in enumerate(zip(items, values, strict=True))
        ),
        scale=scale,
        candidates=None
        if candidates is None
        else tuple(CATALOGUE[item] for item in candidates),
        k=k,
        instruction=instruction,
    )


@st.composite
def requests(draw: st.DrawFn, min_history: int = 0) -> Request:
    """Requests over the first half of `CATALOGUE`, with or
    without candidates and timestamps.
    """
    order = draw(st.permutations(range(HALF)))
    size = draw(st.integers(min_history, 12))
    scale = draw(
        st.sampled_from([Scale(1, 5), Scale(0.5, 5), Scale(0, 1), Scale(-10, 10)]),
    )
    step = draw(st.sampled_from([1.0, 0.5]))
    top = int((scale.high - scale.low) / step)
    ranks = draw(st.lists(st.integers(0, top), min_size=size, max_size=size))
    offered = draw(st.one_of(st.none(), st.integers(0, HALF - size)))
    start = draw(st.integers(-(10**6), 2**31))
    gaps = draw(st.lists(st.integers(0, 10**4), min_size=size, max_size=size))
    timed = draw(st.booleans())
    moments = [start + sum(gaps[: position + 1]) for position in range(size)]
    return Request(
        user=draw(st.sampled_from(["me", "u3", "509", "user-7", ""])),
        history=tuple(
            Rating(CATALOGUE[item], scale.low + step * rank, moment if timed else None)
            for item, rank, moment in zip(order, ranks, moments, strict=False)
        ),
        scale=scale,
        candidates=(
            None
            if offered is None
            else tuple(CATALOGUE[item] for item in order[size : size + offered])
        ),
        k=draw(st.integers(1, 15)),
        instruction=draw(st.sampled_from(["", "Prefer short films."])),
    )

"""How often the reading of a failure names a trait although the changes have none, and
what it names where they have one.

    python -m benchmarks.reading [--runs 2000]

Prints Markdown, in a minute or two on one core. Users, items and lists are drawn; then
some lists change, by one of `CHANGES`: those of users drawn at random, or those that
one of `FAULTS` hits.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks.tables import table
from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.oracles.judging.shared import what_is_shared
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from pytest_recsys_mt.verdict.answers import Asked, Context, Pairs
from pytest_recsys_mt.verdict.verdict import SHARED

ITEMS = 400
OFFERED = 150
K = 10
GENRES = ("Action", "Comedy", "Crime", "Drama", "Horror", "Romance", "War", "Western")
JOBS = ("baker", "cook", "driver", "nurse", "pilot", "writer")
LEANINGS = ("the same for all", "popular", "personal")
"""How much the lists of users are alike."""

Rng = np.random.Generator
Change = Callable[[list[str], Sequence[str], Rng], list[str]]
"""Takes a list, what is offered beyond it, and a
generator; returns the list as it became.
"""


@dataclass(frozen=True)
class World:
    """Users with their lists, before anything changed."""

    asked: Sequence[Asked]
    context: Context
    rankings: Sequence[Sequence[str]]  # of all that a user is offered, best first

    @property
    def lists(self) -> list[list[str]]:
        """The first `K` of each ranking."""
        return [list(ranking[:K]) for ranking in self.rankings]


def drawn(rng: Rng, users: int, leaning: str = "popular") -> World:
    """Users and items at random."""
    counts = np.sort(rng.zipf(1.6, ITEMS).clip(0, 5000))[::-1] - 1
    items = [_item(f"m{number:03}", rng) for number in rng.permutation(ITEMS)]
    popularity = dict(zip((item.id for item in items), counts.tolist(), strict=True))
    context = Context(
        deterministic=True,
        items={i.id: i for i in items},
        popularity=popularity,
    )
    weight = {"the same for all": 0.0, "popular": 1.0, "personal": 30.0}[leaning]
    asked, rankings = [], []
    for user in rng.choice(1000, users, replace=False):
        size = int(rng.lognormal(3.3, 0.8)) + 3
        own = rng.integers(0, ITEMS, min(size, 300))
        offered = [items[at] for at in rng.permutation(ITEMS)[:OFFERED]]
        latest = 1_700_000_000 - int(rng.exponential(5e6))
        half = 1 + (rng.random() < 0.5)
        history = tuple(
            Rating(
                items[at],
                float(rng.integers(1 * half, 5 * half + 1) / half),
                latest - 60 * back,
            )
            for back, at in reversed(list(enumerate(own)))
        )
        facts = {"age": int(rng.integers(15, 80)), "job": str(rng.choice(JOBS))}
        request = Request(
            f"u{user:03}",
            history,
            Scale(),
            tuple(offered),
            K,
            attributes=facts,
        )
        score = {
            i.id: np.log1p(popularity[i.id]) + weight * rng.normal() for i in offered
        }
        rankings.append(sorted(score, key=lambda item: (-score[item], item)))
        asked.append(Asked(request, (Recommendation(tuple(rankings[-1][:K])),)))
    return World(asked, context, rankings)


def _item(name: str, rng: Rng) -> Item:
    words = rng.choice(("Night", "Day", "Storm", "River", "King", "Road", "Winter"), 2)
    title = " ".join(words)
    for share, more in (
        (0.3, " é"),
        (0.2, " 2"),
        (0.15, ", The"),
        (0.1, ": A Longer Second Title Here"),
    ):
        title += more if rng.random() < share else ""
    genres = tuple(sorted(set(rng.choice(GENRES, 2).tolist())))
    return Item(name, title, int(rng.integers(1940, 2024)), {"genres": genres})


def _swapped(items: list[str], rest: Sequence[str], rng: Rng) -> list[str]:
    one, two = rng.choice(len(items), 2, replace=False)
    items[one], items[two] = items[two], items[one]
    return items


def _replaced(items: list[str], rest: Sequence[str], rng: Rng) -> list[str]:
    items[rng.integers(len(items))] = str(rng.choice(rest))
    return items


def _dropped(items: list[str], rest: Sequence[str], rng: Rng) -> list[str]:
    del items[rng.integers(len(items))]
    return [*items, rest[0]]


def _inserted(items: list[str], rest: Sequence[str], rng: Rng) -> list[str]:
    items.insert(int(rng.integers(len(items))), str(rng.choice(rest)))
    return items[:-1]


def _shuffled(items: list[str], rest: Sequence[str], rng: Rng) -> list[str]:
    return [str(item) for item in rng.permutation(items)]


def _of_others(items: list[str], rest: Sequence[str], rng: Rng) -> list[str]:
    return [str(item) for item in rng.permutation(rest)[: len(items)]]


CHANGES: Mapping[str, Change] = {
    "two change places": _swapped,
    "one is replaced": _replaced,
    "one is dropped": _dropped,
    "one is inserted": _inserted,
    "all are shuffled": _shuffled,
    "all are replaced": _of_others,
}


def read(world: World, lists: Sequence[Sequence[str]]) -> dict[str, Any]:
    """What is said if the users' lists became these; empty if nothing is."""
    followup = [
        replace(one, answers=(Recommendation(tuple(items)),))
        for one, items in zip(world.asked, lists, strict=True)
    ]
    marked = np.array(
        [
            one.answers[0].items != other.answers[0].items
            for one, other in zip(world.asked, followup, strict=True)
        ],
    )
    effects = Effects(np.arange(len(marked)), marked.astype(float), (0.0, 1.0))
    pairs = Pairs(tuple(world.asked), tuple(followup))
    return what_is_shared(marked, effects, pairs, world.context)


def at_random(world: World, change: Change, share: float, rng: Rng) -> list[list[str]]:
    """The lists, where those of a share of the users, drawn at random, changed."""
    return [
        change(list(ranking[:K]), ranking[K:], rng)
        if rng.random() < share
        else list(ranking[:K])
        for ranking in world.rankings
    ]


def of_users(hit: Callable[[Request], bool]) -> Callable[[World, Rng], list[list[str]]]:
    """A fault that drops an item at random of the lists of some users."""

    def lists(world: World, rng: Rng) -> list[list[str]]:
        return [
            _dropped(list(ranking[:K]), ranking[K:], rng)
            if hit(one.request)
            else list(ranking[:K])
            for one, ranking in zip(world.asked, world.rankings, strict=True)
        ]

    return lists


def of_items(
    hit: Callable[[World, Request, str], bool],
) -> Callable[[World, Rng], list[list[str]]]:
    """A fault that loses some items of the offer."""

    def lists(world: World, rng: Rng) -> list[list[str]]:
        return [
            [item for item in ranking if not hit(world, one.request, item)][:K]
            for one, ranking in zip(world.asked, world.rankings, strict=True)
        ]

    return lists


def _place(at: int) -> Callable[[World, Rng], list[list[str]]]:
    def lists(world: World, rng: Rng) -> list[list[str]]:
        return [
            [
                *ranking[:at],
                ranking[int(rng.integers(K, len(ranking)))],
                *ranking[at + 1 : K],
            ]
            for ranking in world.rankings
        ]

    return lists


def _title(world: World, item: str) -> str:
    return world.context.items[item].title


def _popular(world: World, request: Request, item: str) -> bool:
    counts = world.context.popularity
    return counts[item] >= sorted(counts.values())[-20]


FAULTS: Mapping[str, tuple[Callable[[World, Rng], list[list[str]]], str]] = {
    "odd ids": (of_users(lambda one: int(one.user[1:]) % 2 == 1), "with an odd id"),
    "ids above 500": (of_users(lambda one: int(one.user[1:]) > 500), "with an id above"),
    "more than 50 in the history": (of_users(lambda one: len(one.history) > 50), "with more than 50 items"),
    "half stars": (
        of_users(lambda one: any(r.value % 1 for r in one.history)), "with ratings that are no whole",
    ),
    "cooks": (of_users(lambda one: one.attributes["job"] == "cook"), "whose job is cook"),
    "above 40 years": (of_users(lambda one: one.attributes["age"] > 40), "whose age is above"),
    "active in the last 30 days": (
        of_users(lambda one: (one.history[-1].timestamp or 0) > 1_700_000_000 - 2_592_000), "last 30 days",
    ),
    "odd ids and more than 20 in the history": (
        of_users(lambda one: int(one.user[1:]) % 2 == 1 and len(one.history) > 20), "with an odd id",
    ),
    "titles not in ASCII are lost": (of_items(lambda world, _, item: not _title(world, item).isascii()), "ASCII"),
    "titles with a digit are lost": (of_items(lambda world, _, item: "2" in _title(world, item)), "digit"),
    "horror is lost": (
        of_items(lambda w, _, item: "Horror" in w.context.items[item].attributes["genres"]), "Horror",
    ),
    "candidates beyond 100 are lost": (
        of_items(lambda _, one, item: item in {each.id for each in (one.candidates or ())[100:]}),
        "beyond place 100",
    ),
    "the 20 most popular are lost": (of_items(_popular), "20 most popular"),
    "place 7 is drawn": (_place(6), "place 7"),
}  # fmt: skip
"""What hits some lists, and what the sentence has to say."""


def false_alarms(runs: int) -> Iterator[tuple[str, ...]]:
    """How many random changes were given a trait, for
    each kind of change and each leaning.
    """
    for name, change in CHANGES.items():
        row = [name]
        for leaning in LEANINGS:
            said: Counter[str] = Counter()
            each = max(1, runs // (len(CHANGES) * len(LEANINGS)))
            for seed in range(each):
                rng = np.random.default_rng([seed, len(name), len(leaning)])
                world = drawn(rng, int(rng.choice((20, 40, 100, 200))), leaning)
                share = float(rng.choice((0.15, 0.3, 0.5, 0.8, 1.0)))
                if found := read(world, at_random(world, change, share, rng)):
                    said[found[SHARED]["trait"]] += 1
            told = "; ".join(
                f"{trait} ({count})" for trait, count in said.most_common(3)
            )
            row.append(f"{said.total()} of {each}{f': {told}' if told else ''}")
        yield tuple(row)


def named(runs: int) -> Iterator[tuple[str, ...]]:
    """How often each fault is named, by the number of users."""
    for name, (fault, words) in FAULTS.items():
        row, text = [name], ""
        for users in (30, 60, 100, 200):
            right = other = 0
            for seed in range(runs):
                rng = np.random.default_rng([seed, users])
                world = drawn(rng, users, "personal")
                said = read(world, fault(world, rng)).get(SHARED, {}).get("text", "")
                text = said or text
                right += words in said
                other += bool(said) and words not in said
            row.append(f"{right / runs:.0%}" + (f" ({other} others)" if other else ""))
        yield (*row, text)


def seconds(users: int = 200, tries: int = 20) -> list[float]:
    """How long it takes to read one failure, ascending."""
    found = []
    for seed in range(tries):
        rng = np.random.default_rng(seed)
        world = drawn(rng, users)
        lists = at_random(world, _dropped, 0.5, rng)
        start = time.process_time()
        read(world, lists)
        found.append(time.process_time() - start)
    return sorted(found)


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    print("## Random changes that are given a trait\n")
    print("\n".join(table(("lists", *LEANINGS), false_alarms(runs))))
    print("\n## Faults that are named\n")
    print(
        "\n".join(
            table(
                ("fault", "30 users", "60", "100", "200", "such as"),
                named(max(1, runs // 100)),
            ),
        ),
    )
    took = seconds()
    print(
        f"\n{1000 * took[len(took) // 2]:.1f} ms for 200 users, {1000 * took[-1]:.1f} at most",
    )


if __name__ == "__main__":
    main()

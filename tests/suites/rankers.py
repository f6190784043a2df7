"""Recommenders and text models with one planted fault
each, for the multidimensional suite.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from pytest_recsys_mt import Completion, Prompt, Request
from pytest_recsys_mt.datasets import Dataset, load
from tests.suites.faults import FirstCandidatesFirst, Sound


class WorstFirst(Sound):
    """Turns every list round."""

    def question(self, request: Request) -> Request:
        return (
            request.replace(k=len(request.candidates))
            if request.candidates
            else request
        )

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items[::-1][: request.k]


class OnlyBlockbusters(Sound):
    """Names nothing but the most popular fifth of the catalogue."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        order = sorted(dataset.items, key=lambda item: (dataset.popularity[item], item))
        self._hits = set(order[-len(order) // 5 :])

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item for item in items if item in self._hits) or items[:1]


class OneGenre(Sound):
    """Names only films that are of the same genres as another one."""

    def question(self, request: Request) -> Request:
        return (
            request.replace(k=len(request.candidates))
            if request.candidates
            else request
        )

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        genres = {
            item.id: item.attributes.get("genres", ())
            for item in request.candidates or ()
        }
        for first in items:
            alike = tuple(
                item for item in items if genres.get(item) == genres.get(first)
            )
            if len(alike) > 1:
                return alike[: request.k]
        return items[: request.k]


class OftenTheFirst(FirstCandidatesFirst):
    """Puts the first five candidates on top for half of the users."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return items if request.user[-1] in "02468" else super().answer(request, items)


class OneHit(Sound):
    """Names the most popular candidate, and nothing else."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._popularity = dataset.popularity

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        offered = [item.id for item in request.candidates or ()]
        return (max(offered, key=lambda item: (self._popularity[item], item)),)


class Knowing(Sound):
    """Knows what each user wants, and puts it into the place that `place` says.

    The fault can so be dosed: what it takes from one number it need not take from
    another.
    """

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        self._popularity = dataset.popularity
        everything = load("mini").interactions
        self._chosen = set(zip(everything["user"], everything["item"], strict=True))
        lengths = dataset.interactions.groupby("user").size()
        self._active = set(lengths.index[lengths > lengths.median()])

    def question(self, request: Request) -> Request:
        return (
            request.replace(k=len(request.candidates))
            if request.candidates
            else request
        )

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        wanted = [item for item in items if (request.user, item) in self._chosen]
        listed = [item for item in items if item not in wanted]
        for item in wanted:
            place = self.place(request, item)
            if place is not None:
                listed.insert(place - 1, item)
        return tuple(listed[: request.k])

    def place(self, request: Request, item: str) -> int | None:
        """From 1; None to leave it out."""
        return 1


class FifthAtBest(Knowing):
    """Finds what near to half of the users want, and puts it fifth."""

    def place(self, request: Request, item: str) -> int | None:
        return 5 if int(request.user[1:]) % 15 < 7 else None


class OnlyTheActive(Knowing):
    """Finds what users with long histories want, and nothing for others."""

    def place(self, request: Request, item: str) -> int | None:
        return 1 if request.user in self._active else None


class OnlyTheFew(Knowing):
    """Finds what one user in thirty wants, and nothing for others."""

    def place(self, request: Request, item: str) -> int | None:
        return 1 if int(request.user[1:]) % 30 == 0 else None


class OnlyThePopular(Knowing):
    """Finds what is wanted where it is of the most popular fifth of the catalogue."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        order = sorted(dataset.items, key=lambda item: (dataset.popularity[item], item))
        self._hits = set(order[-len(order) // 5 :])

    def place(self, request: Request, item: str) -> int | None:
        return 1 if item in self._hits else None


class OneForAll(Sound):
    """Ranks all candidates by their names, whoever asks."""

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted(item.id for item in request.candidates or ())[: request.k])


class KnownToEverybody(Sound):
    """Names the two most popular items of all, offered or not."""

    def fit(self, dataset: Dataset, seed: int) -> None:
        super().fit(dataset, seed)
        order = sorted(dataset.items, key=lambda item: (dataset.popularity[item], item))
        self._best = tuple(order[-2:])

    def answer(self, request: Request, items: tuple[str, ...]) -> tuple[str, ...]:
        return self._best


class Reader:
    """Ranks the candidates of the prompt by their number of ratings."""

    fingerprint = "ranker"
    deterministic = True
    sentence = "like films"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(self.answer(prompt.messages[-1].content)) for prompt in prompts
        ]

    @cached_property
    def popularity(self) -> dict[str, int]:
        dataset = load("mini")
        return {
            item.label: dataset.popularity[item.id] for item in dataset.items.values()
        }

    def answer(self, text: str) -> str:
        if text.startswith("Describe"):
            return "Somebody who likes films."
        offered = re.findall(r"^\d+\. (.+)$", text, re.MULTILINE)
        ranked = sorted(
            offered,
            key=lambda title: (-self.popularity.get(title, 0), title),
        )
        if self.is_confused(text):
            ranked.reverse()
        return "\n".join(
            f"{n}. {title}" for n, title in enumerate(self.named(text, ranked), 1)
        )

    def is_confused(self, text: str) -> bool:
        return False

    def named(self, text: str, ranked: list[str]) -> list[str]:
        return ranked[:10]


class ConfusedByProfiles(Reader):
    fingerprint = "profiles"

    def is_confused(self, text: str) -> bool:
        return "What is known of the user" in text


class LostWithoutHistory(Reader):
    fingerprint = "history"

    def is_confused(self, text: str) -> bool:
        return "A user chose these items" not in text


class ConfusedByTheLatest(Reader):
    fingerprint = "latest"

    def is_confused(self, text: str) -> bool:
        return "Mind above all" in text


class ConfusedByExamples(Reader):
    fingerprint = "examples"

    def is_confused(self, text: str) -> bool:
        return "For example, users" in text


class MindsTheWording(Reader):
    fingerprint = "wording"

    def is_confused(self, text: str) -> bool:
        return "items that suit this user, the best one first" not in text


class Invents(Reader):
    fingerprint = "invents"

    def named(self, text: str, ranked: list[str]) -> list[str]:
        return [*ranked[:8], "The Unfilmed Prairie", "The Unfilmed Harbour"]


class RepeatsTheHistory(Reader):
    fingerprint = "repeats"

    def named(self, text: str, ranked: list[str]) -> list[str]:
        found = re.search(r"oldest first: (.+)", text)
        films = re.findall(r"(?:^|, )(.+? \(\d{4}\))", found[1]) if found else []
        return [*ranked[:7], *films[:3]]

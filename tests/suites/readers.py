"""Text models that know the embedded films by their
number of ratings, for the suites to judge.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cached_property

from pytest_recsys_mt import Completion, Prompt
from pytest_recsys_mt.datasets import load

NICHE = "stay away from mainstream"
MATCH = "Match the average popularity"


class Reader:
    """Reads the watched films from the prompt and lists others of about their
    popularity.

    Two films of ten are of its own taste, so that its answers vary with the seed.
    """

    fingerprint = "reader"
    level = 0.0
    """By how many ranks of the catalogue its answers lie
    above the films it was told of.
    """

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(self.answer(prompt.messages[-1].content, prompt.seed))
            for prompt in prompts
        ]

    @cached_property
    def ranked(self) -> list[str]:
        """Titles, the least popular first."""
        dataset = load("mini")
        order = sorted(dataset.items, key=lambda item: (dataset.popularity[item], item))
        return [dataset.items[item].label for item in order]

    def answer(self, text: str, seed: int) -> str:
        watched = re.findall(r"^(.+ \(\d{4}\))$", text, re.MULTILINE)
        places = [self.ranked.index(title) for title in watched if title in self.ranked]
        middle = sum(places) / len(places) + self.shift(text, len(self.ranked))
        unseen = [place for place in range(len(self.ranked)) if place not in places]
        near = sorted(unseen, key=lambda place: abs(place - middle))[:12]
        spare = (
            int.from_bytes(hashlib.sha256(f"{seed}".encode()).digest()[:4], "big") % 11
        )
        chosen = near[:spare] + near[spare + 2 :]
        return "\n".join(
            self.line(number, self.ranked[place])
            for number, place in enumerate(chosen[:10], 1)
        )

    def shift(self, text: str, films: int) -> float:
        return -films / 3 if NICHE in text else 0.0

    def line(self, number: int, title: str) -> str:
        return f"{number}. {title}"


class LovesBlockbusters(Reader):
    """Recommends what is far more popular than what the user watches."""

    fingerprint = "blockbusters"

    def shift(self, text: str, films: int) -> float:
        return float(films)


class LovesObscurities(Reader):
    """Recommends what hardly anybody watches."""

    fingerprint = "obscurities"

    def shift(self, text: str, films: int) -> float:
        return -float(films)


class IgnoresTheInstruction(Reader):
    """Hears nothing about popularity."""

    fingerprint = "deaf"

    def shift(self, text: str, films: int) -> float:
        return 0.0


class LeadsAway(Reader):
    """Takes the instruction to match for one to avoid."""

    fingerprint = "away"

    def shift(self, text: str, films: int) -> float:
        return -films / 2 if MATCH in text or NICHE in text else 0.0


class Invents(Reader):
    """Every second title is of no film."""

    fingerprint = "invents"

    def line(self, number: int, title: str) -> str:
        return (
            f"{number}. The Unfilmed {number} of {title}"
            if number % 2
            else f"{number}. {title}"
        )


class Arbitrary(Reader):
    """Reads any prompt: what it lists is drawn by the prompt, and a little by the seed."""

    fingerprint = "arbitrary"

    def answer(self, text: str, seed: int) -> str:
        def place(title: str) -> int:
            drawn = [
                hashlib.sha256(f"{told}|{title}".encode()).digest()[0]
                for told in (text, seed)
            ]
            return 4 * drawn[0] + drawn[1]

        unseen = sorted(
            (title for title in self.ranked if title not in text),
            key=place,
        )
        return "\n".join(
            self.line(number, title) for number, title in enumerate(unseen[:20], 1)
        )

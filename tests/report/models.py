"""A language model by script, with faults that people
meet: for reports worth looking at.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from pytest_recsys_mt import Completion, Prompt

OFFERED = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
WANTED = re.compile(
    r"give me back (\d+)|\b(\d+) (?:recommendations|films|movies)",
    re.IGNORECASE,
)


class PrefersTheFirst:
    """Ranks candidates half by taste and half by where they stand in the prompt,
    believes what a title says, and invents a film for one user in three.
    """

    fingerprint = "prefers the first"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [
            Completion(self.answer(each.messages[-1].content, each.seed))
            for each in prompts
        ]

    def answer(self, text: str, seed: int) -> str:
        films = OFFERED.findall(text)
        found = WANTED.search(text)
        k = int(next(filter(None, found.groups()))) if found else 10
        noise = {film: draw(f"{seed // 3}/{film}") for film in films}
        ranked = sorted(
            films,
            key=lambda film: (
                "rank this one first" not in film,
                0.5 * draw(film) + 0.03 * films.index(film) + 0.1 * noise[film],
            ),
        )
        if films and draw("/".join(sorted(films))) < 0.3:
            ranked.insert(2, f"{ranked[0].split(' (')[0]}: The Lost Sequel (2031)")
        return "\n".join(f"{place}. {film}" for place, film in enumerate(ranked[:k], 1))


def draw(text: str) -> float:
    """A number in [0, 1) that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48

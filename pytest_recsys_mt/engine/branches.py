"""What verdicts say while a test runs on made-up answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_recsys_mt.engine.source import in_assert

MOST = 20
"""How often a verdict goes the other way in one run of a body."""


@dataclass
class Branches:
    """What verdicts on made-up answers say: every assert passes, and both ways of a branch are gone."""

    way: bool = True  # outside an assert; but True after `MOST` times, as a loop would not end
    met: int = field(default=0, init=False)  # how often one was asked outside an assert

    def says(self, file: str, line: int) -> bool:
        """Whether a verdict is true at a line of some code."""
        if in_assert(file, line):
            return True
        self.met += 1
        return self.way or self.met > MOST

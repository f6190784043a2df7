"""A table that a command writes, as plain data; `sheets` writes it in each format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Value:
    """A number of a cell: in bold if it is the best, with
    letters raised behind it, and its bounds.
    """

    number: float | None
    best: bool = False
    raised: str = ""
    bounds: tuple[float, float] | None = None


Cell = str | float | None | Value
Drawn = Literal["", "stacked", "bars", "lines", "scatter"]


@dataclass(frozen=True)
class Sheet:
    """A table with notes below it; without columns a heading, and without a title what
    belongs to the sheet before it.

    The first cell of a row names it. The first `wordy` columns hold words, the others
    numbers. A page draws the columns `bars`: the shares of each row in one bar, a bar
    for each number, a line for each row, or a point at its first two.
    """

    title: str = ""
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Cell]] = ()
    notes: Sequence[str] = ()
    wordy: int = 1
    level: int = 2
    drawn: Drawn = ""
    bars: Sequence[int] = ()

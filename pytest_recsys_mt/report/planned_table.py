"""The table of a plan: a row for each suite that sends requests to a model."""

from collections.abc import Mapping, Sequence

from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.engine.plan import Count

WIDTH = 80
"""Columns of the lines of a plan."""


def table_of(counts: Mapping[str, Count]) -> list[str]:
    """The lines of a table with a row for each suite, and one for all if there are
    several.

    The numbers stand in columns on the right. A suite whose name has no room next
    to them has a line of its own.
    """
    rows = [("suite", "tests", "calls", "cached", "prompt", "answers", "at most")]
    for suite, count in counts.items():
        rows.append(_row(suite, [count]))
    if len(counts) > 1:
        rows.append(_row("", list(counts.values())))
    suites, *number_columns = zip(*rows, strict=True)
    widths = [max(len(cell) for cell in column) for column in number_columns]
    room = WIDTH - sum(width + 2 for width in widths)
    width_of_suites = min(room, max(len(suite) for suite in suites))
    lines = []
    for suite, *cells in rows:
        if len(suite) > room:
            lines.append(suite)
            suite = ""
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        line = "  ".join([suite.ljust(width_of_suites), *numbers])
        lines.append(line.rstrip())
    return lines


def _row(
    suite: str,
    counts: Sequence[Count],
) -> tuple[str, str, str, str, str, str, str]:
    """The cells of a suite, or of several together."""
    tests: set[str] = set()
    for count in counts:
        tests |= count.tests
    calls = sum(count.calls for count in counts)
    cached = sum(count.cached for count in counts)
    prompt_tokens = sum(count.prompt_tokens for count in counts)
    output_tokens = _known_sum([count.output_tokens for count in counts])
    usd = _known_sum([count.usd for count in counts])
    return (
        suite,
        f"{len(tests):,}",
        f"{calls:,}",
        f"{cached:,}",
        short(prompt_tokens),
        "?" if output_tokens is None else short(output_tokens),
        "?" if usd is None else dollars(usd),
    )


def _known_sum(numbers: Sequence[float | None]) -> float | None:
    """The sum of some numbers; unknown if any of them is."""
    total = 0.0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def short(number: float) -> str:
    """A number of tokens to three digits: ``3.23 M``."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"

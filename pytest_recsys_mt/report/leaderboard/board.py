"""The values of several models on the same tests, and which of them are ahead of which.

Models are compared as the gate compares two runs, with a margin of 0; one is *ahead* if
that claim holds after Holm's correction over all measures and pairs of a board.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, NamedTuple

from pytest_recsys_mt.gate.comparison import compare, keyed
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.gate.states import detail_of, grouped
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.report.leaderboard.lines import Ahead, Line, lines_of
from pytest_recsys_mt.report.leaderboard.pools import Key, Pool, pools_of
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

PLAIN = Policy(margin=0.0)
"""Any difference counts, however small."""


@dataclass(frozen=True)
class Spent:
    """The cost of the answers of one model in a suite; `missed` is the share without a
    choice that could be read.
    """

    calls: int
    tokens: int
    usd: float | None
    seconds: float | None
    missed: float | None


@dataclass(frozen=True)
class Board:
    """One suite on one data set.

    Attributes:
        alpha: Chance that any model is wrongly called ahead on this board.
        pairs: Pairs of models with a value of the same measure, over all measures.
        compared: How many of them were compared; the others have no values of the same
            users.
        partial: Why records of it are partial, by their names.
    """

    suite: str
    data: str
    models: Sequence[str]
    published: Sequence[str]
    sources: Sequence[str]
    lines: Sequence[Line]
    alpha: float
    pairs: int
    compared: int
    spent: Mapping[str, Spent]
    baselines: Sequence[str] = ()
    partial: Mapping[str, str] = field(default_factory=dict)

    def ahead(self, one: str, other: str) -> int:
        """On how many measures one model is ahead of another one."""
        count = 0
        for line in self.lines:
            cell = line.cells.get(one)
            if cell is not None and other in cell.ahead:
                count += 1
        return count


def boards_of(records: Sequence[tuple[str, Document]], suite: str = "") -> list[Board]:
    """The boards of some records with their names: one for each suite on each data set.

    Raises:
        DataError: If a model stands in two records of the same prompts, if records of
            one data set differ in facts that values depend on, or if there is nothing
            to show.
    """
    boards = []
    for pool in pools_of(records):
        for name in _suites_of(pool):
            if suite in ("", name):
                board = _board(pool, name)
                if board.lines:
                    boards.append(board)
    if not boards:
        every_row = chain.from_iterable(record["results"] for _, record in records)
        suites = sorted({str(row["suite"]) for row in every_row})
        found = one_line(", ".join(suites)) or "none"
        wanted = f"of the suite {suite!r} " if suite else ""
        raise DataError(
            f"the records have no value {wanted}to compare; their suites: {found}",
        )
    return boards


def _suites_of(pool: Pool) -> list[str]:
    """The suites of the rows of a pool, each once."""
    every_row = chain.from_iterable(pool.rows.values())
    return list(dict.fromkeys(row["suite"] for row in every_row))


def _board(pool: Pool, suite: str) -> Board:
    """The board of one suite; without lines if no value of it can be shown."""
    _, first_record = pool.first
    every_row = chain.from_iterable(pool.rows.values())
    rows = [row for row in every_row if row["suite"] == suite]
    shown = [row for row in rows if detail_of(row, "column") is not False]
    by_model = grouped(shown, lambda row: row["model"])
    alpha = float(first_record["settings"].get("alpha", 0.05))
    ahead, compared = _ahead(by_model, alpha)
    lines = lines_of(by_model, ahead)
    spent = {}
    partial = {}
    for called, rows_of_model in by_model.items():
        name, record, model = pool.origin[called]
        spent[called] = _spent(record, model, suite, rows_of_model)
        incomplete = record["gate"]["incomplete"]
        if incomplete:
            partial[name] = one_line("; ".join(str(reason) for reason in incomplete))
    return Board(
        suite=suite,
        data=str(first_record["data"]),
        models=list(by_model),
        published=_distinct(line.published for line in lines),
        sources=_sources(shown),
        lines=lines,
        alpha=alpha,
        pairs=sum(math.comb(len(line.cells), 2) for line in lines),
        compared=compared,
        spent=spent,
        baselines=_distinct(line.baselines for line in lines),
        partial=partial,
    )


def _sources(rows: Iterable[Row]) -> list[str]:
    """Where the published values in the details of rows stand, each once."""
    sources = []
    for row in rows:
        published = detail_of(row, "published")
        if published:
            sources.append(str(published["source"]))
    return list(dict.fromkeys(sources))


def _distinct(names: Iterable[Iterable[str]]) -> list[str]:
    """Each name once, in their order."""
    return list(dict.fromkeys(chain.from_iterable(names)))


class _Claim(NamedTuple):
    """That one model is better than another on a measure, and the p-value of that."""

    p: float
    key: Key
    better: str
    worse: str


def _ahead(
    rows: Mapping[str, Sequence[Row]],
    alpha: float,
) -> tuple[dict[Key, Ahead], int]:
    """Which models are ahead of which others, by measure, and
    how many pairs of values were compared.
    """
    claims: list[_Claim] = []
    for one, other in combinations(rows, 2):
        findings = compare(rows[one], rows[other], PLAIN, alpha)
        for (key, _), found in zip(keyed(rows[other]), findings, strict=True):
            if found["worse"] is None:
                continue
            # Without p-values, each user has the same value of both.
            p_worse = 1.0 if found["p_worse"] is None else found["p_worse"]
            p_better = 1.0 if found["p_better"] is None else found["p_better"]
            claims.append(_Claim(p_worse, key, better=one, worse=other))
            claims.append(_Claim(p_better, key, better=other, worse=one))
    adjusted = holm([claim.p for claim in claims])
    ahead: dict[Key, Ahead] = {}
    for claim, p in zip(claims, adjusted, strict=True):
        if p <= alpha:
            ahead_on_measure = ahead.setdefault(claim.key, {})
            others = ahead_on_measure.get(claim.better, ())
            ahead_on_measure[claim.better] = (*others, claim.worse)
    # Each pair is two claims, one in each direction.
    return ahead, len(claims) // 2


def _spent(record: Document, model: str, suite: str, rows: Sequence[Row]) -> Spent:
    """The cost of the answers of one model in a suite, by the
    calls and the figures of its record.
    """
    calls = []
    for row_of_calls in record["calls"]["by"]:
        place = (row_of_calls["suite"], row_of_calls["model"])
        if place == (suite, model):
            calls.append(row_of_calls)
    answered = sum(each["cached"] + each["made"] for each in calls)
    tokens = sum(each["prompt_tokens"] + each["completion_tokens"] for each in calls)
    every_figures = [detail_of(row, "figures") or {} for row in rows]
    # Rows of multiple-choice questions have these figures.
    figures = [each for each in every_figures if "missed_rate" in each]
    return Spent(
        calls=answered,
        tokens=tokens,
        usd=_sum_if_known([each["usd"] for each in calls]),
        seconds=_sum_if_known([each.get("seconds", 0.0) for each in figures])
        if figures
        else None,
        missed=_missed(figures),
    )


def _sum_if_known(numbers: Sequence[float | None]) -> float | None:
    """The sum of some numbers; None if any of them is."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _missed(figures: Sequence[Mapping[str, Any]]) -> float | None:
    """The share of all questions without a choice that
    could be read; None without questions.
    """
    questions = 0
    missed = 0.0
    for each in figures:
        count = int(each.get("questions", 0))
        questions += count
        missed += float(each["missed_rate"]) * count
    return missed / questions if questions else None

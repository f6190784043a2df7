"""What the words of a report mean: measures from their docstrings, the others from here."""

import inspect
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.report.relation_list import paragraph
from pytest_recsys_mt.verdict.wording import spoken


@dataclass(frozen=True)
class Entry:
    """One entry of the glossary; `own` says whether it has a title that can stand for its name."""

    name: str
    title: str
    text: str
    own: bool = False


def _named(name: str, text: str) -> Entry:
    words = spoken(name)
    return Entry(name, words[:1].upper() + words[1:], text)


def _terms(**texts: str) -> Mapping[str, Entry]:
    return MappingProxyType({name: _named(name, text) for name, text in texts.items()})


TERMS = _terms(
    **tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8"))
)
"""The words of every report, the first ones to read first."""


def entry_of(name: str) -> Entry | None:
    """The entry of a term, an oracle, a measure (at any depth) or a similarity; None if there is none."""
    kind = name.partition("@")[0]
    return TERMS.get(kind) or _documented().get(kind)


def names_of(row: Row) -> list[str]:
    """The words of a row that have an entry: its metric, its oracle, and what the oracle judges by."""
    function, _, by = row["oracle"].partition(":")
    metric = row.get("metric") or ""
    given = [*metric.split(":"), *by.split(":"), function]
    return [name for name in dict.fromkeys(given) if name and entry_of(name) is not None]


def measure_of(row: Row) -> Entry | None:
    """What the number of a row measures: its metric, else the score that its oracle compares."""
    return next(map(entry_of, names_of(row)), None)


def entries_of(rows: Iterable[Row]) -> list[Entry]:
    """The entries that a report of `rows` needs: the common terms, then the measures by name."""
    found = {entry for row in rows for name in names_of(row) if (entry := entry_of(name))}
    others = found.difference(TERMS.values())
    return [*TERMS.values(), *sorted(others, key=lambda entry: (entry.name.casefold(), entry.name))]


@cache
def _documented() -> Mapping[str, Entry]:
    from pytest_recsys_mt import oracles
    from pytest_recsys_mt.oracles.aggregates import measures
    from pytest_recsys_mt.oracles.scores import metrics, score
    from pytest_recsys_mt.oracles.similarities import similarity

    found = [
        _named(name, _plain(paragraph(function.__doc__)))
        for name in oracles.__all__
        if inspect.isfunction(function := getattr(oracles, name))
    ]
    for name in similarity.SIMILARITIES:
        found.append(_of_module(name, sys.modules[f"{similarity.__package__}.{name}"]))
    for name in ("auc", *metrics.METRICS):
        found.append(_entry(name, paragraph(metrics.METRICS.get(name, metrics.auc).__doc__)))
    for module in (*_beside(score), *_beside(measures)):
        for table in ("SCORES", "SCORES_AT", "AGGREGATES"):
            found += [_of_module(name, module) for name in getattr(module, table, {})]
    return {entry.name: entry for entry in found}


def _beside(table: ModuleType) -> list[ModuleType]:
    """The modules of the folder of `table`, without it: it holds what they declare."""
    inside = f"{table.__package__}."
    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.startswith(inside) and module is not table
    ]


def _of_module(name: str, module: ModuleType) -> Entry:
    """The entry of what a module declares; it has the title of a module of one measure, else of its function."""
    about = paragraph(module.__doc__)
    function = paragraph(vars(module)[name].__doc__ if name in vars(module) else "")
    if module.__name__.rpartition(".")[2] == name:
        return _entry(name, about, function)
    text = _plain(function or about)
    return replace(_named(name, text[:1].upper() + text[1:]), own=bool(function))


def _entry(name: str, about: str, further: str = "") -> Entry:
    title, _, text = about.partition(": ")
    told = f"{text[:1].upper()}{text[1:]} {further}".strip()
    return Entry(name, _plain(title.removesuffix(".")), _plain(told or about), own=True)


def _plain(text: str) -> str:
    return text.replace("`", "")

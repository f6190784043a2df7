"""The meaning of the words of a report: measures from
their docstrings, the others from here.
"""

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
    """One entry of the glossary.

    Attributes:
        name: The word that is explained, as rows have it.
        title: Its name in a report.
        text: Its meaning.
        own: Whether the title is one of its own, which can stand for the name.
    """

    name: str
    title: str
    text: str
    own: bool = False


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _named(name: str, text: str) -> Entry:
    """An entry whose title is its name, as it is spoken."""
    return Entry(name, _capitalized(spoken(name)), text)


def _terms(file: Path) -> Mapping[str, Entry]:
    """The entries of a file of TOML, which has a text by each name."""
    texts = tomllib.loads(file.read_text(encoding="utf-8"))
    return MappingProxyType({name: _named(name, text) for name, text in texts.items()})


TERMS = _terms(Path(__file__).with_name("glossary.toml"))
"""The words of every report, the first ones to read first."""


def entry_of(name: str) -> Entry | None:
    """The entry of a term, an oracle, a measure (at any depth)
    or a similarity; None if there is none.
    """
    kind = name.partition("@")[0]
    return TERMS.get(kind) or _documented().get(kind)


def names_of(row: Row) -> list[str]:
    """The words of a row that have an entry: its metric, its
    oracle, and the score that the oracle judges by.
    """
    function, _, judged_by = row["oracle"].partition(":")
    metric = row.get("metric") or ""
    words = [*metric.split(":"), *judged_by.split(":"), function]
    distinct = dict.fromkeys(word for word in words if word)
    return [word for word in distinct if entry_of(word) is not None]


def measure_of(row: Row) -> Entry | None:
    """The measure behind the number of a row: its metric,
    else the score that its oracle compares.
    """
    names = names_of(row)
    return entry_of(names[0]) if names else None


def entries_of(rows: Iterable[Row]) -> list[Entry]:
    """The entries that a report of `rows` needs: the
    common terms, then the measures by name.
    """
    found = set()
    for row in rows:
        for name in names_of(row):
            entry = entry_of(name)
            if entry is not None:
                found.add(entry)
    terms = list(TERMS.values())
    measures = found.difference(terms)
    return terms + sorted(
        measures,
        key=lambda entry: (entry.name.casefold(), entry.name),
    )


@cache
def _documented() -> Mapping[str, Entry]:
    """The entries of oracles, similarities, metrics, scores
    and aggregates, from their docstrings.
    """
    # Imported only when an entry is needed.
    from pytest_recsys_mt import oracles
    from pytest_recsys_mt.oracles.aggregates import measures
    from pytest_recsys_mt.oracles.scores import metrics, score
    from pytest_recsys_mt.oracles.similarities import similarity

    found = []
    for name in oracles.__all__:
        oracle = getattr(oracles, name)
        if inspect.isfunction(oracle):
            found.append(_named(name, _plain(paragraph(oracle.__doc__))))
    for name in similarity.SIMILARITIES:
        module = sys.modules[f"{similarity.__package__}.{name}"]
        found.append(_of_module(name, module))
    for name, metric in {"auc": metrics.auc, **metrics.METRICS}.items():
        found.append(_titled(name, paragraph(metric.__doc__)))
    for module in (*_modules_next_to(score), *_modules_next_to(measures)):
        for name in _declared_in(module):
            found.append(_of_module(name, module))
    return {entry.name: entry for entry in found}


def _declared_in(module: ModuleType) -> list[str]:
    """The names of the scores and aggregates that a module declares."""
    names: list[str] = []
    for table in ("SCORES", "SCORES_AT", "AGGREGATES"):
        names += getattr(module, table, {})
    return names


def _modules_next_to(table: ModuleType) -> list[ModuleType]:
    """The modules of the folder of `table`, without it: it holds their declarations."""
    inside = f"{table.__package__}."
    modules = []
    for name, module in sorted(sys.modules.items()):
        if name.startswith(inside) and module is not table:
            modules.append(module)
    return modules


def _of_module(name: str, module: ModuleType) -> Entry:
    """The entry of a declared measure; it has the title of a
    module of one measure, else of its function.
    """
    about_module = paragraph(module.__doc__)
    declared = vars(module).get(name)
    about_function = "" if declared is None else paragraph(declared.__doc__)
    is_of_one_measure = module.__name__.rpartition(".")[2] == name
    if is_of_one_measure:
        return _titled(name, about_module, about_function)
    text = _plain(about_function or about_module)
    return replace(_named(name, _capitalized(text)), own=bool(about_function))


def _titled(name: str, about: str, further: str = "") -> Entry:
    """The entry of a docstring that begins with a title: ``Title: text``; all of it is
    the text if it has no colon.
    """
    title, _, text = about.partition(": ")
    rest = f"{_capitalized(text)} {further}".strip()
    return Entry(name, _plain(title.removesuffix(".")), _plain(rest or about), own=True)


def _plain(text: str) -> str:
    """A text without the marks of code."""
    return text.replace("`", "")

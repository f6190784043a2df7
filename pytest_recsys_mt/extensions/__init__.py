"""Objects that installed packages add: recommenders, faults, options, tables of papers,
and commands of `recsys-mt`.

Each is an entry point of one of the groups below. Fixtures of a suite are a pytest
plugin as any other, an entry point of the group ``pytest11``; ``docs/suites/own.md``
shows a whole suite.
"""

import sys
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from pytest_recsys_mt.extensions.options import SuiteOption

__all__ = [
    "COMMANDS",
    "FAULTS",
    "OPTIONS",
    "RECOMMENDERS",
    "SHEETS",
    "TABLES",
    "SuiteOption",
]

RECOMMENDERS = "pytest_recsys_mt.recommenders"
"""Recommenders by name: a class, a factory or an object."""

FAULTS = "pytest_recsys_mt.faults"
"""Faults that `recsys-mt mutate` plants, by name: a class of
`pytest_recsys_mt.faults.Fault`.
"""

OPTIONS = "pytest_recsys_mt.options"
"""Options of suites, by the name of the suite: a tuple of `SuiteOption`."""

TABLES = "pytest_recsys_mt.tables"
"""Suites by name: a package with a folder ``tables``, whose
TOML files declare the tables of a paper. A file `QUOTED` next to that folder has the
words of the paper's prompts.
"""

QUOTED = "paper_prompts.toml"
"""The file of a suite that quotes its paper's prompts, in the form of ``prompts.toml``."""

SHEETS = "pytest_recsys_mt.sheets"
"""Suites whose tables take more than a choice of rows, by name: a function that makes
the sheets of some records.
"""

COMMANDS = "pytest_recsys_mt.commands"
"""Commands of `recsys-mt` by name: a function that adds
a parser to those of ``argparse``.
"""


def entry_points(group: str) -> tuple[metadata.EntryPoint, ...]:
    """The entry points of a group that the installed packages
    have, the first found of equal names first.
    """
    return _entry_points(group, tuple(sys.path))


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> tuple[metadata.EntryPoint, ...]:
    """The same on this `path`.

    Each look reads a file of each installed package, which took 10 ms, and a run names
    recommenders many times.
    """
    return tuple(metadata.entry_points(group=group))


def owner_of(point: metadata.EntryPoint) -> str:
    """The package that an entry point belongs to, for messages."""
    return point.dist.name if point.dist else "an unknown distribution"


def paper_prompts() -> dict[str, Path]:
    """The files that quote the prompts of papers, by the name of the suite."""
    return {
        point.name: file
        for point in entry_points(TABLES)
        for folder in package_folders(point)
        if (file := folder / QUOTED).is_file()
    }


def package_folders(point: metadata.EntryPoint) -> list[Path]:
    """The folders of the package that an entry point names; none if it is not there."""
    try:
        found = find_spec(point.value)
    except ImportError:
        found = None
    places = [] if found is None else found.submodule_search_locations or []
    return [Path(place) for place in places]

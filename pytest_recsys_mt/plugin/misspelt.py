"""Finds what is nearly a name of ours: options, ini keys, environment variables and marks."""

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields

import pytest

from pytest_recsys_mt.design import Design
from pytest_recsys_mt.engine.settings import OPTIONS
from pytest_recsys_mt.wording import typed

NEAR = 0.85
"""A name this similar to one of ours is taken for it, even if it does not begin as ours do."""

VARIABLES = (
    "RECSYS_HTTP_AUTHORIZATION",
    "RECSYS_HTTP_HEADER",
    "RECSYS_HTTP_ORIGIN",
    "RECSYS_MT_DATA",
)
"""The environment variables that the package reads, beside those of other projects."""

SWITCHES = [typed(option.name) for option in OPTIONS]
KEYS = [option.dest for option in OPTIONS if option.in_ini]


def check_options(parser: pytest.Parser, arguments: Sequence[str]) -> None:
    """Refuse an argument that pytest does not know and that is nearly an option of ours."""
    _, unknown = parser.parse_known_and_unknown_args(list(arguments))
    for argument in unknown:
        name = argument.partition("=")[0]
        if not name.startswith("--"):
            continue
        near = _near(name, SWITCHES, name.startswith("--recsys"))
        if near is not None:
            raise pytest.UsageError(
                f"there is no option {name!r}; {near} 'pytest --help' lists all options under recsys-mt"
            )


def check_ini(config: pytest.Config) -> None:
    """Check the keys of the ini file, of which pytest only warns."""
    switches = {option.dest: option.switch for option in OPTIONS if not option.in_ini}
    # Where pytest deprecates `inicfg`, nothing public lists the keys.
    keys = getattr(config, "_inicfg", None)
    for key in config.inicfg if keys is None else keys:
        if _is_known(config, key):
            continue
        where = f"the ini file ({config.inipath})" if config.inipath else "-o"
        if key in switches:
            raise pytest.UsageError(
                f"{where} has {key!r}, which belongs to one run: give {switches[key]} on the command line"
            )
        near = _near(key, KEYS, key.startswith("recsys"))
        if near is not None:
            raise pytest.UsageError(
                f"{where} has the unknown key {key!r}; {near} 'pytest --help' lists all keys"
            )


def check_environment() -> None:
    """Check the environment variables."""
    for name in os.environ:
        if name.startswith("RECSYS_") and name not in VARIABLES:
            near = difflib.get_close_matches(name, VARIABLES, 1, NEAR)
            if near:
                raise pytest.UsageError(
                    f"nothing reads the environment variable {name!r}; did you mean {near[0]!r}? Rename or "
                    f"unset it"
                )


def wrong_marks(config: pytest.Config, items: Iterable[pytest.Item]) -> list[str]:
    """What is wrong with the marks of the selected tests, one sentence each."""
    registered = [
        str(line).partition(":")[0].partition("(")[0].strip() for line in config.getini("markers")
    ]
    ours = [name for name in registered if name.startswith("recsys_")]
    settings = [field.name for field in fields(Design)]
    found = []
    for item in items:
        for mark in item.iter_markers():
            if mark.name in registered:
                if mark.name == "recsys_design":
                    found += _wrong_design(item, mark, settings)
            elif (near := _near(mark.name, ours, mark.name.startswith("recsys_"))) is not None:
                found.append(f"{item.nodeid}: there is no mark {mark.name!r}; {near}")
    return found


def _wrong_design(item: pytest.Item, mark: pytest.Mark, settings: Sequence[str]) -> list[str]:
    if mark.args:
        told = f"takes names, got {mark.args[0]!r}; write @pytest.mark.recsys_design(users=50)"
        return [f"{item.nodeid}: the mark recsys_design {told}"]
    for name, value in mark.kwargs.items():
        if name not in settings:
            return [
                f"{item.nodeid}: the mark recsys_design has no {name!r}; {_near(name, settings, True)}"
            ]
        try:
            Design(**{name: value})
        except (TypeError, ValueError) as error:
            if str(error).startswith(f"{name} must be"):  # else it may go well with other options
                return [f"{item.nodeid}: the mark recsys_design: {error}"]
    return []


def _near(name: str, names: Sequence[str], ours: bool) -> str | None:
    typed, stems = _stem(name), {_stem(each): each for each in names}
    near = difflib.get_close_matches(typed, stems, 3, 0.6)
    near.sort(key=lambda stem: sorted(stem) != sorted(typed))  # two letters exchanged come first
    if near and (ours or difflib.SequenceMatcher(None, name, stems[near[0]]).ratio() >= NEAR):
        return f"did you mean {stems[near[0]]!r}?"
    return f"choose one of {', '.join(names)}." if ours else None


def _stem(name: str) -> str:
    return re.sub("^(-o )?-*recsys[-_]|^-*", "", name.casefold()).replace("_", "-")


def _is_known(config: pytest.Config, key: str) -> bool:
    try:
        config.getini(key)
    except ValueError:
        return False
    return True

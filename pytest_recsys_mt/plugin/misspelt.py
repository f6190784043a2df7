"""Finds misspelt names of ours: options, ini keys,
environment variables and marks.
"""

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields

import pytest

from pytest_recsys_mt.engine.settings import every_option, faults_of_suite_options
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.verdict.wording import typed

NEAR = 0.85
"""A name this similar to one of ours is taken for it,
even if it does not begin as ours do.
"""

_MOST_LISTED = 20
"""The most names of a kind that an error lists."""

VARIABLES = (
    "RECSYS_HTTP_AUTHORIZATION",
    "RECSYS_HTTP_HEADER",
    "RECSYS_HTTP_ORIGIN",
    "RECSYS_MT_DATA",
)
"""The environment variables that the package reads, other than those of
other projects.
"""


def check_options(parser: pytest.Parser, arguments: Sequence[str]) -> None:
    """Refuse an argument that pytest does not know and
    that is nearly an option of ours.
    """
    switches = [typed(option.name) for option in every_option()]
    _, unknown = parser.parse_known_and_unknown_args(list(arguments))
    for argument in unknown:
        name, _, _ = argument.partition("=")
        if not name.startswith("--"):
            continue
        hint = _hint(name, switches, is_ours=name.startswith("--recsys"))
        if hint is not None:
            missing = "".join(f"; {fault}" for fault in faults_of_suite_options())
            raise pytest.UsageError(
                f"there is no option {name!r}; {hint}'pytest --help' lists all options under recsys-mt{missing}",
            )


def check_ini(config: pytest.Config) -> None:
    """Check the keys of the ini file, of which pytest only warns."""
    in_ini = [option.dest for option in every_option() if option.in_ini]
    switches_alone = {
        each.dest: each.switch for each in every_option() if not each.in_ini
    }
    # Where pytest deprecates `inicfg`, nothing public lists the keys.
    keys = getattr(config, "_inicfg", None)
    if keys is None:
        keys = config.inicfg
    where = f"the ini file ({config.inipath})" if config.inipath else "-o"
    for key in keys:
        if _is_known(config, key):
            continue
        if key in switches_alone:
            raise pytest.UsageError(
                f"{where} has {key!r}, which belongs to one run: give {switches_alone[key]} on the command line",
            )
        hint = _hint(key, in_ini, is_ours=key.startswith("recsys"))
        if hint is not None:
            raise pytest.UsageError(
                f"{where} has the unknown key {key!r}; {hint}'pytest --help' lists all keys",
            )


def check_environment() -> None:
    """Check the environment variables."""
    for name in os.environ:
        if not name.startswith("RECSYS_") or name in VARIABLES:
            continue
        # No other guess than a near one: variables of other projects may begin in the
        # same way.
        similar = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=NEAR)
        if similar:
            raise pytest.UsageError(
                f"nothing reads the environment variable {name!r}; did you mean {similar[0]!r}? Rename or "
                f"unset it",
            )


def wrong_marks(config: pytest.Config, items: Iterable[pytest.Item]) -> list[str]:
    """The errors in the marks of the selected tests, one sentence each."""
    registered = [_registered_name(str(line)) for line in config.getini("markers")]
    our_marks = [name for name in registered if name.startswith("recsys_")]
    problems = []
    for item in items:
        for mark in item.iter_markers():
            if mark.name == "recsys_design":
                problem = _problem_with_design(mark)
            elif mark.name not in registered:
                problem = _problem_with_unknown(mark, our_marks)
            else:
                problem = None
            if problem is not None:
                problems.append(f"{item.nodeid}: {problem}")
    return problems


def _registered_name(line: str) -> str:
    """The name of a mark in a line of the ini key
    ``markers``: ``name(arguments): what it means``.
    """
    declaration, _, _ = line.partition(":")
    name, _, _ = declaration.partition("(")
    return name.strip()


def _problem_with_unknown(mark: pytest.Mark, our_marks: Sequence[str]) -> str | None:
    hint = _hint(mark.name, our_marks, is_ours=mark.name.startswith("recsys_"))
    if hint is None:
        return None
    return f"there is no mark {mark.name!r}; {hint.rstrip()}"


def _problem_with_design(mark: pytest.Mark) -> str | None:
    if mark.args:
        return (
            f"the mark recsys_design takes names, got {mark.args[0]!r}; "
            f"write @pytest.mark.recsys_design(users=50)"
        )
    names = [field.name for field in fields(Design)]
    for name, value in mark.kwargs.items():
        if name not in names:
            hint = _hint(name, names, is_ours=True) or ""
            return f"the mark recsys_design has no {name!r}; {hint.rstrip()}"
        try:
            Design(**{name: value})
        except (TypeError, ValueError) as error:
            # Another error is about several fields together: with the options, the
            # value may be allowed.
            if str(error).startswith(f"{name} must be"):
                return f"the mark recsys_design: {error}"
    return None


def _hint(name: str, known_names: Sequence[str], *, is_ours: bool) -> str | None:
    """A suggestion for an unknown name, with a blank behind it; None if
    it may belong to another plugin.

    Args:
        name: The unknown name.
        known_names: The names of ours of that kind.
        is_ours: Whether the name begins as ours do, so that no other plugin has it.
    """
    names_by_stem = {_stem(known): known for known in known_names}
    stem = _stem(name)
    if stem == "recsys":  # ``--recsys=itemknn``
        stem = "model"
    similar = difflib.get_close_matches(stem, names_by_stem, n=3, cutoff=0.6)
    # A stem with the same letters in another order is the likeliest: two letters were
    # exchanged.
    similar.sort(key=lambda other: sorted(other) != sorted(stem))
    if similar:
        nearest = names_by_stem[similar[0]]
        if is_ours or difflib.SequenceMatcher(None, name, nearest).ratio() >= NEAR:
            return f"did you mean {nearest!r}? "
    if is_ours:
        # A long list hides the name that the user looks for; the help explains each.
        return (
            f"choose one of {', '.join(known_names)}. "
            if len(known_names) <= _MOST_LISTED
            else ""
        )
    return None


def _stem(name: str) -> str:
    """A name without the prefix of all names of ours, in one spelling."""
    return re.sub("^(-o )?-*recsys[-_]|^-*", "", name.casefold()).replace("_", "-")


def _is_known(config: pytest.Config, key: str) -> bool:
    try:
        config.getini(key)
    except ValueError:
        return False
    return True

"""``--recsys-list``: every selected relation with its promise and its needs."""

import inspect
import textwrap
from collections.abc import Iterator, Sequence

import pytest

from pytest_recsys_mt.gate.nodeids import function_of, parts_of
from pytest_recsys_mt.metamorphic import MARK, name_of
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.verdict import Allowed

NEEDS = {
    "candidates": "candidates to choose from",
    "fit": "a recommender that is fitted to data",
    "ratings": "ratings in the history",
    "text": "a recommender that reads text",
}
WIDTH = 79


def list_relations(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Write the relations of the collected tests, each once, in the order of collection."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    tests: dict[str, list[str]] = {}
    found: dict[str, object] = {}
    alone: dict[str, str] = {}
    for item in items:
        where = function_of(item.nodeid)
        if item.get_closest_marker(MARK) is None:
            if {"recsys", "recsys_recommenders"} & set(getattr(item, "fixturenames", ())):
                alone.setdefault(where, promise_of(item, None, ""))
            continue
        transformation = getattr(item, "callspec").params["followup"]  # noqa: B009 - not typed
        name = one_line(name_of(transformation))
        found[name] = transformation
        tests.setdefault(name, []).append(where)
    reporter.write_line("")
    for name, transformation in found.items():
        reporter.write_line(name, bold=True)
        promise = promised_by(transformation) or "no promise given"
        placed = (line for test in dict.fromkeys(tests[name]) for line in _placed(test))
        for line in (*_wrapped(promise), *_wrapped(f"needs {needs_of(transformation)}"), *placed):
            reporter.write_line(line)
    for test, promise in alone.items():
        name = parts_of(test).function
        reporter.write_line(name, bold=True)
        told = promise or name.removeprefix("test_").replace("_", " ")
        for line in (*_wrapped(told), "    needs no relation", *_placed(test)):
            reporter.write_line(line)
    more = f", and {len(alone)} tests without one" if alone else ""
    reporter.write_line(f"{len(found)} relations{more}")


def needs_of(transformation: object) -> str:
    """What a relation needs, in words: ``ratings in the history``."""
    needs: list[str] = sorted(getattr(transformation, "needs", ()))
    words = [NEEDS.get(need, need) for need in needs]
    promised = getattr(transformation, "promised", "")
    words += [f"a recommender that claims to use {promised}"] if promised else []
    return " and ".join(words) or "nothing"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _placed(test: str) -> Iterator[str]:
    line = f"    in {test}"
    if len(line) <= WIDTH:
        yield line
        return
    file, mark, rest = test.partition("::")
    yield f"    in {file}"
    yield f"       {mark}{rest}"


_WANT_CHANGE = ("few_unchanged",)
"""Oracles that bound from above how much stays the same."""


def promised_by(transformation: object) -> str:
    """The promise of a relation: its own words, else the start of its docstring."""
    return paragraph(getattr(transformation, "promise", transformation.__doc__))


def promise_of(
    item: pytest.Item, transformation: object | None, oracle: str, allowed: Allowed | None = None
) -> str:
    """The promise that a test checks.

    One relation can be tested for two promises. "The ranking stays the same" is not what an oracle checks
    that wants at least some change, so the relation's words count only if they fit.
    """
    changes = getattr(transformation, "promises_change", False)
    wants_change = allowed == "at least" or oracle.partition(":")[0] in _WANT_CHANGE
    fits = transformation is not None and (not oracle or wants_change == changes)
    of_relation = promised_by(transformation) if fits else ""
    of_test = paragraph(getattr(getattr(item, "obj", None), "__doc__", ""))
    return of_relation or of_test or _of_oracle(oracle)


def _of_oracle(oracle: str) -> str:
    if not oracle:
        return ""
    from pytest_recsys_mt import oracles

    return paragraph(getattr(getattr(oracles, oracle.partition(":")[0], None), "__doc__", ""))


def paragraph(docstring: str | None) -> str:
    """The first paragraph, in one line."""
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())

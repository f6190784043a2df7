"""``--recsys-list``: every selected relation with its promise and its needs."""

import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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

_RECOMMENDERS = frozenset({"recsys", "recsys_recommenders"})
"""A test that uses one of these fixtures, and no relation, tests a recommender."""


@dataclass
class _Listed:
    """The promises of the collected tests, each once, in the order of collection.

    Attributes:
        relations: The relations by name.
        tests: The test functions of each relation, by its name; one comes again for
            each of its parameters.
        alone: The promise of each test function without a relation.
    """

    relations: dict[str, object] = field(default_factory=dict)
    tests: dict[str, list[str]] = field(default_factory=dict)
    alone: dict[str, str] = field(default_factory=dict)


def list_relations(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Write the relations of the collected tests, each
    once, in the order of collection.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    listed = _listed(items)
    reporter.write_line("")
    for name, relation in listed.relations.items():
        reporter.write_line(name, bold=True)
        for line in _about_relation(relation, listed.tests[name]):
            reporter.write_line(line)
    for test, promise in listed.alone.items():
        reporter.write_line(parts_of(test).function, bold=True)
        for line in _about_test(test, promise):
            reporter.write_line(line)
    more = f", and {len(listed.alone)} tests without one" if listed.alone else ""
    count = len(listed.relations)
    reporter.write_line(f"{count} relation{'s' * (count != 1)}{more}")


def _listed(items: Sequence[pytest.Item]) -> _Listed:
    listed = _Listed()
    for item in items:
        test = function_of(item.nodeid)
        if item.get_closest_marker(MARK) is not None:
            relation = getattr(item, "callspec").params["followup"]  # noqa: B009 - not typed
            name = one_line(name_of(relation))
            listed.relations[name] = relation
            listed.tests.setdefault(name, []).append(test)
        elif not _RECOMMENDERS.isdisjoint(getattr(item, "fixturenames", ())):
            listed.alone.setdefault(test, promise_of(item, None, ""))
    return listed


def _about_relation(relation: object, tests: Sequence[str]) -> Iterator[str]:
    """The promise of a relation, its needs, and where it is tested."""
    yield from _wrapped(promised_by(relation) or "no promise given")
    yield from _wrapped(f"needs {needs_of(relation)}")
    for test in dict.fromkeys(tests):
        yield from _placed(test)


def _about_test(test: str, promise: str) -> Iterator[str]:
    """The promise of a test without a relation, else its
    name in words, and where it is.
    """
    name = parts_of(test).function
    in_words = name.removeprefix("test_").replace("_", " ")
    yield from _wrapped(promise or in_words)
    yield "    needs no relation"
    yield from _placed(test)


def needs_of(transformation: object) -> str:
    """The needs of a relation, in words: ``ratings in the history``."""
    needs: list[str] = sorted(getattr(transformation, "needs", ()))
    words = [NEEDS.get(need, need) for need in needs]
    promised = getattr(transformation, "promised", "")
    if promised:
        words.append(f"a recommender that claims to use {promised}")
    return " and ".join(words) or "nothing"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _placed(test: str) -> Iterator[str]:
    """Where a test is, in one line if it fits, else with its function
    on a second one.
    """
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
    item: pytest.Item,
    transformation: object | None,
    oracle: str,
    allowed: Allowed | None = None,
) -> str:
    """The promise that a test checks, in one line.

    One relation can be tested for two promises. "The ranking stays the same" is not
    what an oracle checks that wants at least some change, so the relation's words count
    only if they fit.

    Args:
        item: The test.
        transformation: The relation that it tests; None if it tests none.
        oracle: The name of the oracle that judges, as in a record; empty if it is not
            known.
        allowed: How the oracle bounds its measure.

    Returns:
        The words of the relation, else of the test, else of the oracle; empty if none
        of them has any.
    """
    if transformation is not None and _fits(transformation, oracle, allowed):
        of_relation = promised_by(transformation)
        if of_relation:
            return of_relation
    of_test = paragraph(getattr(getattr(item, "obj", None), "__doc__", ""))
    return of_test or _of_oracle(oracle)


def _fits(transformation: object, oracle: str, allowed: Allowed | None) -> bool:
    """Whether an oracle checks the promise of a relation:
    a change, or that nothing changes.
    """
    if not oracle:
        return True
    promises_change = getattr(transformation, "promises_change", False)
    wants_change = allowed == "at least" or _function_of(oracle) in _WANT_CHANGE
    return bool(wants_change == promises_change)


def _function_of(oracle: str) -> str:
    """The name of an oracle without its measure:
    ``same_ranking`` of ``same_ranking:rbo``.
    """
    return oracle.partition(":")[0]


def _of_oracle(oracle: str) -> str:
    """The description of an oracle; empty if it is not one of this package."""
    if not oracle:
        return ""
    from pytest_recsys_mt import oracles

    function = getattr(oracles, _function_of(oracle), None)
    return paragraph(getattr(function, "__doc__", ""))


def paragraph(docstring: str | None) -> str:
    """The first paragraph, in one line."""
    text = inspect.cleandoc(docstring or "")
    first, _, _ = text.partition("\n\n")
    return " ".join(first.split())

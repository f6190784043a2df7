"""Every public oracle shows how it is used, and what it shows runs."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import re
from types import SimpleNamespace
from typing import Any

from pytest_recsys_mt import Verdict, oracles, relations
from tests.laws import over
from tests.oracles.test_measures import CATALOGUE, KNOWN, answers, choices, pinned_file

PUBLIC = [
    name
    for name in oracles.__all__
    if inspect.isroutine(getattr(oracles, name))
    or inspect.isclass(getattr(oracles, name))
]


def example(name: str) -> str:
    """The section ``Example:`` of an oracle's docstring; empty without one."""
    text = inspect.getdoc(getattr(oracles, name)) or ""
    found = re.search(r"(?m)^Example:\n((?:(?:    .*)?\n?)+)", text)
    return inspect.cleandoc("\n" + found[1]) if found else ""


CALLED = [name for name in PUBLIC if ">>>" in example(name)]
TESTS = [name for name in PUBLIC if name not in CALLED]


@over("name", PUBLIC)
def test_every_public_oracle_has_an_example(name: str) -> None:
    shown = example(name)
    needed = (
        f"the docstring of {name} needs a section 'Example:' with a line that uses it"
    )
    assert shown, needed
    # Some classes are what a function returns, so their example calls that function.
    assert inspect.isclass(getattr(oracles, name)) or f"{name}(" in shown, needed


@over("name", CALLED)
def test_what_a_call_returns_is_true(name: str) -> None:
    names = {each: getattr(oracles, each) for each in oracles.__all__}
    parsed = doctest.DocTestParser().get_doctest(example(name), names, name, None, None)
    result = doctest.DocTestRunner(verbose=False).run(parsed)
    assert result.attempted
    assert not result.failed


class Recsys:
    """The fixture `recsys`, with answers that were given beforehand."""

    context = KNOWN

    def using(self, **changes: object) -> Recsys:
        return self

    def run(self, *changes: object) -> Any:
        return answers("changed(1)", -1) if changes else answers()


class Said(ast.NodeTransformer):
    """What a test asserts is kept as `said`, since a promise may be broken."""

    def visit_Assert(self, node: ast.Assert) -> ast.Assign:
        return ast.Assign([ast.Name("said", ast.Store())], node.test)


@over("name", TESTS)
def test_the_line_of_a_test_gives_a_verdict(name: str) -> None:
    tree = ast.fix_missing_locations(Said().visit(ast.parse(example(name))))
    recsys = Recsys()
    names: dict[str, Any] = {
        **{each: getattr(relations, each) for each in relations.__all__},
        **{each: getattr(oracles, each) for each in oracles.__all__},
        "recsys": recsys,
        "recsys_against": recsys,
        "source": recsys.run(),
        "followup": recsys.run(relations.swap_history),
        "replies": SimpleNamespace(choices=choices()),
        "changed": SimpleNamespace(choices=choices(1)),
    }
    with contextlib.chdir(pinned_file().parent):
        exec(compile(tree, name, "exec"), names)  # noqa: S102 - our own code
    if name == "curve":
        assert [point[0] for point in names["points"]] == [2, 5, 10]
    elif name == "means_of_users":
        assert names["ours"]
        assert all(0 <= score <= 1 for score in names["ours"].values())
    elif name == "slots_of":
        (asked, *_) = answers().asked
        assert names["invented"](asked.answers[0], asked, KNOWN) == (0, 0)
    else:
        assert isinstance(names["said"], Verdict)


def test_a_score_of_ones_own_is_the_number_that_it_says() -> None:
    assert example("Score").count("\n") < 8
    source = example("Score").partition("assert")[0]
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102 - our own code
    (asked, *_) = answers().asked
    assert {KNOWN.items[item].year for item in CATALOGUE} == {2000}
    assert names["recent"](asked.answers[0], asked, KNOWN) == (1.0, 0)

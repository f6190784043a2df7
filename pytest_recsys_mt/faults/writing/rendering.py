"""Tests as code: one for each form of all candidates, to find out which ones hold, and
the file that is written in the end.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.faults.writing.candidates import Candidate, Form, form_name

WIDTH = 88
"""Columns of a line of the file."""

_INDENT = "    "


@dataclass(frozen=True)
class Written:
    """One test of a file.

    Attributes:
        candidate: What it promises.
        form: How it is asserted.
        margin: Stands in the assertion, if the form has one.
        users: Likewise.
        comments: Sentences above the assertion.
        xfail: Why it is expected to fail; empty if it is not.
        name: Of its function, in place of the candidate's.
        changes: The relations of a function that several tests share.
    """

    candidate: Candidate
    form: Form
    margin: float = 0.0
    users: int = 0
    comments: Sequence[str] = ()
    xfail: str = ""
    name: str = ""
    changes: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """The name of its function, without ``test_``."""
        return self.name or self.candidate.name


def words(thing: str) -> Mapping[str, str]:
    """The word for an item, as `Candidate.why` names it."""
    one = thing or "item"
    several = one if one.endswith("s") else f"{one}s"
    return {"thing": one, "things": several, "Things": several.capitalize()}


def code_of(written: Written, *, needs_exact: bool = False) -> str:
    """The code of a test.

    Args:
        written: The test.
        needs_exact: Whether a recommender whose answers vary skips it: where it is not
            known yet whether they do.
    """
    candidate, form = written.candidate, written.form
    name = written.function
    arguments = form.arguments.format(users=written.users, margin=f"{written.margin:g}")
    lines = []
    if written.xfail:
        lines.append(
            f"@pytest.mark.xfail(strict=True, reason={json.dumps(written.xfail)})"
        )
    is_simple = candidate.change and candidate.kind != "answer"
    if is_simple and not candidate.setting and not candidate.base:
        lines += _decorated(written.changes or (candidate.change,))
        lines.append(f"def test_{name}(source, followup):")
        body = [_assertion(form.oracle, ("source", "followup"), arguments)]
        varies = "not source.context.deterministic"
    else:
        lines.append(f"def test_{name}(recsys):")
        body = _body_with_runs(candidate, form, arguments)
        varies = "not recsys.deterministic"
    comments = [line for text in written.comments for line in _comment(text)]
    if needs_exact and form.is_exact:
        skipping = f'{_INDENT}raise NotApplicable("its answers vary")'
        body = [f"if {varies}:", skipping, *body]
    lines += [f"{_INDENT}{line}" for line in [*comments, *body]]
    return "\n".join(lines) + "\n"


def _decorated(changes: Sequence[str]) -> list[str]:
    """The decorator of a function; of several lines if one is too short."""
    line = f"@metamorphic({', '.join(changes)})"
    if len(line) <= WIDTH:
        return [line]
    inner = f"{_INDENT}{', '.join(changes)}"
    if len(inner) <= WIDTH:
        return ["@metamorphic(", inner, ")"]
    return ["@metamorphic(", *(f"{_INDENT}{change}," for change in changes), ")"]


def _body_with_runs(candidate: Candidate, form: Form, arguments: str) -> list[str]:
    """The lines of a test that asks by itself."""
    lines = []
    asked = "recsys"
    if candidate.setting:
        lines.append(f"asked = recsys.using({candidate.setting})")
        asked = "asked"
    if candidate.kind == "answer":
        answers = f"{asked}.run({candidate.change})"
        return [*lines, _assertion(form.oracle, (answers,), arguments)]
    lines.append(f"source = {asked}.run({candidate.base})")
    lines.append(f"followup = {asked}.run({candidate.change})")
    return [*lines, _assertion(form.oracle, ("source", "followup"), arguments)]


def _assertion(oracle: str, sides: Sequence[str], arguments: str) -> str:
    return f"assert {oracle}({', '.join([*sides, arguments])})"


def _comment(text: str) -> list[str]:
    wrapped = textwrap.wrap(text, WIDTH - len(_INDENT) - 2, break_long_words=False)
    return [f"# {line}" for line in wrapped]


def imports_of(tests: Iterable[Written]) -> str:
    """The imports that some tests need, sorted as a linter does."""
    oracles, relations = set(), set()
    marks = needs_metamorphic = False
    for each in tests:
        candidate = each.candidate
        oracles.add(each.form.oracle)
        changes = each.changes or (candidate.change, candidate.base)
        for change in filter(None, changes):
            relations.add(re.split(r"\W", change, maxsplit=1)[0])
        marks |= bool(each.xfail)
        needs_metamorphic |= "@metamorphic" in code_of(each)
    lines = ["import pytest", ""] if marks else []
    if needs_metamorphic:
        lines.append("from pytest_recsys_mt import metamorphic")
    lines.append(_import("pytest_recsys_mt.oracles", oracles))
    if relations:
        lines.append(_import("pytest_recsys_mt.relations", relations))
    return "\n".join(lines) + "\n"


def _import(module: str, names: Iterable[str]) -> str:
    ordered = sorted(names)
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return line
    return (
        f"from {module} import (\n"
        + "".join(f"    {name},\n" for name in ordered)
        + ")"
    )


def trial_file(candidates: Sequence[Candidate], users: int) -> str:
    """A file with every form of all candidates."""
    tests = [
        Written(
            candidate,
            form,
            margin=form.margin,
            users=users,
            name=form_name(candidate, form),
        )
        for candidate in candidates
        for form in candidate.forms
    ]
    head = imports_of(tests).replace(
        "import metamorphic", "import NotApplicable, metamorphic", 1
    )
    code = [code_of(each, needs_exact=True) for each in tests]
    return "\n\n".join([head, *code])


def whole_file(head: str, tests: Sequence[Written]) -> str:
    """The file that is written.

    Args:
        head: What stands at its beginning, in sentences and commands.
        tests: Its tests, in their order.
    """
    return "\n\n".join(
        [f'"""{head.strip()}\n"""\n\n{imports_of(tests)}', *map(code_of, tests)]
    )

"""Adds the facts behind each verdict, and the gate, to pytest's JUnit file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from pytest_recsys_mt.gate.document import Decision, Document, Row
from pytest_recsys_mt.gate.nodeids import function_of, parts_of
from pytest_recsys_mt.gate.states import grouped, state_of
from pytest_recsys_mt.report.folding import ORDER, sentence_of
from pytest_recsys_mt.report.judged import unread_in_words, unread_of
from pytest_recsys_mt.safety.files import written_to
from pytest_recsys_mt.safety.sanitize import clean

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FACTS = (
    "suite", "relation", "model", "oracle", "status", "estimate", "interval", "floor", "agreement",
    "margin", "p_value", "p_holm", "p_bh", "users", "not_applicable", "errors", "looks", "reason",
    "metric", "value", "threshold", "slices", "attempts", "reproduce", "vacuous",
)  # fmt: skip

_OUR_FILES = re.compile(r"^\S*?[/\\](pytest_recsys_mt[/\\]suites[/\\])")
_OUR_MODULES = re.compile(
    r"^[^ ]*?(?:site-packages|\.\.)[^ ]*?\.(pytest_recsys_mt\.suites\.)",
)

GATE = ("recsys_mt", "gate")
"""Class name and name of the test case that shows whether the gate passed."""


def annotate(
    path: Path,
    document: Document,
    config: pytest.Config,
    *,
    gate: bool,
) -> None:
    """Add the facts of the record where consumers look for them.

    * ``system-out`` of each test case: a sentence and a line of JSON for each of its
    verdicts.
    * a failure: the sentences begin its message, its text has the command that
    reproduces it.
    * class names and files of the suites: as in the package, not as in this
    environment.
    * properties of the test suite: the gate, the data, the seed, the digests. The
      schema of ``xunit2`` allows properties only there.
    * properties of each test case if the family allows them (``xunit1`` and
      ``legacy``). Readers make a map of them, so those of a test's second verdict end
      in ``.2``.
    * a test case for the gate, if one was requested, or if it fails although no test
      does: readers of the file alone must see that.
    """
    tree = ElementTree.parse(path)
    prefix = str(config.getoption("junitprefix", None) or "")
    by_case = grouped(document["results"], lambda row: _case_of(row["nodeid"], prefix))
    properties = config.getini("junit_family") in ("xunit1", "legacy")
    for case in tree.iter("testcase"):
        rows = by_case.get((case.get("classname", ""), case.get("name", "")), [])
        if rows:
            _add(case, rows, properties)
        _name_ours(case, f"{prefix}." if prefix else "")
    suite = next(tree.iter("testsuite"), None)  # it may be the root itself
    if suite is not None:
        _add_properties(suite, _facts_of_run(document))
        has_failures = (
            int(suite.get("failures", "0")) > 0 or int(suite.get("errors", "0")) > 0
        )
        fails_alone = not has_failures and document["gate"]["status"] != "passed"
        if gate or fails_alone:
            _add_gate(suite, document["gate"], prefix)
    text = ElementTree.tostring(tree.getroot(), encoding="unicode")
    with written_to(path, path.stat().st_mode & 0o777) as stream:
        stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}')


def _facts_of_run(document: Document) -> dict[str, object]:
    facts: dict[str, object] = {
        "gate": document["gate"]["status"],
        "gate.sentence": document["gate"]["sentence"],
        "models": ", ".join(document["models"]),
        "data": document["data"],
        "data_digest": document["data_digest"] or "",
        "seed": document["seed"],
        "version": document["version"],
    }
    for name, digest in document["digests"].items():
        facts[f"digest.{name}"] = digest
    return facts


def _case_of(nodeid: str, prefix: str) -> tuple[str, str]:
    """The class name and the name that pytest gives the case of a test."""
    file, names, _ = parts_of(nodeid)
    module = re.sub(r"\.py$", "", file.replace("/", "."))
    in_brackets = nodeid.removeprefix(function_of(nodeid))  # they may be empty
    *classes, function = names or [""]
    parts = [prefix, module, *classes]
    return ".".join(part for part in parts if part), function + in_brackets


def _add(case: Element, rows: Sequence[Row], properties: bool) -> None:
    """Add the verdicts of a test to its case."""
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        facts = {
            name: row.get(name) for name in FACTS if row.get(name) not in (None, "", [])
        }
        if properties:
            suffix = "" if number == 1 else f".{number}"
            _add_properties(
                case,
                {f"{name}{suffix}": value for name, value in facts.items()},
            )
        lines.append(sentence_of(row))
        lines += unread_in_words(unread_of(row))
        lines.append(json.dumps({"recsys-mt": facts}))
    failures = [part for part in case if part.tag in ("failure", "error")]
    if failures:
        _explain(failures[0], rows)
    output = case.find("system-out")
    if output is None:
        output = ElementTree.SubElement(case, "system-out")
    output.text = "\n".join([*lines, output.text or ""])


def _explain(failure: Element, rows: Sequence[Row]) -> None:
    """Write the sentences of the verdicts behind a failure before
    its message, and the command below its text.
    """
    sentences = []
    for state in ORDER[:-1]:
        sentences += [sentence_of(row) for row in rows if state_of(row) == state]
    message = failure.get("message") or ""
    # pytest's message repeats the verdict, unless the test failed for something else as
    # well.
    is_repeated = any(_statement(sentence) in message for sentence in sentences)
    if sentences and is_repeated:
        failure.set("message", "\n".join(sentences))
    elif sentences:
        failure.set("message", "\n".join([*sentences, message]))
    for command in dict.fromkeys(row["reproduce"] for row in rows if row["reproduce"]):
        if command not in (failure.text or ""):
            failure.text = f"{failure.text or ''}\nto run this test again: {command}"


def _statement(sentence: str) -> str:
    """A sentence without the name before its colon."""
    _, _, statement = sentence.partition(": ")
    return statement.rstrip(".")


def _name_ours(case: Element, prefix: str) -> None:
    """Give a case of the shipped suites the names that it has
    in the package, not in this environment.
    """
    name = case.get("classname", "")
    file = case.get("file")
    own_prefix = prefix if name.startswith(prefix) else ""
    module = _OUR_MODULES.sub(r"\1", name.removeprefix(own_prefix))
    case.set("classname", f"{own_prefix}{module}")
    if file is not None:
        case.set("file", _OUR_FILES.sub(r"\1", file))
    skipped = case.find("skipped")
    if skipped is not None and skipped.text:
        skipped.text = _OUR_FILES.sub(r"\1", skipped.text)


def _add_gate(suite: Element, gate: Decision, prefix: str) -> None:
    """Add the case of the gate to the test suite, and count it there."""
    class_name, name = GATE
    if prefix:
        class_name = f"{prefix}.{class_name}"
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=class_name,
        name=name,
        time="0.000",
    )
    failed = gate["status"] != "passed"
    gate = clean(gate)  # its reasons quote the policy
    if failed:
        failure = ElementTree.SubElement(case, "failure", message=gate["sentence"])
        failure.text = "\n".join(gate["reasons"])
    output = ElementTree.SubElement(case, "system-out")
    facts = {
        "gate": gate["status"],
        "sentence": gate["sentence"],
        "reasons": gate["reasons"],
    }
    output.text = json.dumps({"recsys-mt": facts})
    for attribute, further in (("tests", 1), ("failures", int(failed))):
        count = int(suite.get(attribute, "0")) + further
        suite.set(attribute, str(count))


def _add_properties(element: Element, facts: Mapping[str, object]) -> None:
    holder = element.find("properties")
    if holder is None:
        holder = ElementTree.Element("properties")
        element.insert(0, holder)
    for name, value in facts.items():
        text = value if isinstance(value, str) else json.dumps(value)
        ElementTree.SubElement(holder, "property", name=f"recsys_mt.{name}", value=text)

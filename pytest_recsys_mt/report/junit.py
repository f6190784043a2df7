"""Adds the facts behind each verdict, and the gate, to pytest's JUnit file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from pytest_recsys_mt.files import written_whole
from pytest_recsys_mt.gate.document import Decision, Document, Row, measured

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FACTS = (
    "suite", "relation", "model", "oracle", "status", "estimate", "interval", "floor", "agreement",
    "margin", "p_value", "p_holm", "p_bh", "users", "not_applicable", "errors", "looks", "reason",
    "metric", "value", "threshold", "attempts", "reproduce",
)  # fmt: skip

GATE = ("recsys_mt", "gate")
"""Class name and name of the test case that shows whether the gate passed."""


def annotate(path: Path, document: Document, config: pytest.Config, *, gate: bool) -> None:
    """Add the facts of the record where consumers look for them.

    * ``system-out`` of each test case: a sentence and a line of JSON for each of its verdicts.
    * the text of a failure: the command that reproduces it.
    * properties of the test suite: the gate, the data, the seed, the digests. The schema of
      ``xunit2`` allows properties only there.
    * properties of each test case if the family allows them (``xunit1`` and ``legacy``). Readers
      make a map of them, so those of a test's second verdict end in ``.2``.
    * a test case for the gate, if one was requested, or if it fails although no test does: readers
      of the file alone must see that.

    Args:
        path: Path of the file.
        document: The record.
        config: The config of the run.
        gate: Whether a gate was requested.
    """
    tree = ElementTree.parse(path)
    by_case: dict[tuple[str, str], list[Row]] = {}
    prefix = str(config.getoption("junitprefix", None) or "")
    for row in document["results"]:
        by_case.setdefault(_case_of(row["nodeid"], prefix), []).append(row)
    properties = config.getini("junit_family") in ("xunit1", "legacy")
    for case in tree.iter("testcase"):
        name = (case.get("classname", ""), case.get("name", ""))
        for number, row in enumerate(by_case.get(name, []), 1):
            _add(case, row, properties, "" if number == 1 else f".{number}")
    for suite in list(tree.iter("testsuite"))[:1]:
        _describe(suite, document)
        alone = not (int(suite.get("failures", "0")) or int(suite.get("errors", "0")))
        if gate or (alone and document["gate"]["status"] != "passed"):
            _add_gate(suite, document["gate"], prefix)
    text = ElementTree.tostring(tree.getroot(), encoding="unicode")
    with written_whole(path, path.stat().st_mode & 0o777) as stream:
        stream.write(f'<?xml version="1.0" encoding="utf-8"?>\n{text}')


def sentence(row: Row) -> str:
    """A row as a sentence: ``scale_ratings(2) holds (same_ranking:rbo): ...``."""
    metric, value, limit = measured(row)
    told = [f"{row['relation'] or 'unchanged'} {row['status']} ({row['oracle'] or 'no verdict'})"]
    if value is not None and row["interval"] is not None:
        low, high = row["interval"]
        bounds = "approximate bounds " if row.get("approximate") else ""
        told.append(
            f"{metric or 'effect'} {value:.3f} {bounds}[{low:.3f}, {high:.3f}], limit {limit:g}"
        )
        told.append(f"{row['users']} users")
    if row["reason"]:
        told.append(row["reason"])
    if row["attempts"] > 1:
        told.append(f"the last of {row['attempts']} attempts")
    return "; ".join(told)


def _case_of(nodeid: str, prefix: str) -> tuple[str, str]:
    """Class name and name of a test in pytest's file."""
    address, bracket, parameters = nodeid.partition("[")
    names = address.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + parameters
    return ".".join(filter(None, [prefix, *names[:-1]])), names[-1]


def _add(case: Element, row: Row, properties: bool, suffix: str) -> None:
    facts = {name: fact for name in FACTS if (fact := row.get(name)) not in (None, "")}
    if properties:
        _add_properties(case, {f"{name}{suffix}": value for name, value in facts.items()})
    failure = next((part for part in case if part.tag in ("failure", "error")), None)
    if failure is not None and row["reproduce"] and row["reproduce"] not in (failure.text or ""):
        failure.text = f"{failure.text or ''}\nto run this test again: {row['reproduce']}"
    output = case.find("system-out")
    if output is None:
        output = ElementTree.SubElement(case, "system-out")
    output.text = f"{output.text or ''}{sentence(row)}\n{json.dumps({'recsys-mt': facts})}\n"


def _describe(suite: Element, document: Document) -> None:
    _add_properties(
        suite,
        {
            "gate": document["gate"]["status"],
            "gate.sentence": document["gate"]["sentence"],
            "models": ", ".join(document["models"]),
            "data": document["data"],
            "data_digest": document["data_digest"] or "",
            "seed": document["seed"],
            "version": document["version"],
            **{f"digest.{name}": value for name, value in document["digests"].items()},
        },
    )


def _add_gate(suite: Element, gate: Decision, prefix: str) -> None:
    name = ".".join(filter(None, [prefix, GATE[0]]))
    case = ElementTree.SubElement(suite, "testcase", classname=name, name=GATE[1], time="0.000")
    failed = gate["status"] != "passed"
    if failed:
        failure = ElementTree.SubElement(case, "failure", message=gate["sentence"])
        failure.text = "\n".join(gate["reasons"])
    output = ElementTree.SubElement(case, "system-out")
    facts = {"gate": gate["status"], "sentence": gate["sentence"], "reasons": gate["reasons"]}
    output.text = json.dumps({"recsys-mt": facts})
    for attribute, more in (("tests", 1), ("failures", int(failed))):
        suite.set(attribute, str(int(suite.get(attribute, "0")) + more))


def _add_properties(element: Element, facts: Mapping[str, object]) -> None:
    holder = element.find("properties")
    if holder is None:
        holder = ElementTree.Element("properties")
        element.insert(0, holder)
    for name, value in facts.items():
        ElementTree.SubElement(holder, "property", name=f"recsys_mt.{name}", value=_text(value))


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)

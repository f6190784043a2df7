"""The facts behind each verdict, in the JUnit file that pytest wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from pytest_recsys_mt.report.record import Row

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FACTS = (
    "suite", "relation", "model", "oracle", "status", "estimate", "interval", "floor", "agreement",
    "margin", "p_value", "p_holm", "p_bh", "users", "not_applicable", "errors", "looks", "reason",
    "metric", "value", "threshold",
)  # fmt: skip


def annotate(path: Path, rows: list[Row], config: pytest.Config) -> None:
    """Add the rows to their test cases: as a line of JSON in ``system-out``, and as properties
    where the file's family allows them (``xunit1`` and ``legacy``).

    pytest itself writes ``system-out`` only if `junit_logging` asks for it, and would send
    properties to readers that reject them.
    """
    if not path.exists():
        return
    tree = ElementTree.parse(path)
    by_case: dict[tuple[str, str], list[Row]] = {}
    prefix = str(config.getoption("junitprefix", None) or "")
    for row in rows:
        by_case.setdefault(_case_of(row["nodeid"], prefix), []).append(row)
    properties = config.getini("junit_family") in ("xunit1", "legacy")
    for case in tree.iter("testcase"):
        name = (case.get("classname", ""), case.get("name", ""))
        for row in by_case.get(name, []):
            _add(case, row, properties)
    tree.write(path, encoding="utf-8", xml_declaration=True)


def _case_of(nodeid: str, prefix: str) -> tuple[str, str]:
    """Class name and name under which pytest files a test."""
    address, bracket, parameters = nodeid.partition("[")
    names = address.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + parameters
    return ".".join(filter(None, [prefix, *names[:-1]])), names[-1]


def _add(case: Element, row: Row, properties: bool) -> None:
    facts = {name: row[name] for name in FACTS if row.get(name) not in (None, "")}
    if properties:
        holder = case.find("properties")
        if holder is None:
            holder = ElementTree.Element("properties")
            case.insert(0, holder)
        for name, value in facts.items():
            ElementTree.SubElement(holder, "property", name=f"recsys_mt.{name}", value=_text(value))
    output = case.find("system-out")
    if output is None:
        output = ElementTree.SubElement(case, "system-out")
    output.text = (output.text or "") + json.dumps({"recsys-mt": facts}) + "\n"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)

"""The package imports what it declares, and of that only the
core outside the places that name an extra.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
MODULES = {"pillow": "PIL"}
NEEDED_BY = {"markupsafe", "huggingface_hub"}
"""Needed by jinja2 and by transformers, which extras name."""


def modules_of(requirements: list[str]) -> set[str]:
    names = (re.split(r"[\[<>=; ]", text)[0].lower() for text in requirements)
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


CORE = modules_of(PROJECT["dependencies"])
EXTRAS = modules_of(
    [text for extra in PROJECT["optional-dependencies"].values() for text in extra],
)


def imported(file: Path, *, at_start: bool) -> set[str]:
    """The packages that a file imports, anywhere or when it is imported itself."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = tree.body if at_start else ast.walk(tree)
    found = set[str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found - sys.stdlib_module_names - {"pytest_recsys_mt"}


FILES = [
    file
    for room in ("pytest_recsys_mt", "relations", "oracles", "suites")
    for file in (ROOT / room).rglob("*.py")
]


def test_what_is_imported_is_declared() -> None:
    assert len(FILES) > 300
    for file in FILES:
        undeclared = imported(file, at_start=False) - CORE - EXTRAS - NEEDED_BY
        assert not undeclared, (file, undeclared)


def test_suites_relations_and_oracles_need_the_core_alone() -> None:
    for file in FILES:
        folder = file.relative_to(ROOT).parts[0]
        is_test = folder == "suites" and file.name.startswith("test_")
        if folder in ("relations", "oracles") or is_test:
            assert imported(file, at_start=True) <= CORE, file


def of_scipy(tree: ast.Module) -> set[str]:
    """The names that a module takes from SciPy."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy")
        for alias in node.names
    }


def test_no_type_of_scipy_is_indexed_when_a_program_runs() -> None:
    # Only those from SciPy 1.16 on can be; annotations are not read where the first
    # line says so.
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        names = (
            of_scipy(tree)
            if "from __future__ import annotations" not in text
            else set()
        )
        indexed = {
            node.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
        }
        assert not indexed & names, file


def test_the_citation_is_of_this_version() -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in cited
    assert f"\nlicense: {PROJECT['license']}\n" in cited

"""Every import that the docs, the README, the tests of suites
and the examples show works, of public names.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws import over
from tests.support.former_names import FORMER

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "pytest_recsys_mt"
PUBLIC = [PACKAGE] + [
    f"{PACKAGE}.{name}"
    for name in (
        "datasets",
        "extensions",
        "faults",
        "oracles",
        "recommenders.adapters",
        "relations",
        "requests",
        "strategies",
        "suites.arena",
        "suites.lrworld",
        "verdict.answers",
    )
]
BLOCK = re.compile(r"(?ms)^ *```python[^\n]*\n(.*?)^ *```")
STATEMENT = re.compile(rf"(?m)^ *(from {PACKAGE}[\w.]* import (?:\([^)]*\)|[^\n]+))")


def shown() -> Iterator[tuple[str, str, str]]:
    """File, module and name of each import that a reader sees."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [
        (page, "\n".join(BLOCK.findall(page.read_text(encoding="utf-8"))))
        for page in pages
    ]
    for folder in ("suites", "examples"):
        texts += [
            (path, path.read_text(encoding="utf-8"))
            for path in (ROOT / folder).rglob("*.py")
            if folder == "examples" or path.name.startswith("test_")
        ]
    for path, text in texts:
        for statement in STATEMENT.findall(text):
            node = ast.parse(statement).body[0]
            assert isinstance(node, ast.ImportFrom)
            for alias in node.names:
                yield str(path.relative_to(ROOT)), str(node.module), alias.name


def test_the_docs_show_imports() -> None:
    assert len(list(shown())) > 100


@over("module, name", sorted({(module, name) for _, module, name in shown()}))
def test_an_import_that_is_shown_works_and_is_of_a_public_name(
    module: str,
    name: str,
) -> None:
    where = {file for file, *what in shown() if what == [module, name]}
    assert module in PUBLIC, f"{where} import from {module}, which is private"
    assert name in importlib.import_module(module).__all__, f"{where} import {name}"


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_there(module: str) -> None:
    public = importlib.import_module(module)
    assert [name for name in public.__all__ if not hasattr(public, name)] == []


def private_imports(path: Path) -> Iterator[str]:
    """The imports of a test that are of no public name, as Python writes them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            module = ""
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            full = f"{module}.{name}" if module else name
            if full.split(".")[0] != PACKAGE or full in PUBLIC:
                continue
            is_public = module in PUBLIC and (
                name in importlib.import_module(module).__all__
            )
            if not is_public:
                yield full


def test_tests_import_private_names_from_their_support_package() -> None:
    # A module that moves is then edited in one file of `tests/support`, and no test.
    support = ROOT / "tests" / "support"
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if support not in path.parents
        for name in private_imports(path)
    ]
    assert not found, "\n".join(found)


def test_a_public_module_is_found_by_its_former_name_with_a_warning() -> None:
    for former, present in FORMER.items():
        with pytest.warns(DeprecationWarning, match=re.escape(present)):
            found = importlib.import_module(former)
        assert found is importlib.import_module(present)
        sys.modules.pop(former)


def test_names_that_changed_are_found_with_a_warning() -> None:
    arena = importlib.import_module("pytest_recsys_mt.suites.arena")
    with pytest.warns(DeprecationWarning, match="JudgeRunner"):
        assert arena.Bench is arena.JudgeRunner

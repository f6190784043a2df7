"""Code in docstrings is Python, and the tests that they show pass in a real run."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.laws import over

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("pytest_recsys_mt", "oracles", "relations", "suites", "examples")
BEGINS = re.compile(
    r"(from \w[\w.]* import |import \w|@\w|def \w|class \w|assert |with \w[^.]*:$)",
)
"""How a line of Python begins that no sentence begins with."""


def blocks(docstring: str) -> Iterator[str]:
    """The indented blocks of a docstring that are code, as they stand there."""
    for paragraph in re.split(r"\n\s*\n(?=\S)|\n(?=\S)", inspect.cleandoc(docstring)):
        _, _, below = paragraph.partition("\n")
        code = textwrap.dedent(below).strip("\n")
        first = code.lstrip("\n").partition("\n")[0]
        if below.startswith((" ", "\n ")) and BEGINS.match(first) and ">>>" not in code:
            yield code


def shown() -> Iterator[tuple[str, str]]:
    """Each block of code with the file and the name of what it documents."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if not isinstance(
                    node,
                    ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
                ):
                    continue
                docstring = ast.get_docstring(node, clean=False)
                name = getattr(node, "name", "the module")
                for code in blocks(docstring or ""):
                    yield f"{path.relative_to(ROOT)}: {name}", code


SHOWN = dict(enumerate(shown()))
TESTS = {number: each for number, each in SHOWN.items() if "def test_" in each[1]}


def test_docstrings_show_code() -> None:
    assert len(SHOWN) > 20
    assert len(TESTS) > 1


@over("number", list(SHOWN))
def test_code_in_a_docstring_is_python(number: int) -> None:
    where, code = SHOWN[number]
    try:
        ast.parse(code)
    except SyntaxError as error:
        pytest.fail(f"{where}: {error}\n{code}")


def test_tests_in_docstrings_pass(pytester: pytest.Pytester) -> None:
    names = "from pytest_recsys_mt import metamorphic\n"
    for room in ("oracles", "relations"):
        names += f"from pytest_recsys_mt.{room} import *\n"
    for number, (_, code) in TESTS.items():
        pytester.makepyfile(**{f"test_shown_{number}": f"{names}\n{code}\n"})
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-model=itemknn",
    )
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] >= len(TESTS)

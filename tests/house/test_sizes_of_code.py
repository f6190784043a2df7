"""Modules and functions stay short enough to be read at one go."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("pytest_recsys_mt", "oracles", "relations", "suites")

LINES_OF_A_MODULE = 400
LINES_OF_A_FUNCTION = 60
"""From `def` to the last line, with the docstring."""
POSITIONAL = 6
"""Parameters that a call may give by their place; `self` and `cls` are not among them."""
UNFORMATTED = 72
"""How many places ruff leaves as they are. It may only
fall: whoever removes one lowers the number.
"""

SKIP = "# fmt: " + "skip"


def files() -> list[Path]:
    """The sources of the package, each once, although
    three folders stand in it as links too.
    """
    found = {path.resolve() for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    return sorted(found)


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a module, those within others too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def long_module(text: str, name: str) -> list[str]:
    lines = len(text.splitlines())
    if lines <= LINES_OF_A_MODULE:
        return []
    return [
        f"{name}:1: the module has {lines} lines, at most {LINES_OF_A_MODULE} are allowed",
    ]


def long_functions(text: str, name: str) -> list[str]:
    found = []
    for each in functions(text):
        lines = (each.end_lineno or 0) - each.lineno + 1
        if lines > LINES_OF_A_FUNCTION:
            told = f"{each.name} has {lines} lines, at most {LINES_OF_A_FUNCTION} are allowed"
            found.append(f"{name}:{each.lineno}: {told}")
    return found


def many_positional(text: str, name: str) -> list[str]:
    found = []
    for each in functions(text):
        parameters = [*each.args.posonlyargs, *each.args.args]
        if parameters and parameters[0].arg in ("self", "cls"):
            parameters = parameters[1:]
        if len(parameters) > POSITIONAL:
            told = f"{each.name} has {len(parameters)} positional parameters, at most {POSITIONAL} are allowed"
            found.append(f"{name}:{each.lineno}: {told}")
    return found


def unformatted(text: str, name: str) -> list[str]:
    """The places that ruff leaves as they are."""
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{number}" for number, line in lines if SKIP in line]


def in_all_files(check: Callable[[str, str], list[str]]) -> list[str]:
    found: list[str] = []
    for path in files():
        found += check(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    return found


def test_each_file_is_looked_at_once() -> None:
    names = [path.relative_to(ROOT).as_posix() for path in files()]
    assert len(names) > 500
    assert len(set(names)) == len(names)
    assert not [name for name in names if name.startswith("pytest_recsys_mt/oracles/")]


def test_no_module_is_long() -> None:
    found = in_all_files(long_module)
    assert not found, "\n".join(found)


def test_no_function_is_long() -> None:
    found = in_all_files(long_functions)
    assert not found, "\n".join(found)


def test_no_function_takes_many_parameters_by_place() -> None:
    found = in_all_files(many_positional)
    assert not found, "\n".join(found)


def test_no_more_places_are_left_unformatted() -> None:
    found = in_all_files(unformatted)
    told = f"{len(found)} places have {SKIP!r}, at most {UNFORMATTED} are allowed; write new code as `ruff format` leaves it:\n"
    assert len(found) <= UNFORMATTED, told + "\n".join(found)
    lower = f"only {len(found)} places have {SKIP!r}; set UNFORMATTED to {len(found)}"
    assert len(found) == UNFORMATTED, lower


def test_what_is_above_a_limit_is_named() -> None:
    assert long_module("x = 1\n" * 400, "a.py") == []
    assert long_module("x = 1\n" * 401, "a.py") == [
        "a.py:1: the module has 401 lines, at most 400 are allowed",
    ]

    body = "        x = 1\n"
    within = "class Some:\n    async def one(self):\n"
    assert long_functions(within + body * 59, "a.py") == []
    assert long_functions(within + body * 60, "a.py") == [
        "a.py:2: one has 61 lines, at most 60 are allowed",
    ]
    with_docstring = within + '        """Says.\n' + "\n" * 58 + '        """\n' + body
    assert long_functions(with_docstring, "a.py") == [
        "a.py:2: one has 62 lines, at most 60 are allowed",
    ]

    assert unformatted(f"x = 1\ny = 2  {SKIP}\n", "a.py") == ["a.py:2"]


def test_parameters_by_place_are_counted_without_self() -> None:
    few = """
        class Some:
            def six(self, a, b, c, d, e, f, *, g, h): ...
            @classmethod
            def made(cls, a, b, c, d, e, f): ...
    """
    assert many_positional(dedent(few), "a.py") == []
    many = """
        def outer():
            def seven(a, b, /, c, d, e, f, g=1): ...
    """
    assert many_positional(dedent(many), "a.py") == [
        "a.py:3: seven has 7 positional parameters, at most 6 are allowed",
    ]

"""What the source of users' code says about a line of it, and what a verdict says there in a plan."""

import ast
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path


def in_assert(file: str, line: int) -> bool:
    """Whether a line of a file belongs to an assert."""
    return any(line in lines for lines in _lines(file)[0])


def holds_open(frame: types.FrameType | None, root: types.CodeType) -> bool:
    """Whether users' code that is running has opened something that it will close.

    Args:
        frame: The innermost frame.
        root: The code of the outermost frame, which does not count.

    Returns:
        Whether a frame is within a ``with`` or a ``try`` that has a ``finally``.
    """
    while frame is not None and frame.f_code is not root:
        name = frame.f_globals.get("__name__", "")
        ours = name.startswith("pytest_recsys_mt.") and not name.startswith(
            "pytest_recsys_mt.suites."
        )
        held = () if ours else _lines(frame.f_code.co_filename)[1]
        if any(frame.f_lineno in lines for lines in held):
            return True
        frame = frame.f_back
    return False


@cache
def _lines(file: str) -> tuple[tuple[range, ...], tuple[range, ...]]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return (), ()
    asserts = (_range(node, node) for node in ast.walk(tree) if isinstance(node, ast.Assert))
    return tuple(asserts), tuple(_closing(tree))


def _closing(tree: ast.Module) -> Iterator[range]:
    for node in ast.walk(tree):
        if isinstance(node, ast.With):
            yield _range(node.body[0], node)
        elif isinstance(node, ast.Try | ast.TryStar) and node.finalbody:
            yield range(node.lineno, node.finalbody[0].lineno)


def _range(first: ast.stmt, last: ast.stmt) -> range:
    return range(first.lineno, (last.end_lineno or last.lineno) + 1)


MOST = 20
"""How often a verdict goes the other way in one run of a body."""


@dataclass
class Branches:
    """What verdicts on made-up answers say: every assert passes, and both ways of a branch are gone."""

    way: bool = True  # outside an assert; but True after `MOST` times, as a loop would not end
    met: int = field(default=0, init=False)  # how often one was asked outside an assert

    def says(self, file: str, line: int) -> bool:
        """Whether a verdict is true at a line of some code."""
        if in_assert(file, line):
            return True
        self.met += 1
        return self.way or self.met > MOST

"""The kind of a line in the source of users' code, and
the truth of a verdict there in a plan.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path


def in_assert(file: str, line: int) -> bool:
    """Whether a line of a file belongs to an assert."""
    return any(line in lines for lines in _asserts(file))


@cache
def _asserts(file: str) -> tuple[range, ...]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return ()
    return tuple(
        _lines(node) for node in ast.walk(tree) if isinstance(node, ast.Assert)
    )


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


MOST = 20
"""How often a verdict goes the other way in one run of a body."""


@dataclass
class Branches:
    """The truth of verdicts on made-up answers: every assert
    passes, and both ways of a branch are gone.
    """

    # Outside an assert; but True after `MOST` times, as a loop would not end.
    way: bool = True
    met: int = field(default=0, init=False)  # how often one was read outside an assert

    def says(self, file: str, line: int) -> bool:
        """Whether a verdict is true at a line of some code."""
        if in_assert(file, line):
            return True
        self.met += 1
        return self.way or self.met > MOST

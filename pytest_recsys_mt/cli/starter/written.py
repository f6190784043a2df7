"""The tests of a new project, written for its recommender."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

from pytest_recsys_mt.cli.starter import Start
from pytest_recsys_mt.recommenders import may_cost

TESTS = "test_recsys.py"
"""The file that is written; the one test that stood there is an example."""

SECONDS = 10.0
"""For planted faults. `recsys-mt write` takes longer, and chooses by more of them."""


# The command line imports this room, so the room does not import the command line.
_PROGRAM = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"


def write_tests(start: Start, folder: Path) -> str:
    """Replace the test of a new project by those that `recsys-mt write` chooses for it.

    Args:
        start: The project.
        folder: Where its files are.

    Returns:
        Why the one test stays; empty if it was replaced.
    """
    with contextlib.chdir(folder):
        if may_cost(start.spec):
            return "its calls may cost money or time"
    print(f"finding out what {start.spec} promises ...", file=sys.stderr, flush=True)
    options = [f"--budget={SECONDS:g}s", f"--output={TESTS}"]
    command = [sys.executable, "-c", _PROGRAM, "write", *options, *options_of(start)]
    example = (folder / TESTS).read_text(encoding="utf-8")
    (folder / TESTS).unlink()  # the command replaces only what it wrote
    try:
        status = subprocess.run(command, cwd=folder, check=False).returncode
    finally:
        if not (folder / TESTS).exists():
            (folder / TESTS).write_text(example, encoding="utf-8")
    return f"recsys-mt write ended with {status}, see above" if status else ""


def options_of(start: Start) -> list[str]:
    """The options of pytest that name the recommender and the data."""
    data = [] if start.data == "mini" else [f"--recsys-data={start.data}"]
    return [f"--recsys-model={start.spec}", *data]

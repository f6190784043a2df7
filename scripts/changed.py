#!/usr/bin/env python3
"""Print the folders and files of tests that a change concerns; `scripts/test --changed`
runs them.

    python scripts/changed.py [REF]

The change is what differs from REF (default: HEAD, or the commit before it if nothing
differs), with files that git does not know yet. A changed module concerns the tests of
its room and of the rooms that import it, by the table of `tests/house/test_layers.py`;
a changed page those that run pages; a changed test itself. `tests/house` always runs.
What starts whole programs (tests/plugin, tests/suites) is left out unless its room is
changed: CI runs all.
"""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.house.test_layers import ROOMS, room_of

BESIDE = {
    "calls": ("durability",),
    "suites": ("suites",),
    "__init__": ("plugin",),
    "metamorphic": ("plugin",),
    "verdict": ("oracles", "report", "engine"),
    "requests": ("relations", "recommenders"),
    "cli": ("engine", "faults", "gate", "report"),
    "llm": ("models",),
    "safety": ("safety", "llm"),
}
"""Folders of tests for rooms whose tests stand under another name too."""


def main(arguments: list[str]) -> None:
    """Print the tests, one a line."""
    for path in concerned(changed(arguments[0] if arguments else "HEAD")):
        print(path)


def changed(reference: str) -> list[str]:
    """The files that differ from a commit, and new ones."""
    files = [
        *_git("diff", "--name-only", reference),
        *_git("ls-files", "-o", "--exclude-standard"),
    ]
    return files or _git("diff", "--name-only", f"{reference}~1")


def concerned(files: Iterable[str]) -> list[str]:
    """The tests that a change of these files concerns, as paths below the root."""
    found = {"tests/house"}
    for file in files:
        found |= _concerned_by(PurePosixPath(file))
    existing = {path for path in found if (ROOT / path).exists()}
    # A file within a folder that runs anyway would be collected twice.
    return sorted(path for path in existing if not _parents(path) & existing)


def _concerned_by(file: PurePosixPath) -> set[str]:
    top = file.parts[0]
    if top == "tests":
        is_test = file.name.startswith("test_")
        return {str(file) if is_test else str(file.parent)} - {"tests"}
    if top == "docs" or file.name == "README.md":
        return {
            "tests/journeys/test_pages.py",
            "tests/ci/test_docs_site.py",
            "tests/guide",
        }
    if top == "suites":
        return {"tests/suites"}
    if top in ("pytest_recsys_mt", "oracles", "relations") and file.suffix in (
        ".py",
        ".toml",
    ):
        room = room_of(ROOT / file)
        above = {each for each, below in ROOMS.items() if room in below} - {"plugin"}
        return {f"tests/{folder}" for folder in (room, *above, *BESIDE.get(room, ()))}
    return {"tests/ci"} if top in ("scripts", ".ci", "pyproject.toml") else set()


def _parents(path: str) -> set[str]:
    return {str(parent) for parent in PurePosixPath(path).parents}


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


if __name__ == "__main__":
    main(sys.argv[1:])

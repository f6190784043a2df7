"""Follows the README, the quickstart and the how-tos with the programs of one
environment.

    python -m tests.guide FOLDER [SHARE OF]

The folder holds the environment's programs, such as ``.venv/bin``. A page that needs
more than the core comes last, after its extras are installed there. With ``0 3``, the first of three shares, which
has the README; with ``0 0``, the README alone. Ends with 1 if a page is not as it says.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.guide.worlds import WORLDS, nothing
from tests.journeys.pages import DOCS, Journey, needs_of

STORIES = ("quickstart", "calls", "gate", "your-own")
"""Pages beside the how-tos whose commands are run."""
HOW_TO = sorted(page.stem for page in (DOCS / "how-to").glob("*.md"))
PAGES = [
    ("..", "README"),
    *(("", name) for name in STORIES),
    *(("how-to", name) for name in HOW_TO),
]


def follow(room: str, name: str, journey: Journey) -> None:
    """Do what a page says, in the world of its reader."""
    with WORLDS.get(name, nothing)(journey):
        journey.follow(name, room)


def _needs(room: str, name: str) -> Sequence[str]:
    return needs_of(DOCS / room / f"{name}.md")


def main(programs: Path, share: int = 0, of: int = 1) -> int:
    """Follow the pages of a share; 1 if one failed."""
    failed = 0
    pages = PAGES[share::of] if of else PAGES[:1]
    for room, name in sorted(pages, key=lambda page: bool(_needs(*page))):
        begin = time.monotonic()
        if needs := _needs(room, name):
            pip = [str(programs / "python"), "-m", "pip", "install", "-q"]
            pip.append("--disable-pip-version-check")
            subprocess.run([*pip, *needs], cwd=DOCS.parent, check=True)
        with tempfile.TemporaryDirectory() as folder:
            try:
                follow(room, name, Journey(Path(folder), lambda _: programs))
            except AssertionError as error:
                failed += 1
                print(f"{name}: FAILED\n{error}")
            else:
                print(
                    f"{name}: as it says, {time.monotonic() - begin:.0f} s",
                    flush=True,
                )
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), *map(int, sys.argv[2:])))

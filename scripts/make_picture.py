r"""Run a command and draw what it printed: `python scripts/make_picture.py OUT.svg pytest ...`.

Needs rich. The README's picture is made in a folder with the README's shop.py:

    python scripts/make_picture.py --start "recsys-mt: scale_ratings(2)" --end "user " \
        --title "pytest --pyargs pytest_recsys_mt.suites --recsys-model=shop:Shop" summary.svg \
        pytest --color=yes --pyargs pytest_recsys_mt.suites --recsys-model=shop:Shop
"""

import argparse
import os
import re
import subprocess
from pathlib import Path

from rich.console import Console
from rich.text import Text


def main() -> None:
    """Draw the output of the command, from a line that holds `--start` up to one that begins with `--end`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--start", default="recsys-mt:", help="text of the first line to draw")
    parser.add_argument("--end", help="how the first line after the last one begins")
    parser.add_argument("--title", default="pytest")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    command = [part for part in arguments.command if part != "--"]
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = done.stdout.splitlines()
    first = next(place for place, line in enumerate(lines) if arguments.start in line)
    lines = lines[first:]
    ends = arguments.end and (at for at, line in enumerate(lines) if line.startswith(arguments.end))
    lines = lines[: next(ends) if ends else None]
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=80, force_terminal=True, file=nowhere)
        console.print(Text.from_ansi("\n".join(lines).strip("\n")))
        drawn = console.export_svg(title=arguments.title)
    # The theme names a font on another server; those of this machine do as well.
    Path(arguments.out).write_text(
        re.sub(r"(?s)\s*@font-face \{.*?\}", "", drawn), encoding="utf-8"
    )


if __name__ == "__main__":
    main()

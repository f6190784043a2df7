r"""Draw what a command printed: `python scripts/make_picture.py OUT.svg pytest ...`.

Needs rich. The README's picture is of a model in an environment of its own
(`scripts/libraries`), which has no rich. So its output is saved there, in a folder with
surprise_models.py of examples/libraries, and drawn here:

    COLUMNS=80 ENVIRONMENT/bin/python -m pytest --color=yes --pyargs
        pytest_recsys_mt.suites.training \ --recsys-effort=thorough -k jitter_ratings \
        '--recsys-model=surprise_models.py:Surprise?kind=slope-one' > slope.ansi
    python scripts/make_picture.py --start "recsys-mt: jitter_ratings" --end "user u135"
        \ --title "pytest --pyargs pytest_recsys_mt.suites.training
        --recsys-model=…slope-one" \ --output slope.ansi docs/finding.svg

`--output FILE` draws what a command printed earlier, colours included, and runs
nothing. `--most` cuts a long excerpt, and says so.
"""

import argparse
import os
import re
import subprocess
from pathlib import Path

from rich.console import Console
from rich.text import Text


def main() -> None:
    """Draw the output from a line that holds `--start` up
    to one that begins with `--end`.
    """
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out")
    parser.add_argument(
        "--start",
        default="recsys-mt:",
        help="text of the first line to draw",
    )
    parser.add_argument("--end", help="how the first line after the last one begins")
    parser.add_argument("--most", type=int, help="draw at most this many lines")
    parser.add_argument("--width", type=int, default=80, help="columns (80)")
    parser.add_argument("--title", help="above the output; by default the command")
    parser.add_argument(
        "--output",
        help="a file with what the command printed; runs nothing",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    command = [part for part in arguments.command if part != "--"]
    if bool(command) == bool(arguments.output):
        parser.error(
            "give either a command to run, or --output FILE with what it printed",
        )
    if arguments.output:
        printed = Path(arguments.output).read_text(encoding="utf-8")
    else:
        printed = output_of(command, arguments.width)
    lines = excerpt(printed, arguments.start, arguments.end, arguments.most)
    title = arguments.title or " ".join(
        part for part in command if part != "--color=yes"
    )
    Path(arguments.out).write_text(
        picture(lines, title, arguments.width),
        encoding="utf-8",
    )


def output_of(command: list[str], width: int) -> str:
    """What the command prints in a terminal of that width."""
    environment = {**os.environ, "COLUMNS": str(width)}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    return done.stdout


def excerpt(printed: str, start: str, end: str | None, most: int | None) -> list[str]:
    """The lines from one that holds `start` up to one that
    begins with `end`, and `most` of them.
    """
    lines = printed.splitlines()
    first = next((place for place, line in enumerate(lines) if start in line), None)
    if first is None:
        raise SystemExit(
            f"no line of the output holds {start!r}; it began: {lines[:3]}",
        )
    lines = lines[first:]
    ends = (at for at, line in enumerate(lines) if end and line.startswith(end))
    lines = lines[: next(ends, None)]
    return lines if most is None or len(lines) <= most else [*lines[:most], "..."]


def picture(lines: list[str], title: str, width: int) -> str:
    """The lines as an SVG of a terminal."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=width, force_terminal=True, file=nowhere)
        console.print(Text.from_ansi("\n".join(lines).strip("\n")))
        drawn = console.export_svg(title=title, unique_id="terminal")
    # The theme names a font on another server; those of this machine do as well.
    return re.sub(r"(?s)\s*@font-face \{.*?\}", "", drawn)


if __name__ == "__main__":
    main()

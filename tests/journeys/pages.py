"""Pages of docs as programs: their files are written, their commands run and compared.

A page is a story in Markdown. What is executed of it are two kinds of fenced blocks::

    ```python title="shop.py"      a file; a later block of the same name replaces it
    ```console                     commands behind "$ ", each followed by all that it prints

A line of ``...`` stands for any lines, ``...`` inside a line for any text in it, any
blanks for any other blanks, and a bar of ``===`` for a longer or shorter one. A command
ends with exit status 0, unless the next one is ``echo $?``, which prints its status as
in any shell. Every command runs in the folder of the story, with the programs of an
environment that holds the package, its core, and what the page's first lines install
(`tests/journeys/environments`), and no more.
"""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.journeys.environments import programs_with

DOCS = Path(__file__).resolve().parents[2] / "docs"
FENCE = re.compile(r'(?ms)^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$')
INSTALL = re.compile(r"`pip install ([^`]+)`")
HEADING = re.compile(r"(?m)^## (.+)$")
DIVIDED = ("text-models", "when-something-breaks")
"""Pages whose sections are stories of their own, each in a folder of its own."""
STATUS = "echo $?"
ANY = "..."
FOREIGN = re.compile(
    r"(PYTEST|COV|RECSYS|OPENAI|GITHUB)_.*|CI|BUILD_NUMBER|VIRTUAL_ENV|PYTHONPATH",
)
"""Variables that change what a command prints or imports: with `CI`, pytest does not
cut its summary to the terminal.
"""
LIMIT = 300
"""Seconds that a command may take."""


@dataclass(frozen=True)
class File:
    """A file of a page, and the number of its first line there."""

    line: int
    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command of a page, and the lines that it prints according to the page."""

    line: int
    text: str
    printed: tuple[str, ...]


def read(page: Path, section: str = "") -> str:
    """A page, or what stands below its heading of this
    anchor, in the lines where the page has it.
    """
    text = page.read_text(encoding="utf-8")
    if not section:
        return text
    (start,) = (
        each.end() for each in HEADING.finditer(text) if anchor(each[1]) == section
    )
    following = HEADING.search(text, start)
    return (
        "\n" * text.count("\n", 0, start)
        + text[start : following and following.start()]
    )


def anchor(heading: str) -> str:
    """The anchor of a heading."""
    return heading.lower().replace(" ", "-")


def stories_of(page: Path) -> list[str]:
    """The names that `Journey.follow` knows the stories of a page by."""
    if page.stem not in DIVIDED:
        return [page.stem]
    return [f"{page.stem}#{anchor(each[1])}" for each in HEADING.finditer(read(page))]


def steps_of(page: Path, section: str = "") -> Iterator[File | Command]:
    """What a page, or a section of it, makes and runs, in its order."""
    text = read(page, section)
    for fence in FENCE.finditer(text):
        kind, name, body = fence.groups()
        line = text.count("\n", 0, fence.start(3)) + 1
        if name is not None:
            yield File(line, name, body)
        elif kind == "console":
            yield from _commands(body.splitlines(), line)


def _commands(lines: Sequence[str], line: int) -> Iterator[Command]:
    starts = [number for number, each in enumerate(lines) if each.startswith("$ ")]
    assert starts[:1] == [0], f"line {line}: a console begins with a command"
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        printed = start + 1
        while lines[printed - 1].endswith("\\"):
            printed += 1
        text = "\n".join(lines[start:printed]).removeprefix("$ ")
        yield Command(
            line + start,
            text,
            tuple(each for each in lines[printed:end] if each),
        )


def needs_of(page: Path, section: str = "") -> tuple[str, ...]:
    """What its first lines install beside the core, as `pip` takes it; see `INSTALL`."""
    first = FENCE.split(read(page, section), maxsplit=1)[0]
    found = (
        shlex.split(words) for words in INSTALL.findall(first.partition("\n## ")[0])
    )
    return tuple(sorted({word for words in found for word in words} - {"."}))


def unlike(expected: Sequence[str], printed: Sequence[str]) -> str:
    """The first expected lines that do not follow in what was printed; empty if all do.

    Empty lines count on neither side.
    """
    printed = [line for line in printed if line.strip()]
    blocks: list[list[str]] = [[]]
    for line in expected:
        if line.strip() == ANY:
            blocks.append([])
        else:
            blocks[-1].append(line)
    position = 0
    for number, block in enumerate(blocks):
        patterns = [_pattern(line) for line in block]
        starts = range(position, len(printed) - len(block) + 1)
        if number == 0:
            starts = starts[:1]
        if number == len(blocks) - 1:
            starts = range(max(starts.start, len(printed) - len(block)), starts.stop)
        for start in starts:
            pairs = zip(patterns, printed[start:], strict=False)
            if all(pattern.fullmatch(line) for pattern, line in pairs):
                position = start + len(block)
                break
        else:
            return "\n".join(block) or "the end of what was printed"
    return ""


def _pattern(line: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in line.strip().split(ANY)]
    text = re.sub(r"(\\ )+", r"\\s+", ".*".join(parts))
    return re.compile(rf"\s*{re.sub('={3,}', '={3,}', text)}\s*")


Programs = Callable[[Sequence[str]], Path]


class Journey:
    """A user's folder, home and shell.

    Args:
        folder: Where the user's home is made.
        programs: Gives the folder of the programs of an environment, for what it has
            beside the core.

    Attributes:
        folder: Where the files of the story are.
        environment: Variables of the shell.
        printed: What the commands of the page printed, in their order.
        during: What happens to the process of a command of this text while it runs.
        meanwhile: What happens in the world once a command of this text has run.
    """

    def __init__(self, folder: Path, programs: Programs = programs_with) -> None:
        self.folder = folder / "shop"
        self.folder.mkdir()
        self.printed: list[str] = []
        self.during: dict[str, Callable[[subprocess.Popen[str]], None]] = {}
        self.meanwhile: dict[str, Callable[[], None]] = {}
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not FOREIGN.fullmatch(name)
            },
            "HOME": str(folder),
            "COLUMNS": "80",
        }
        self._programs = programs
        self.enter(())

    def enter(self, needs: Sequence[str]) -> None:
        """Go on in the environment that has these beside the core."""
        self.environment["PATH"] = (
            f"{self._programs(needs)}{os.pathsep}{os.environ['PATH']}"
        )

    def follow(self, name: str, room: str = "journeys") -> None:
        """Do what the page `name` of a folder says, and see what it says one would see.

        ``page#anchor`` is a section of a page.

        Raises:
            AssertionError: If a command prints, or ends with, anything else.
        """
        name, _, section = name.partition("#")
        page = DOCS / room / f"{name}.md"
        self.enter(needs_of(page, section))
        self.take(list(steps_of(page, section)), page)

    def take(self, steps: Sequence[File | Command], page: Path) -> None:
        """Take these steps of a page in their order; raises as `follow` does."""
        status = 0
        for step, after in zip(steps, [*steps[1:], None], strict=True):
            if isinstance(step, File):
                (self.folder / step.name).parent.mkdir(exist_ok=True)
                (self.folder / step.name).write_text(step.text, encoding="utf-8")
                continue
            done = self.run(step.text, status)
            self.printed.append(done.stdout)
            self.meanwhile.get(step.text, lambda: None)()
            status = done.returncode
            missing = unlike(step.printed, done.stdout.splitlines())
            where = f"{page.name}:{step.line}: $ {step.text}"
            assert not missing, (
                f"{where}\nprints\n{done.stdout}\nand not, in its place,\n{missing}"
            )
            told = isinstance(after, Command) and after.text == STATUS
            assert told or status == 0, f"{where}\nends with {status}:\n{done.stdout}"

    def make(self, name: str, *files: str) -> None:
        """Write files of the page `name`, each as the page has it first."""
        name, _, section = name.partition("#")
        page = DOCS / "journeys" / f"{name}.md"
        self.enter(needs_of(page, section))
        steps = steps_of(page, section)
        texts = {
            step.name: step.text
            for step in reversed(list(steps))
            if isinstance(step, File)
        }
        for file in files:
            (self.folder / file).write_text(texts[file], encoding="utf-8")

    def run(self, command: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder, after one that ended with `status`."""
        started = subprocess.Popen(
            ["bash", "-c", f"(exit {status})\n{command}"],
            cwd=self.folder, env=self.environment, text=True, encoding="utf-8", start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        with started:
            try:
                if (act := self.during.get(command)) is not None:
                    act(started)
                printed, _ = started.communicate(timeout=LIMIT)
            except BaseException:
                os.killpg(started.pid, signal.SIGKILL)
                raise
        return subprocess.CompletedProcess(command, started.returncode, printed)

    def record(self, name: str) -> dict[str, Any]:
        """The record in a file of the folder."""
        return dict(json.loads((self.folder / name).read_text(encoding="utf-8")))


def rows_of(record: Mapping[str, Any], **facts: object) -> list[dict[str, Any]]:
    """The rows of a record that have these facts:
    ``rows_of(record, status="violated")``.
    """
    return [
        row
        for row in record["results"]
        if all(row.get(name) == value for name, value in facts.items())
    ]


def says(text: str, sentence: str) -> bool:
    """Whether a text has a sentence in it, however it is
    escaped and wherever its lines break.
    """
    return "".join(sentence.split()) in "".join(html.unescape(text).split())

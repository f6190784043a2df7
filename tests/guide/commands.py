"""Every command line of the documentation: fenced, indented, and in the recipes for CI."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.journeys.pages import DOCS, Command, steps_of

ROOT = DOCS.parent
PROGRAMS = ("pytest", "recsys-mt", "python", "pip", "pipx", "git", "ray", "litellm", "export", "mkdocs", "zensical")  # fmt: skip
FENCE = re.compile(r"(?ms)^ *```(\w*)[^\n]*\n(.*?)^ *```$")
ASSIGNMENT = re.compile(r"[A-Z_]+=.*")


@dataclass(frozen=True)
class Line:
    """A command as a page has it.

    Attributes:
        page: The page, from the root of the repository.
        text: The command, on one line, without a comment.
    """

    page: str
    text: str

    @property
    def words(self) -> list[str]:
        """Its words, without variables before the program."""
        words = shlex.split(self.text)
        while words and ASSIGNMENT.fullmatch(words[0]):
            del words[0]
        return words


def pages() -> list[Path]:
    """Every page that people read; those made from the
    code have no commands of their own.
    """
    texts = [*ROOT.glob("*.md"), *ROOT.glob("examples/*.md"), *DOCS.rglob("*.md")]
    return sorted(page for page in texts if page.parent.name != "reference")


def lines_of(page: Path) -> Iterator[Line]:
    """The commands of a page that are not steps of a story, in their order."""
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    shell = "".join(
        fence[2] for fence in FENCE.finditer(text) if fence[1] in ("bash", "sh")
    )
    indented = "\n".join(re.findall(r"(?m)^    (\S.*|  +\S.*)$", FENCE.sub("", text)))
    for line in f"{shell}\n{indented}".replace("\\\n", " ").splitlines():
        command = re.sub(r"\s+", " ", re.sub(r"\s+#\s.*", "", line)).strip()
        if _is_command(command):
            yield Line(name, command)


def _is_command(text: str) -> bool:
    first = re.sub(r"^([A-Z_]+=\S+ )*", "", text).split(" ")[0]
    return first in PROGRAMS or first.startswith(("scripts/", ".ci/", ".venv/"))


def story_of(page: Path) -> list[str]:
    """The commands of a page that are steps of a story."""
    return [step.text for step in steps_of(page) if isinstance(step, Command)]


def unfenced(page: Path) -> set[str]:
    """Languages of the fenced blocks of a page."""
    return {fence[1] for fence in FENCE.finditer(page.read_text(encoding="utf-8"))}

"""Finds the subject of each line of a judge's answer: an
aspect, all of them, or the heading above it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from pytest_recsys_mt.llm.reading.wording import patterns
from pytest_recsys_mt.suites.arena.judging import OVERALL

SAYS = patterns(Path(__file__).with_name("verdict_patterns.toml"))
"""How judges say which list is better."""

LIST = SAYS["list"].pattern
WON = SAYS["won"].pattern
TIE = SAYS["tie"].pattern
CLAIMS = SAYS["claims"].pattern

_LEADS = re.compile(r"^[\s*_`\"'#>+\u2022-]*(?:\d{1,2}[.)]\s*)?[\s*_`]*")
_SIGN = re.compile(r"\s*:|\s+[-\u2013\u2014]\s+")
_HEADING = re.compile(r"\s*#{1,6}\s|\s*(?:\d{1,2}[.)]\s*)?(\*\*|__).+\1:?\s*$")
_MARKUP = re.compile(r"[*_`\"\u201c\u201d\u2018]+")
_PLAIN_SIGNS = {0xFF1A: ":", 0xFF5C: "|", 0x2018: "'", 0x2019: "'"}
"""Full-width signs of a label and of a table, and quotes."""
_SENTENCE = re.compile(
    rf"(?:(?:{CLAIMS})(?:{LIST})[AB]|(?:{LIST})[AB](?:{WON})|{TIE})\s*[.!。]?",
    re.IGNORECASE,
)
_LETTER = re.compile(
    rf"(?:(?:{CLAIMS})?(?:{LIST})[AB](?:{WON})?|{TIE})\s*[.!。]?",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s|:-]+")

Kind = Literal["named", "closing", "verdict"]


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement of one line of an answer on an aspect.

    Attributes:
        name: The aspect, or `OVERALL`.
        value: The text after the name.
        final: Whether it is marked as final, or stands below the only heading of the
            verdicts.
        explains: Whether it takes nothing back if it is no verdict: it stands below a
            heading of reasons, or does not name the aspect.
    """

    name: str
    value: str
    final: bool = False
    explains: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    kind: Kind
    name: str
    value: str
    section: str | None  # the aspect of the heading above; None if there is no heading
    number: int  # of the section, from the top
    alone: bool  # whether no line stands right above it, and none below
    marked: bool  # whether it says that it is final
    below: bool  # whether it stands below a heading of verdicts
    explains: bool


def statements(text: str, names: Mapping[str, str]) -> list[Statement]:
    """The statements of the lines of an answer, from the top.

    Args:
        text: The answer.
        names: The aspects and `OVERALL` by their `key`.
    """
    scan = _Scan(text, names)
    for at in range(len(scan.lines)):
        scan.line(at)
    return scan.resolved()


def key(name: str) -> str:
    """A name in lower case, its words parted by single spaces."""
    return " ".join(re.sub(r"[\W_]+", " ", name).split()).casefold()


class _Scan:
    """One pass over the lines of an answer."""

    def __init__(self, text: str, names: Mapping[str, str]) -> None:
        self.lines = text.translate(_PLAIN_SIGNS).splitlines()
        self._last = max(
            (at for at, line in enumerate(self.lines) if line.strip()),
            default=-1,
        )
        self._names = names
        self._found: list[_Line] = []
        self._section: str | None = None  # "" below a heading that says nothing
        self._sections = 0
        self._final_headings = 0
        self._final = self._explains = False
        self._columns: list[str] | None = None  # the head of a table

    def line(self, at: int) -> None:
        """Reads the line at a place."""
        line = self.lines[at]
        if line.strip().startswith("|"):
            self._row(at, [cell.strip() for cell in line.strip().strip("|").split("|")])
            return
        self._columns = None
        bare = _LEADS.sub("", line)
        if not bare.strip() or self._heads(line, bare) or self._labelled(at, bare):
            return
        said = _MARKUP.sub("", bare).strip()
        form = _SENTENCE if self._section is None else _LETTER
        if form.fullmatch(said):
            self._add(at, "verdict", "", said)

    def resolved(self) -> list[Statement]:
        """All statements; a verdict without a name that may belong to two is left out."""
        kinds = Counter[Kind](each.kind for each in self._found)
        found = [
            Statement(
                owner,
                each.value,
                each.marked or (each.below and self._final_headings == 1),
                each.explains or each.kind != "named",
            )
            for each in self._found
            if (owner := self._owner(each, kinds)) is not None
        ]
        last = self.lines[self._last] if self._last >= 0 else ""
        cut_off = self._names.get(key(_LEADS.sub("", last)))
        # A name with nothing below it: the verdict is missing.
        return [*found, Statement(cut_off, "")] if cut_off else found

    def _heads(self, line: str, bare: str) -> bool:
        """Whether a line is a heading; the lines below
        it are of the heading's section.
        """
        label = key(bare)
        sign = _SIGN.search(_MARKUP.sub("", bare).rstrip(" :"))
        marked = _HEADING.match(line) is not None and sign is None
        if label in self._names:
            self._enter(self._names[label])
            self._explains = False
        elif not marked and not _MARKUP.sub("", bare).rstrip().endswith(":"):
            return False
        elif SAYS["reasons"].fullmatch(label):
            self._final, self._explains = False, True
        elif SAYS["verdicts"].fullmatch(label) or SAYS["closing"].fullmatch(label):
            self._final, self._explains = True, False
            self._final_headings += 1
            # Without markup it may be a part of an aspect's section.
            self._enter(OVERALL if marked or self._section is None else "")
        elif SAYS["overall"].fullmatch(label):
            self._enter(OVERALL)
        elif line.lstrip().startswith("#"):
            self._enter("")
        else:
            return False
        return True

    def _enter(self, section: str) -> None:
        self._section = section
        self._sections += 1

    def _labelled(self, at: int, bare: str) -> bool:
        """Whether a line begins with a name and a sign."""
        for sign in islice(_SIGN.finditer(bare), 3):
            label, value = key(bare[: sign.start()]), bare[sign.end() :]
            unmarked = " ".join(SAYS["final"].sub(" ", label).split())
            if name := self._names.get(label) or self._names.get(unmarked):
                self._add(at, "named", name, value, marked=label not in self._names)
            elif SAYS["overall"].fullmatch(label):
                self._add(at, "named", OVERALL, value)
            elif SAYS["closing"].fullmatch(label):
                self._add(at, "closing", "", value)
            elif SAYS["verdict"].fullmatch(label):
                self._add(at, "verdict", "", value)
            else:
                continue
            return True
        label, comma, value = bare.partition(",")
        if not comma or not _LETTER.match(_MARKUP.sub("", value).strip()):
            return False
        if SAYS["overall"].fullmatch(key(label)):
            self._add(at, "named", OVERALL, value)
            return True
        return False

    def _add(
        self,
        at: int,
        kind: Kind,
        name: str,
        value: str,
        *,
        marked: bool = False,
    ) -> None:
        alone = at == self._last and not (at and self.lines[at - 1].strip())
        where = (self._section, self._sections, alone)
        self._found.append(
            _Line(kind, name, value, *where, marked, self._final, self._explains),
        )

    def _owner(self, said: _Line, kinds: Mapping[Kind, int]) -> str | None:
        """The aspect of a verdict; None if it has no name and may be on one of two."""
        if said.kind == "named":
            return said.name
        if said.section == "":
            return None
        alike = kinds[said.kind]
        if said.section is None:
            sole = alike == 1 and (said.alone or len(self._found) == 1)
            return OVERALL if said.kind == "closing" or sole else None
        if said.section == OVERALL or alike > 1 or said.number < self._sections:
            return said.section
        # The only one, below the last aspect: it closes the answer, or this section.
        return OVERALL if said.kind == "closing" else None

    def _row(self, at: int, cells: Sequence[str]) -> None:
        """Reads a row of a table, whose head names the column of the verdicts."""
        labels = [key(cell) for cell in cells]
        if _RULE.fullmatch("".join(cells)):
            return
        first = next(
            (at for at, label in enumerate(labels[:2]) if label in self._names),
            None,
        )
        if first is None:
            self._columns = labels if self._columns is None else self._columns
            return
        if self._columns is None:
            column = first + 1 if len(cells) == first + 2 else None
        else:
            found = [
                at
                for at, label in enumerate(self._columns)
                if SAYS["verdict"].fullmatch(label)
            ]
            column = found[0] if len(found) == 1 else None
        if column is not None and first < column < len(cells):
            self._add(at, "named", self._names[labels[first]], cells[column])

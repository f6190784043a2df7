"""Reads the option that a model chose from its text.

An answer counts only if it is announced ("the answer is" and the like), or if it is a separate
line. A text that names no option, or several, is a missed answer.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_recsys_mt.lrworld.question import Question
from pytest_recsys_mt.lrworld.question_texts import labels

How = Literal["label", "text", "missed"]

_ANNOUNCED = re.compile(
    r"\b(?:answer|verdict|prediction|(?:final|right|best|my|correct) (?:choice|option))\b[\s*_]*"
    r"(?:(?:is|are|would be)\b|[:=\-])+[\s:*_`\"'#>]*(?:(?:option|choice|number|index)\b)?[\s:*_#]*",
    re.IGNORECASE,
)
_POINTED = re.compile(r"\b(?:option|choice|number|index)\b[\s:*_#(]*(\w{1,3})\b", re.IGNORECASE)
_WRAPPING = " \t*_`\"'#>“”‘’[](){}<.,;:!"
_MARK = re.compile(r"[\s*_`\"'(\[{<#]*(?P<label>\d{1,3}|[A-Za-z])(?P<end>[)\].:,;\-*_`\"'}>]|\s*$)")


@dataclass(frozen=True)
class Reading:
    """The reading of an answer.

    Attributes:
        choice: Place of the chosen option, from 0; None if the answer is missed.
        how: By its mark, by its text, or missed.
    """

    choice: int | None
    how: How


MISSED = Reading(None, "missed")


def read(text: str, question: Question, *, think: bool = False) -> Reading:
    """The option that an answer chooses.

    The first of these that occurs decides: the text after "the answer is" and the like; lines that
    are a mark (``B``, ``3.``), a mark with its option, or an option; marks after "option", "index"
    and the like; options named anywhere, longer ones first, so that no title is found within
    another.  Everything found must be one option, and a mark must not stand beside another mark or
    the text of another option.

    Args:
        text: The model's text.
        question: The question.
        think: Whether it was asked to reason first: then the last verdict counts, not the only one.
    """
    options = _Options(labels(question), question.options)
    for found in (
        [options.verdict(rest) for rest in _announced(text)],
        [options.verdict(line) for line in text.splitlines()],
        [options.marked(match[1]) for match in _POINTED.finditer(text)],
    ):
        verdicts = [verdict for verdict in found if verdict is not None]
        if verdicts:
            return _one(verdicts[-1:] if think else verdicts)
    lines = [line for line in text.splitlines() if line.strip()]
    named = options.named(lines[-1] if think and lines else text)
    return Reading(next(iter(named)), "text") if len(named) == 1 else MISSED


def llara(text: str, options: Sequence[str]) -> int | None:
    """LLaRA's reading of an answer, for comparison: the one option in the first line, or None.

    An option is found as a substring, in lower case, so an option within another makes the answer
    invalid.  LLaRA's hit rate counts only valid answers, and its valid ratio is their share
    (https://github.com/ljy0ustc/LLaRA); the paper's table 8 uses these figures.
    """
    lines = text.strip().splitlines()
    first = lines[0].lower() if lines else ""
    found = [place for place, option in enumerate(options) if option.strip().lower() in first]
    return found[0] if len(found) == 1 else None


class _Options:
    """The options of a question, for the search in an answer."""

    def __init__(self, marks: Sequence[str], options: Sequence[str]) -> None:
        self._marks = {mark.upper(): place for place, mark in enumerate(marks)}
        self._plain = [_plain(option) for option in options]

    def verdict(self, line: str) -> Reading | None:
        """The reading of a line that is an answer as a whole; None if it is not."""
        exact = [place for place, option in enumerate(self._plain) if option == _plain(line)]
        mark = _MARK.match(line)
        place = None if mark is None else self._marks.get(mark["label"].upper())
        if place is None:
            return Reading(exact[0], "text") if len(exact) == 1 else None
        rest = line[mark.end() :] if mark is not None else ""
        if exact and exact != [place]:
            return Reading(exact[0], "text") if rest.strip(_WRAPPING) else MISSED
        if not rest.strip(_WRAPPING):
            return Reading(place, "label")
        other = _MARK.fullmatch(rest.strip(_WRAPPING))
        if other is not None and other["label"].upper() in self._marks:
            return MISSED
        # A mark with other words is an answer if they name its own option, or no option.
        return Reading(place, "label") if self.named(rest) <= {place} else MISSED

    def marked(self, mark: str) -> Reading | None:
        """The option of a mark; None if there is no such mark."""
        place = self._marks.get(mark.upper())
        return None if place is None else Reading(place, "label")

    def named(self, text: str) -> set[int]:
        """The options whose text occurs; each letter of the text counts for one option only."""
        left = f" {_plain(text)} "
        found = set()
        for place in sorted(range(len(self._plain)), key=lambda each: -len(self._plain[each])):
            option = self._plain[place]
            if option and f" {option} " in left:
                found.add(place)
                left = left.replace(f" {option} ", " \0 ")
        return found


def _announced(text: str) -> Iterator[str]:
    """The rest of each line after a word that announces an answer."""
    for line in text.splitlines():
        found = list(_ANNOUNCED.finditer(line))
        if found and (rest := line[found[-1].end() :]).strip():
            yield rest


def _one(verdicts: Sequence[Reading]) -> Reading:
    chosen = {verdict.choice for verdict in verdicts}
    return verdicts[-1] if len(chosen) == 1 else MISSED


def _plain(text: str) -> str:
    """Letters and digits in lower case, with single spaces for all else."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())

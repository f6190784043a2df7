"""Titles of rows, from the names and the parameters of their tests."""

import re
from collections.abc import Mapping

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import own_parameters, parts_of, spoken_of
from pytest_recsys_mt.report.glossary import entry_of
from pytest_recsys_mt.report.measures import effect_of
from pytest_recsys_mt.verdict.wording import spoken

HEADING = 2
"""A test name of so few words, ``test_at_most``, is no
sentence: what it measures says more.
"""

CONDITIONS: Mapping[str, str] = {
    "users": "up to {} users",
    "history": "histories of up to {}",
    "candidates": "{} candidates",
    "k": "lists of {}",
    "replicates": "{} answers a side",
    "rated_above": "ratings above {} only",
    "prompt": "prompt {}",
    "training_history": "trained on {} a user",
    "initialisation": "initialisation {}",
    "trained_on": "trained on {}",
    "fold": "fold {}",
}
"""The changes of a test to the design (`Design`) in words, by field."""

EXACTLY: Mapping[str, str] = {
    "history=0": "no history",
    "candidates=0": "the whole catalogue",
    "recall=True": "candidates from the recall step",
    "recall=False": "candidates drawn by chance",
    "training_history=None": "trained on all history",
    "refits=True": "a fit for each answer",
    "refits=False": "one fit for all answers",
}
"""Values that other words say better."""

_CHANGES = re.compile(r"\w+=[\w.-]+(?:, \w+=[\w.-]+)*")


def title_of(row: Row) -> str:
    """The test's name as a sentence; its measure if the name is only a heading."""
    words = spoken(spoken_of(row["nodeid"]))
    metric = row.get("metric") or ""
    measured = entry_of(metric)
    if measured is None or not measured.own or len(words.split()) > HEADING:
        return words[:1].upper() + words[1:]
    return measured.title + depth_of(metric)


def name_of(row: Row) -> str:
    """A text that distinguishes rows of one title: the relation,
    the conditions, the parameters; or empty.
    """
    relation, against = row["relation"], row.get("against")
    text = conditions(relation)
    if not text and (parameters := own_parameters(row)) != row.get("metric"):
        text = relation or parameters
    return f"{text} against {conditions(against)}" if text and against else text


def step_of(row: Row) -> str:
    """The step that a row judges within its test, in words, as
    `gate.comparison.step_of`.
    """
    text, against = conditions(row["relation"]), row.get("against")
    return f"{text} against {conditions(against)}" if against else text


def conditions(relation: str) -> str:
    """The changes of a test to the design in words:
    ``history=5, recall=True``; else the text itself.
    """
    if not _CHANGES.fullmatch(relation):
        return relation
    parts = []
    for change in relation.split(", "):
        name, _, value = change.partition("=")
        parts.append(EXACTLY.get(change) or CONDITIONS.get(name, "").format(value))
    return ", ".join(parts) if all(parts) else relation


def distinction(row: Row) -> str:
    """A text that distinguishes rows of one title and one
    name: the number that they judge.
    """
    by = row["oracle"].partition(":")[2]
    effect = effect_of(row).name
    return f"{effect}, {by}" if by and by not in effect else effect


def part_of(row: Row) -> str:
    """The part of its suite that a row belongs to: the file of its test."""
    file = parts_of(row["nodeid"]).file.rpartition("/")[2].removesuffix(".py")
    words = spoken(file.removeprefix("test_"))
    return words[:1].upper() + words[1:]


def depth_of(metric: str) -> str:
    """The depth of a metric in words that follow its title."""
    depth = metric.partition("@")[2]
    if not depth:
        return ""
    if depth == "full":
        return " in the whole answer"
    return " in the first place" if depth == "1" else f" in the first {depth} places"

"""The command `recsys-mt answers`: the wrong answers of one
model, or two models question by question.
"""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.report.answers import read_answers
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

WIDTH = 80
"""Columns of a line."""

LONGEST = 200
"""Characters of an answer that are shown."""

Answer = Mapping[str, Any]
"""One answer to a question, with the question, as the file of answers holds it."""

Key = tuple[str, str, str]
"""The identity of a question for two models: its kind, its text and its digest."""


@dataclass(frozen=True)
class _Shown:
    """A question to print.

    Attributes:
        answer: An answer that holds the question and its options.
        choices: The answers whose choice is marked among the options, by the name in
            the mark.
        texts: The answers whose text is printed, by the name before it.
    """

    answer: Answer
    choices: Mapping[str, Answer]
    texts: Mapping[str, Answer]


@dataclass(frozen=True)
class _Side:
    """The answers of one model in one record."""

    model: str
    data: str
    record: Path
    answers: Mapping[Key, Answer]
    name: str


def show_answers(records: Sequence[Path], kind: str, limit: int) -> Iterator[str]:
    """The lines that the command prints, of one record with one or two models, or of
    two with one each.

    Args:
        records: The records; their answers are in files next to them.
        kind: The kind of the questions; empty for all.
        limit: Most questions that are shown; 0 for all.

    Raises:
        DataError: If answers cannot be read, if there are not one or two models, or if
            two have no question in common.
    """
    sides = _sides(records, kind)
    if len(sides) == 1:
        yield from _wrong(sides[0], limit)
    elif len(sides) == 2:
        yield from _compared(sides[0], sides[1], limit)
    else:
        names = ", ".join(one_line(side.name) for side in sides)
        raise DataError(
            f"the records hold the answers of {len(sides)} models ({names}), and one or two are compared; give "
            f"records of one or two, or see recsys-mt leaderboard",
        )


def _sides(records: Sequence[Path], kind: str) -> list[_Side]:
    """The models whose answers are in files next to the records;
    a model in two records counts as two.
    """
    sides: list[_Side] = []
    kinds_asked: set[str] = set()
    for record in records:
        head, answers = read_answers(record)
        data = str(head.get("data"))
        kinds_asked.update(answer["kind"] for answer in answers)
        for model, answers_of_model in grouped(
            answers,
            lambda answer: answer["model"],
        ).items():
            by_question = _by_question(answers_of_model, kind)
            if by_question:
                sides.append(_Side(model, data, record, by_question, name=model))
    if not sides:
        listed = one_line(", ".join(sorted(kinds_asked)))
        raise DataError(
            f"no question of the kind {kind!r} was asked; the kinds asked: {listed}",
        )
    return _distinct(sides)


def _by_question(answers: Sequence[Answer], kind: str) -> dict[Key, Answer]:
    """The answers to the questions of a kind, or to all
    if it is empty, by their question.
    """
    by_question = {}
    for answer in answers:
        if kind in ("", answer["kind"]):
            key = (answer["kind"], answer["question"], answer["digest"])
            by_question[key] = answer
    return by_question


def _distinct(sides: Sequence[_Side]) -> list[_Side]:
    """The sides with a name of their own: two versions of one
    model are distinguished by their records.
    """
    count_of_model = Counter(side.model for side in sides)
    named = []
    for side in sides:
        if count_of_model[side.model] > 1:
            side = replace(side, name=f"{side.model} ({side.record})")
        named.append(side)
    return named


def _wrong(side: _Side, limit: int) -> Iterator[str]:
    """The accuracy of one model by kind, and its wrong answers."""
    answers = list(side.answers.values())
    wrong = [answer for answer in answers if not _is_right(answer)]
    right = len(answers) - len(wrong)
    yield from _wrapped(
        f"{side.name} on {side.data}: {right} of {len(answers)} answers are right.",
    )
    yield ""
    yield f"{'kind':<20}{'questions':>10}{'right':>8}{'unread':>8}{'accuracy':>10}"
    for kind, answers_of_kind in grouped(
        answers,
        lambda answer: str(answer["kind"]),
    ).items():
        count = len(answers_of_kind)
        hits = sum(_is_right(answer) for answer in answers_of_kind)
        unread = sum(not _is_read(answer) for answer in answers_of_kind)
        accuracy = hits / count
        yield f"{one_line(kind):<20}{count:>10}{hits:>8}{unread:>8}{accuracy:>10.3f}"
    shown = [_Shown(answer, {"chosen": answer}, {"said": answer}) for answer in wrong]
    yield from _listed(shown, limit)


def _compared(one: _Side, other: _Side, limit: int) -> Iterator[str]:
    """Two models by kind with tests of their difference, and
    the questions that one alone got right.
    """
    common = [key for key in one.answers if key in other.answers]
    if not common:
        raise DataError(
            f"{one_line(one.name)} and {one_line(other.name)} have no question in common: they were asked on "
            f"{one_line(one.data)} and {one_line(other.data)}, with other seeds, settings or files; ask both the same",
        )
    yield from _wrapped(f"a: {one.name}")
    yield from _wrapped(f"b: {other.name}")
    if len(common) < max(len(one.answers), len(other.answers)):
        yield from _wrapped(
            f"Only {len(common)} questions were asked of both: a answered {len(one.answers)}, b "
            f"{len(other.answers)}. The others are left out.",
        )
    yield ""
    yield from _table(one, other, common)
    yield ""
    yield from _wrapped(
        "only a, only b: questions that one alone answered rightly, of those read of both. p: McNemar's exact test of "
        "these, both ways; Holm: corrected over the kinds. An answer in which no option was read is wrong in a and b, and "
        "counts for the one behind in p.",
    )
    differing = []
    for key in common:
        a = one.answers[key]
        b = other.answers[key]
        if _is_right(a) != _is_right(b):
            both = {"a": a, "b": b}
            differing.append(_Shown(a, choices=both, texts=both))
    yield from _listed(differing, limit)


def _table(one: _Side, other: _Side, keys: Sequence[Key]) -> Iterator[str]:
    """A line for each kind of question: the accuracies of both
    models, and how sure their difference is.
    """
    counted_kinds = []
    for kind, keys_of_kind in grouped(keys, lambda key: key[0]).items():
        pairs = [(one.answers[key], other.answers[key]) for key in keys_of_kind]
        counted_kinds.append(_counted(kind, pairs))
    adjusted = holm([counted.p for counted in counted_kinds])
    yield f"{'kind':<18}{'questions':>9}{'a':>7}{'b':>7}{'only a':>8}{'only b':>8}{'p':>9}{'Holm':>9}"
    for counted, p_holm in zip(counted_kinds, adjusted, strict=True):
        yield f"{counted.cells}{counted.p:>9.2g}{p_holm:>9.2g}"


class _Counted(NamedTuple):
    """One kind of question: its cells before the p-value,
    and the p-value of McNemar's test.
    """

    cells: str
    p: float


def _counted(kind: str, pairs: Sequence[tuple[Answer, Answer]]) -> _Counted:
    """Count the answers of two models.

    Args:
        kind: The kind of the questions.
        pairs: The answers of a and b to each of them.
    """
    count = len(pairs)
    accuracy_a = sum(_is_right(a) for a, _ in pairs) / count
    accuracy_b = sum(_is_right(b) for _, b in pairs) / count
    read = [(a, b) for a, b in pairs if _is_read(a) and _is_read(b)]
    only_a = sum(_is_right(a) and not _is_right(b) for a, b in read)
    only_b = sum(_is_right(b) and not _is_right(a) for a, b in read)
    # Unread answers could be of either: to be safe, they count for the one behind, at
    # most until both are level.
    unread = count - len(read)
    behind, ahead = sorted((only_a, only_b))
    level = min(ahead, behind + unread)
    cells = f"{one_line(kind):<18}{count:>9}{accuracy_a:>7.3f}{accuracy_b:>7.3f}{only_a:>8}{only_b:>8}"
    return _Counted(cells, mcnemar(ahead, level))


def mcnemar(one: int, other: int) -> float:
    """The p-value of McNemar's exact test, both ways, of two numbers of discordant
    pairs.

    McNemar (1947, Psychometrika 12, 153-157): under no difference each pair falls
    either way with probability one half.
    """
    from scipy.stats import binomtest

    discordant = one + other
    if discordant == 0:
        return 1.0
    return float(binomtest(one, discordant, 0.5).pvalue)


def _is_right(answer: Answer) -> bool:
    return bool(answer["chosen"] == answer["right"])


def _is_read(answer: Answer) -> bool:
    """Whether an option could be read in the answer."""
    return answer["chosen"] is not None


def _listed(questions: Sequence[_Shown], limit: int) -> Iterator[str]:
    """At most `limit` questions, all if it is 0, and how many are left out."""
    shown = questions[:limit] if limit else questions
    for question in shown:
        yield ""
        yield from _lines_of(question)
    left = len(questions) - len(shown)
    if left > 0:
        yield ""
        yield f"{left} more; --limit=0 shows all"


def _lines_of(question: _Shown) -> Iterator[str]:
    """A question with its options, who chose which of them, and the answers."""
    answer = question.answer
    yield from _wrapped(f"{answer['question']} ({answer['kind']})")
    for place, option in enumerate(answer["options"]):
        marks = []
        if place == answer["right"]:
            marks.append("right")
        for name, choice in question.choices.items():
            if choice["chosen"] == place:
                marks.append(name)
        yield from _wrapped(f"{', '.join(marks):>14}  {place + 1}. {option}", indent=16)
    for name, said in question.texts.items():
        text = one_line(said["raw"])
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}..."
        unread = "" if _is_read(said) else " (no option was read)"
        yield from _wrapped(f'{name:>14}  "{text}"{unread}', indent=16)


def _wrapped(text: str, indent: int = 0) -> list[str]:
    """A text in lines that fit, the first with the spaces that it begins with."""
    lead = text[: len(text) - len(text.lstrip())]
    following = " " * indent
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=following,
    )

"""The command `recsys-mt answers`: the wrong answers of one model, or two models question by question."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.report.answers import read_answers
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

WIDTH = 80
LONGEST = 200
"""Characters of an answer that are shown."""

Answer = Mapping[str, Any]
Question = tuple[Answer, Mapping[str, Answer], Mapping[str, Answer]]
"""An answer with the question, and by their names the answers whose choice is marked and whose text is shown."""


@dataclass(frozen=True)
class _Side:
    """The answers of one model, by the kind, the text and the digest of their questions."""

    name: str
    data: str
    answers: Mapping[tuple[str, str, str], Answer]


def show_answers(records: Sequence[Path], kind: str, limit: int) -> Iterator[str]:
    """The lines that the command prints, of one record with one or two models, or of two with one each.

    Args:
        records: The records; their answers stand in files beside them.
        kind: The kind of the questions; empty for all.
        limit: Most questions that are shown; 0 for all.

    Raises:
        DataError: If answers cannot be read, if there are not one or two models, or if two have no question in common.
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
            f"records of one or two, or see recsys-mt leaderboard"
        )


def _sides(records: Sequence[Path], kind: str) -> list[_Side]:
    """The models whose answers stand beside the records; one in two records is two of them."""
    sides: list[_Side] = []
    paths: list[Path] = []
    kinds: set[str] = set()
    for path in records:
        head, answers = read_answers(path)
        kinds |= {answer["kind"] for answer in answers}
        for model, answers_of_model in grouped(answers, lambda answer: answer["model"]).items():
            by_question = {
                (answer["kind"], answer["question"], answer["digest"]): answer
                for answer in answers_of_model
                if kind in ("", answer["kind"])
            }
            if by_question:
                sides.append(_Side(model, str(head.get("data")), by_question))
                paths.append(path)
    if not sides:
        listed = one_line(", ".join(sorted(kinds)))
        raise DataError(f"no question of the kind {kind!r} was asked; the kinds asked: {listed}")
    count_of_name = Counter(side.name for side in sides)
    # Two versions of one model have one name; their records tell them apart.
    return [
        replace(side, name=f"{side.name} ({path})") if count_of_name[side.name] > 1 else side
        for side, path in zip(sides, paths, strict=True)
    ]


def _wrong(side: _Side, limit: int) -> Iterator[str]:
    """The accuracy of one model by kind, and its wrong answers."""
    answers = list(side.answers.values())
    wrong = [answer for answer in answers if not _is_right(answer)]
    right = len(answers) - len(wrong)
    yield from _wrapped(f"{side.name} on {side.data}: {right} of {len(answers)} answers are right.")
    yield ""
    yield f"{'kind':<20}{'questions':>10}{'right':>8}{'unread':>8}{'accuracy':>10}"
    for kind, answers_of_kind in grouped(answers, lambda answer: str(answer["kind"])).items():
        count = len(answers_of_kind)
        hits = sum(_is_right(answer) for answer in answers_of_kind)
        unread = sum(answer["chosen"] is None for answer in answers_of_kind)
        yield f"{one_line(kind):<20}{count:>10}{hits:>8}{unread:>8}{hits / count:>10.3f}"
    questions = [(answer, {"chosen": answer}, {"said": answer}) for answer in wrong]
    yield from _listed(questions, limit)


def _compared(one: _Side, other: _Side, limit: int) -> Iterator[str]:
    """The accuracies of two models by kind with tests of their difference, and the questions that one alone got right."""
    common = [key for key in one.answers if key in other.answers]
    if not common:
        raise DataError(
            f"{one_line(one.name)} and {one_line(other.name)} have no question in common: they were asked on "
            f"{one_line(one.data)} and {one_line(other.data)}, with other seeds, settings or files; ask both the same"
        )
    yield from _wrapped(f"a: {one.name}")
    yield from _wrapped(f"b: {other.name}")
    if len(common) < max(len(one.answers), len(other.answers)):
        yield from _wrapped(
            f"Only {len(common)} questions were asked of both: a answered {len(one.answers)}, b "
            f"{len(other.answers)}. The others are left out."
        )
    lines = []
    p_values = []
    for kind, keys in grouped(common, lambda key: key[0]).items():
        line, p = _counted(kind, [(one.answers[key], other.answers[key]) for key in keys])
        lines.append(line)
        p_values.append(p)
    yield ""
    yield f"{'kind':<18}{'questions':>9}{'a':>7}{'b':>7}{'only a':>8}{'only b':>8}{'p':>9}{'Holm':>9}"
    for line, p, adjusted in zip(lines, p_values, holm(p_values), strict=True):
        yield f"{line}{p:>9.2g}{adjusted:>9.2g}"
    yield ""
    yield from _wrapped(
        "only a, only b: questions that one alone answered rightly, of those read of both. p: McNemar's exact test of "
        "these, both ways; Holm: corrected over the kinds. An answer in which no option was read is wrong in a and b, and "
        "counts for the one behind in p."
    )
    differing = []
    for key in common:
        a, b = one.answers[key], other.answers[key]
        if _is_right(a) != _is_right(b):
            sides = {"a": a, "b": b}
            differing.append((a, sides, sides))
    yield from _listed(differing, limit)


def _counted(kind: str, pairs: Sequence[tuple[Answer, Answer]]) -> tuple[str, float]:
    """The cells of a kind of question before the p-value, and the p-value of McNemar's test.

    Args:
        kind: The kind.
        pairs: The answers of a and b to each of its questions.
    """
    hits_a = sum(_is_right(a) for a, _ in pairs)
    hits_b = sum(_is_right(b) for _, b in pairs)
    read = [pair for pair in pairs if None not in (pair[0]["chosen"], pair[1]["chosen"])]
    only_a = sum(_is_right(a) and not _is_right(b) for a, b in read)
    only_b = sum(_is_right(b) and not _is_right(a) for a, b in read)
    # Unread answers could be of either: to be safe, they count for the one behind, at most until both are level.
    unread = len(pairs) - len(read)
    behind, ahead = sorted((only_a, only_b))
    p = mcnemar(ahead, min(ahead, behind + unread))
    count = len(pairs)
    accuracies = f"{hits_a / count:>7.3f}{hits_b / count:>7.3f}"
    return f"{one_line(kind):<18}{count:>9}{accuracies}{only_a:>8}{only_b:>8}", p


def mcnemar(one: int, other: int) -> float:
    """The p-value of McNemar's exact test, both ways, of two numbers of discordant pairs.

    McNemar (1947, Psychometrika 12, 153-157): under no difference each pair falls either way with probability one half.
    """
    from scipy.stats import binomtest

    return float(binomtest(one, one + other, 0.5).pvalue) if one + other else 1.0


def _is_right(answer: Answer) -> bool:
    return bool(answer["chosen"] == answer["right"])


def _lines_of(
    answer: Answer, choices: Mapping[str, Answer], texts: Mapping[str, Answer]
) -> Iterator[str]:
    """A question with its options, who chose which of them, and what was answered; see `Question`."""
    yield from _wrapped(f"{answer['question']} ({answer['kind']})")
    for place, option in enumerate(answer["options"]):
        marks = ["right"] if place == answer["right"] else []
        marks += [name for name, choice in choices.items() if choice["chosen"] == place]
        yield from _wrapped(f"{', '.join(marks):>14}  {place + 1}. {option}", indent=16)
    for name, text in texts.items():
        raw = one_line(text["raw"])
        shown = raw if len(raw) <= LONGEST else f"{raw[:LONGEST]}..."
        unread = " (no option was read)" if text["chosen"] is None else ""
        yield from _wrapped(f'{name:>14}  "{shown}"{unread}', indent=16)


def _listed(questions: Sequence[Question], limit: int) -> Iterator[str]:
    shown = questions[: limit or None]
    for answer, choices, texts in shown:
        yield ""
        yield from _lines_of(answer, choices, texts)
    left = len(questions) - len(shown)
    if left > 0:
        yield ""
        yield f"{left} more; --limit=0 shows all"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    """A text in lines that fit, the first with the spaces that it begins with."""
    lead = text[: len(text) - len(text.lstrip())]
    following = " " * indent
    return textwrap.wrap(one_line(text), WIDTH, initial_indent=lead, subsequent_indent=following)

"""The command `recsys-mt answers`: the wrong answers of one model, or two models question by question."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.oracles.statistics.corrections import holm
from pytest_recsys_mt.report.answers import read_answers
from pytest_recsys_mt.safety.sanitize import one_line

WIDTH = 80
LONGEST = 200
"""Characters of an answer that are shown."""

Answer = Mapping[str, Any]
Question = tuple[Answer, Mapping[str, Answer], Mapping[str, Answer]]
"""An answer with the question, and by their names the answers whose choice is marked and whose text is shown."""


@dataclass(frozen=True)
class _Side:
    name: str
    data: str
    answers: Mapping[tuple[str, str, str], Answer]


def show_answers(records: Sequence[Path], kind: str, limit: int) -> Iterator[str]:
    """The lines that the command prints, of one record with one or two models, or of two with one each.

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
    found: list[tuple[Path, _Side]] = []
    kinds: set[str] = set()
    for path in records:
        head, answers = read_answers(path)
        kinds |= {answer["kind"] for answer in answers}
        for model in dict.fromkeys(answer["model"] for answer in answers):
            own = {
                (answer["kind"], answer["question"], answer["digest"]): answer
                for answer in answers
                if answer["model"] == model and kind in ("", answer["kind"])
            }
            if own:
                found.append((path, _Side(model, str(head.get("data")), own)))
    if not found:
        listed = one_line(", ".join(sorted(kinds)))
        raise DataError(f"no question of the kind {kind!r} was asked; the kinds asked: {listed}")
    models = Counter(side.name for _, side in found)
    # Two versions of one model have one name; their records tell them apart.
    return [
        replace(side, name=f"{side.name} ({path})") if models[side.name] > 1 else side
        for path, side in found
    ]


def _wrong(side: _Side, limit: int) -> Iterator[str]:
    right = sum(_is_right(each) for each in side.answers.values())
    total = len(side.answers)
    yield from _wrapped(f"{side.name} on {side.data}: {right} of {total} answers are right.")
    yield ""
    yield f"{'kind':<20}{'questions':>10}{'right':>8}{'unread':>8}{'accuracy':>10}"
    for kind, own in grouped(side.answers.values(), lambda each: str(each["kind"])).items():
        hits, unread = sum(map(_is_right, own)), sum(each["chosen"] is None for each in own)
        yield f"{one_line(kind):<20}{len(own):>10}{hits:>8}{unread:>8}{hits / len(own):>10.3f}"
    wrong = [each for each in side.answers.values() if not _is_right(each)]
    yield from _listed([(each, {"chosen": each}, {"said": each}) for each in wrong], limit)


def _compared(one: _Side, other: _Side, limit: int) -> Iterator[str]:
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
    rows = []
    for kind, keys in grouped(common, lambda key: key[0]).items():
        both = [(one.answers[key], other.answers[key]) for key in keys]
        hits = [(_is_right(ours), _is_right(theirs)) for ours, theirs in both]
        read = [
            hit
            for hit, (ours, theirs) in zip(hits, both, strict=True)
            if None not in (ours["chosen"], theirs["chosen"])
        ]
        only_a, only_b = read.count((True, False)), read.count((False, True))
        behind, ahead = sorted((only_a, only_b))
        p = mcnemar(ahead, min(ahead, behind + len(hits) - len(read)))
        a, b = (sum(side) / len(hits) for side in zip(*hits, strict=True))
        counted = f"{one_line(kind):<18}{len(hits):>9}{a:>7.3f}{b:>7.3f}{only_a:>8}{only_b:>8}"
        rows.append((counted, p))
    yield ""
    yield f"{'kind':<18}{'questions':>9}{'a':>7}{'b':>7}{'only a':>8}{'only b':>8}{'p':>9}{'Holm':>9}"
    for (counted, p), adjusted in zip(rows, holm([p for _, p in rows]), strict=True):
        yield f"{counted}{p:>9.2g}{adjusted:>9.2g}"
    yield ""
    yield from _wrapped(
        "only a, only b: questions that one alone answered rightly, of those read of both. p: McNemar's exact test of "
        "these, both ways; Holm: corrected over the kinds. An answer in which no option was read is wrong in a and b, and "
        "counts for the one behind in p."
    )
    apart = [key for key in common if _is_right(one.answers[key]) != _is_right(other.answers[key])]
    pairs = [{"a": one.answers[key], "b": other.answers[key]} for key in apart]
    yield from _listed([(both["a"], both, both) for both in pairs], limit)


def mcnemar(one: int, other: int) -> float:
    """The p-value of McNemar's exact test, both ways, of two numbers of discordant pairs.

    McNemar (1947, Psychometrika 12, 153-157): under no difference each pair falls either way with probability one half.
    """
    from scipy.stats import binomtest

    return float(binomtest(one, one + other, 0.5).pvalue) if one + other else 1.0


def _is_right(answer: Answer) -> bool:
    return bool(answer["chosen"] == answer["right"])


def _told(answer: Answer, chose: Mapping[str, Answer], said: Mapping[str, Answer]) -> Iterator[str]:
    yield from _wrapped(f"{answer['question']} ({answer['kind']})")
    for place, option in enumerate(answer["options"]):
        marks = ["right"] if place == answer["right"] else []
        marks += [name for name, own in chose.items() if own["chosen"] == place]
        yield from _wrapped(f"{', '.join(marks):>14}  {place + 1}. {option}", indent=16)
    for name, own in said.items():
        raw = one_line(own["raw"])
        cut = raw if len(raw) <= LONGEST else f"{raw[:LONGEST]}..."
        unread = " (no option was read)" if own["chosen"] is None else ""
        yield from _wrapped(f'{name:>14}  "{cut}"{unread}', indent=16)


def _listed(found: Sequence[Question], limit: int) -> Iterator[str]:
    shown = found[: limit or None]
    for question in shown:
        yield ""
        yield from _told(*question)
    if len(found) > len(shown):
        yield ""
        yield f"{len(found) - len(shown)} more; --limit=0 shows all"


def _wrapped(text: str, indent: int = 0) -> list[str]:
    lead = text[: len(text) - len(text.lstrip())]
    following = " " * indent
    return textwrap.wrap(one_line(text), WIDTH, initial_indent=lead, subsequent_indent=following)

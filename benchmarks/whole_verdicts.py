"""How often whole verdicts are wrong whose units, ranges or answers are not those of
plain users.

    python -m benchmarks.whole_verdicts [--runs 400] [--mean 0.1]

Each line is a law at its limit, where both "holds" and "violated" are wrong; a law with
failed calls has its mean at the limit if each failed call counts as the worst ("holds"
is wrong then), or as the best ("violated" is). The verdicts are those of the oracles,
on answers that were drawn; nights are written to files, and read by ``recsys-mt
monitor``'s code.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks.calibration import SURE, bound
from benchmarks.tables import table
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.cases import Split
from pytest_recsys_mt.gate.monitor import monitor, records
from pytest_recsys_mt.oracles import (
    Score,
    accuracy_gap,
    accuracy_kept,
    at_least,
    at_most,
    better_than_chance,
    constant_answer,
    decreases,
    increases,
    paper_t_test,
    same_choices,
    same_ranking,
    same_score,
)
from pytest_recsys_mt.requests import Item, Recommendation, Request, Scale
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.suites.arena import (
    Arena,
    Comparison,
    Judgement,
    JudgeRunner,
    not_less_preferred,
    preferred,
)
from pytest_recsys_mt.verdict.answers import (
    Answers,
    Asked,
    Choices,
    Context,
    Lost,
    Pairs,
    Sample,
)
from pytest_recsys_mt.verdict.answers import Drawn as DrawnWhat
from tests.gate.nights import night, row, write

USERS, ALPHA, LIMIT = 200, 0.05, 0.1


@dataclass
class Truth:
    """The true mean of the laws that can be moved, `LIMIT`
    unless a run asks for another one.
    """

    mean: float = LIMIT


AT = Truth()
ITEMS = {name: Item(name, name) for name in "ab"}
CONTEXT = Context(alpha=ALPHA, deterministic=True, items=ITEMS)

Claims = tuple[str, ...]
"""What a run claimed that is wrong: ``holds``,
``violated`` (an alarm of the monitor is one).
"""


@dataclass
class Drawn:
    """Answers of the users that a run drew, whose values are the texts of their items."""

    asked: Sequence[Asked]
    everybody: Sequence[Asked]
    label: str = ""
    broken: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    drawn: frozenset[DrawnWhat] = frozenset({"users"})
    context: Context = CONTEXT
    same_seed: bool = False
    not_applicable: Mapping[str, int] = field(default_factory=dict)

    def applicable(self, followup: Answers | None = None, /) -> int:
        """All of them."""
        return len(self.asked)

    def sample(self, users: int | None = None) -> Sample:
        """The first ones."""
        return Sample(tuple(self.asked)[:users], ends=self._ends, drawn=self.drawn)

    def pair(self, followup: Any, /, users: int | None = None) -> Pairs:
        """The first ones, and those of them whose follow-up failed."""
        sides = list(zip(self.asked, followup.asked, strict=True))[:users]
        without = followup.broken | followup.refused
        answered = [both for both in sides if both[0].user not in without]
        failed = [
            Lost(one.user, "failed", "HTTP 500", one)
            for one, _ in sides
            if one.user in followup.broken
        ]
        refused = [
            Lost(one.user, "refused", "unsure", one)
            for one, _ in sides
            if one.user in followup.refused
        ]
        return Pairs(
            tuple(one for one, _ in answered),
            tuple(other for _, other in answered),
            lost=(*failed, *refused),
            drawn=self.drawn,
            order=tuple(one.user for one, _ in sides),
            ends=self._ends,
        )

    def pair_anew(
        self,
        followup: Answers,
        /,
        users: int,
        *,
        without: Collection[str] = (),
        alone: bool = False,
    ) -> None:
        """They cannot change."""

    def _ends(
        self,
        span: Callable[[Asked, Context], tuple[float, float]],
    ) -> tuple[float, float]:
        spans = [span(asked, self.context) for asked in self.everybody]
        return min(low for low, _ in spans), max(high for _, high in spans)


def _asked(user: int, *items: str, k: int = 1, past: int = 0) -> Asked:
    request = Request(f"u{user}", (), Scale(1, 5), None, k)
    return Asked(
        request,
        (Recommendation(items),),
        past=tuple(f"p{at}" for at in range(past)),
    )


# What users own differs by a factor of 90, as in a shop with a few resellers.
_RESELLERS, _ALL = 9, 3_000
_OWNED = [1_001] * _RESELLERS + [11] * (_ALL - _RESELLERS)
_VALUE = Score(
    "value",
    lambda answer, asked, context: (float(answer.items[0]), 0),
    span=lambda asked, context: (0.0, len(asked.past) - 1.0),
)


def _population(value: Callable[[int, int], float]) -> list[Asked]:
    return [
        _asked(user, repr(value(user, owned)), past=owned)
        for user, owned in enumerate(_OWNED)
    ]


def _status(verdict: Any) -> Claims:
    return (verdict.status,) if verdict.status in ("holds", "violated") else ()


def spans_of_a_score(judge: Any, rng: Generator) -> Claims:
    """The mean of all users is the threshold; few users carry most of it."""
    everybody = _population(
        lambda user, owned: owned - 1.0 if owned > 11 else float(user % 2),
    )
    mean = np.mean([float(asked.answers[0].items[0]) for asked in everybody])
    drawn = [everybody[at] for at in rng.choice(_ALL, USERS, replace=False)]
    return _status(judge(Drawn(drawn, everybody), _VALUE, float(mean)))


def spans_of_a_change(judge: Any, sign: float, rng: Generator) -> Claims:
    """The mean change of all users is 0, the limit; few
    users change the other way, by much.
    """
    light = sign * (_RESELLERS * 900.0) / (_ALL - _RESELLERS)
    before = _population(
        lambda user, owned: owned - 1.0 if (sign > 0) == (owned > 11) else 0.0,
    )
    change = {11: light, 1_001: -sign * 900.0}
    after = [
        _asked(
            at,
            repr(float(one.answers[0].items[0]) + change[len(one.past)]),
            past=len(one.past),
        )
        for at, one in enumerate(before)
    ]
    chosen = rng.choice(_ALL, USERS, replace=False)
    source = Drawn([before[at] for at in chosen], before)
    return _status(
        judge(source, Drawn([after[at] for at in chosen], after, "changed"), _VALUE),
    )


def failed_calls(worst: bool, rng: Generator) -> Claims:
    """3 % of the follow-ups fail; of the others so many lose
    their whole list that the mean is the margin.
    """
    failing = 0.03
    lost = (AT.mean - failing) / (1 - failing) if worst else AT.mean / (1 - failing)
    source = [_asked(user, "a") for user in range(USERS)]
    moved = rng.random(USERS) < lost
    followup = [_asked(user, "b" if moved[user] else "a") for user in range(USERS)]
    broken = frozenset(
        f"u{user}" for user in np.flatnonzero(rng.random(USERS) < failing)
    )
    verdict = same_ranking(
        Drawn(source, source),
        Drawn(followup, followup, "changed", broken),
        margin=LIMIT,
    )
    return tuple(
        claim
        for claim in _status(verdict)
        if claim == ("holds" if worst else "violated")
    )


def refusals(rng: Generator) -> Claims:
    """The margin is the share of changed answers; the recommender refuses 4 % of the
    users, all of them such.
    """
    source = [_asked(user, "a") for user in range(USERS)]
    drawn = rng.random(USERS)
    followup = [
        _asked(user, "b" if drawn[user] < AT.mean else "a") for user in range(USERS)
    ]
    refused = frozenset(f"u{user}" for user in np.flatnonzero(drawn < 0.04))
    changed = Drawn(followup, followup, "changed", refused=refused)
    return _status(same_ranking(Drawn(source, source), changed, margin=LIMIT))


_KNOWN_ONLY = Score(
    "value",
    lambda answer, asked, context: (
        None if answer.items == ("none",) else float(answer.items[0]),
        0,
    ),
    span=(0.0, 1.0),
)


def undefined_scores(share: float, rng: Generator) -> Claims:
    """The mean score is the threshold; users who would score 0
    have no score in a share of all cases.
    """
    threshold, drawn = 0.5, rng.random(USERS)
    mean = threshold + AT.mean - LIMIT
    values = np.where(drawn < mean, "1", np.where(drawn < mean + share, "none", "0"))
    asked = [_asked(user, str(value)) for user, value in enumerate(values)]
    return _status(at_least(Drawn(asked, asked), _KNOWN_ONLY, threshold))


def undefined_changes(rng: Generator) -> Claims:
    """No score falls but those of the margin; follow-ups that
    fell have no score in half of the cases.
    """
    source = [_asked(user, "1") for user in range(USERS)]
    drawn = rng.random(USERS)
    values = np.where(drawn < AT.mean / 2, "none", np.where(drawn < AT.mean, "0", "1"))
    followup = [_asked(user, str(value)) for user, value in enumerate(values)]
    sides = (Drawn(source, source), Drawn(followup, followup, "changed"))
    return _status(same_score(*sides, _KNOWN_ONLY, LIMIT))


def drawn_candidates(users: int, rng: Generator) -> Claims:
    """All users of the data, always the same ones; their candidates are drawn, and so
    is whose answer changes.
    """
    shares = (
        2 * AT.mean * (np.arange(users) + 0.5) / users
    )  # of candidates with which a user's answer changes
    order = rng.permutation(users)
    source = [_asked(int(user), "a") for user in order]
    moved = rng.random(users) < shares
    followup = [_asked(int(user), "b" if moved[user] else "a") for user in order]
    what = frozenset[DrawnWhat]({"candidates"})
    sides = (
        Drawn(source, source, drawn=what),
        Drawn(followup, followup, "changed", drawn=what),
    )
    return _status(same_ranking(*sides, margin=LIMIT))


_REFUSAL = Recommendation((), text="I cannot help with that.")


def published_t_test(rng: Generator) -> Claims:
    """Runs with and without a change are alike; 4 % of the
    answers with it could not be read.
    """

    def side(unread: float) -> list[Asked]:
        found = []
        for user in range(40):
            answers = [
                Recommendation(tuple(rng.permutation(list("abcdef"))[:4]))
                for _ in range(6)
            ]
            read = rng.random(6) >= unread
            kept = tuple(
                one if known else _REFUSAL
                for one, known in zip(answers, read, strict=True)
            )
            found.append(Asked(Request(f"u{user}", (), Scale(1, 5), None, 4), kept))
        return found

    sides = []
    for label, unread in (("", 0.0), ("changed", 0.04)):
        asked = side(unread)
        sides.append(
            _PartlyRead([one for one in asked if not one.unread], asked, label),
        )
    verdict = paper_t_test(sides[0], sides[1])
    return tuple(claim for claim in _status(verdict) if claim == "violated")


class _PartlyRead(Drawn):
    """Answers of which some could not be read."""

    def pair(self, followup: Any, /, users: int | None = None) -> Pairs:
        """All users, in the order of `everybody`."""
        both = list(zip(self.everybody, followup.everybody, strict=True))
        read = [sides for sides in both if not (sides[0].unread or sides[1].unread)]
        return Pairs(
            tuple(one for one, _ in read),
            tuple(other for _, other in read),
            unread=tuple(sides for sides in both if sides[0].unread or sides[1].unread),
            order=tuple(one.user for one, _ in both),
        )


def _households() -> Dataset:
    rows = [(f"u{user}", f"i{at}", 3.0, at) for user in range(4_000) for at in range(3)]
    frame = pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"])
    items = {f"i{at}": Item(f"i{at}", f"Film {at}") for at in range(40)}
    homes = {f"u{user}": {"household": str(user // 10)} for user in range(4_000)}
    return Dataset("homes", items, frame, Scale(1, 5), users=homes)


_HOMES = _households()
_DESIGN = Design(users=USERS, candidates=5, k=1, history=2)


def households(rng: Generator) -> Claims:
    """Ten users of a household change alike, one household
    in ten; one user of each is asked.
    """
    split = Split(_HOMES, int(rng.integers(2**31)), unit="household")
    users = [int(user[1:]) for user in split.users(_DESIGN)]
    moved = rng.random(400) < AT.mean
    source = [_asked(user, "a") for user in users]
    followup = [_asked(user, "b" if moved[user // 10] else "a") for user in users]
    return _status(
        same_ranking(
            Drawn(source, source),
            Drawn(followup, followup, "changed"),
            margin=LIMIT,
        ),
    )


def nights(failing: float, spans: bool, rng: Generator) -> Claims:
    """Twenty nights of fresh users at the margin, from files; an alarm is wrong."""
    documents = []
    for day in range(1, 21):
        effects, failed = rng.random(100) < AT.mean, rng.random(100) < failing
        users = [f"u{day * 100 + user}" for user in range(100)]
        values = {users[at]: float(effects[at]) for at in np.flatnonzero(~failed)}
        unknown = {
            users[at]: int(at - failed[:at].sum()) for at in np.flatnonzero(failed)
        }
        reach = [-1.0, 3.0] if spans and day % 2 else [-1.0, 1.0]
        details = {"unmeasured": {"users": unknown}}
        documents.append(
            night(day, row(values, margin=LIMIT, reach=reach, details=details)),
        )
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(path) for path in write(Path(folder), documents)]
        (found,) = monitor(records(paths), ALPHA, change=False)
    return ("violated",) if found.alarm is not None else ()


def _answered(right: np.ndarray, known: np.ndarray, label: str = "") -> Choices:
    chosen = np.where(known, right, (right + 1) % 4).tolist()
    return Choices(
        tuple(f"q{at}" for at in range(len(right))),
        tuple(map(int, right)),
        tuple(chosen),
        tuple(map(str, chosen)),
        4,
        label=label,
    )


def questions(oracle: str, rng: Generator) -> Claims:
    """Multiple-choice questions, of which the true share is the limit."""
    right, known = rng.integers(0, 4, USERS), rng.random(USERS) < 0.5
    one = _answered(right, known)
    if oracle == "better_than_chance":
        return _status(
            better_than_chance(_answered(right, rng.random(USERS) < 0.25), CONTEXT),
        )
    if oracle == "constant_answer":
        guessed = _answered(rng.integers(0, 4, USERS), np.ones(USERS, bool))
        verdict = constant_answer(replace(guessed, right=one.right), CONTEXT)
        return tuple(claim for claim in _status(verdict) if claim == "violated")
    lost = known & (rng.random(USERS) < 2 * AT.mean)  # half of the questions are known
    if oracle == "accuracy_kept":
        other = _answered(right, known & ~lost, "changed")
        return _status(accuracy_kept(one, other, CONTEXT, LIMIT))
    if oracle == "same_choices":
        other = _answered(right, known ^ (rng.random(USERS) < AT.mean), "changed")
        return _status(same_choices(one, [other], CONTEXT, LIMIT))
    rare = [f"q{at}" for at in range(0, USERS, 2)]
    shares = np.where(np.arange(USERS) % 2, 0.5 + AT.mean, 0.5)
    gap = _answered(right, rng.random(USERS) < shares)
    return _status(accuracy_gap(gap, rare, CONTEXT, LIMIT))


class _Prefers:
    """A judge who takes the list of "a" for a share of the users, in either order."""

    deterministic = True

    def __init__(self, rng: Generator, share: float) -> None:
        self._taken = {f"u{user}": rng.random() < share for user in range(USERS)}

    def judge(self, comparisons: Sequence[Comparison]) -> list[Judgement]:
        """One judgement each."""
        return [
            Judgement(
                "A" if (each.a[0].id == "a") == self._taken[each.request.user] else "B",
                {},
            )
            for each in comparisons
        ]


def comparisons(margin: float, rng: Generator) -> Claims:
    """A judge's comparisons of two lists, whose mean preference is the limit."""
    judge = _Prefers(rng, (1 - margin) / 2)
    sides = [[_asked(user, name) for user in range(USERS)] for name in "ab"]
    ours, theirs = (Drawn(side, side) for side in sides)
    arena = Arena(ours, theirs, JudgeRunner(judge, "judge"), ())
    return _status(
        not_less_preferred(arena, margin=margin) if margin else preferred(arena),
    )


LAWS: Mapping[str, Callable[[Generator], Claims]] = {
    "`at_most` of a score whose span depends on the user": partial(spans_of_a_score, at_most),
    "`at_least` of it": partial(spans_of_a_score, at_least),
    "`decreases` of it": partial(spans_of_a_change, decreases, -1.0),
    "`increases` of it": partial(spans_of_a_change, increases, 1.0),
    "`same_ranking`, 3 % of the follow-ups fail, counted as the worst": partial(failed_calls, True),
    "the same, counted as the best": partial(failed_calls, False),
    "`same_ranking`, households of ten that change alike, one of each asked": households,
    "`same_ranking`, the recommender refuses 4 % of the users, whose answer would change": refusals,
    "`at_least`, 5 % of the users have no score and would have 0": partial(undefined_scores, 0.05),
    "the same, half of the users": partial(undefined_scores, 0.5),
    "`same_score`, half of the follow-ups that fall have no score": undefined_changes,
    "`same_ranking`, all 60 users of the data, with candidates drawn": partial(drawn_candidates, 60),
    "the same, all 200": partial(drawn_candidates, 200),
    "`paper_t_test`, 4 % of the answers could not be read": published_t_test,
    "20 nights from files": partial(nights, 0.0, False),
    "20 nights from files, with failed follow-ups": partial(nights, 0.03, False),
    "20 nights from files, whose ranges differ": partial(nights, 0.0, True),
    **{
        f"`{name}` of questions": partial(questions, name)
        for name in ("better_than_chance", "accuracy_kept", "same_choices", "accuracy_gap", "constant_answer")
    },
    "`preferred`, comparisons of a judge": partial(comparisons, 0.0),
    "`not_less_preferred`": partial(comparisons, LIMIT),
}  # fmt: skip


def wrong(law: Callable[[Generator], Claims], runs: int) -> Counter[str]:
    """How often each claim was made, of so many runs of a law at its limit."""
    return Counter(
        claim for run in range(runs) for claim in law(np.random.default_rng(run))
    )


def report(runs: int) -> Iterator[str]:
    """The table, a line a law."""
    found = {name: wrong(law, runs) for name, law in LAWS.items()}
    rows = [
        (name, *(f"{100 * of[claim] / runs:.1f}" for claim in ("violated", "holds")))
        for name, of in found.items()
    ]
    yield from table(("what is judged", "violated", "holds"), rows)
    limit = bound(runs, ALPHA, 2 * len(LAWS))
    worst = max(of[claim] / runs for of in found.values() for claim in of)
    above = "no rate is" if worst <= limit else "THERE IS A RATE"
    yield (
        f'% of {runs} runs in which "violated" / "holds" was wrongly claimed, alpha {ALPHA:g}, {USERS} users. The largest '
        f"is {100 * worst:.2f}. If every true rate is at most {100 * ALPHA:g}, one of the {2 * len(LAWS)} is above "
        f"{100 * limit:.2f} with probability {SURE:g} at most; {above} above it."
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument(
        "--mean",
        type=float,
        default=LIMIT,
        help="true mean, beside the limit: one of the claims is right then",
    )
    given = parser.parse_args()
    AT.mean = given.mean
    for line in report(given.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()

"""How a promise is asserted: in which form, with which margin and for how many users."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from pytest_recsys_mt.engine.controls import LOSS_MEASURED
from pytest_recsys_mt.faults.writing.candidates import Candidate, Form, form_name
from pytest_recsys_mt.faults.writing.rendering import Written
from pytest_recsys_mt.faults.writing.trial import Outcome

SHARE = 0.05
"""The share of users that an exact test is to meet with a chance of `CHANCE`."""

CHANCE = 0.95
USERS = math.ceil(math.log(1 - CHANCE) / math.log(1 - SHARE))
"""Users of an exact test: 59 meet what hits one user in 20, with a chance of 95 %."""

MARGINS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
"""Margins that are written; between two the reader sees no difference."""

RUNS = 50
"""Later runs that are simulated for a margin."""

MISSES = 1
"""Simulated runs that may not show it."""


@dataclass(frozen=True)
class Settled:
    """A promise with what was found out about it.

    Attributes:
        candidate: The promise.
        form: The form in which it is asserted; None if it says nothing here.
        outcome: How that form ended.
        margin: For that form.
        verdict: ``holds``, ``violated``, ``vacuous``, ``unsettled``, ``not read`` or
            ``not applicable``.
        reason: Why, where it does not hold.
        note: What the margin is, and what an exact form showed.
        users: Users of an exact form.
    """

    candidate: Candidate
    form: Form | None
    outcome: Outcome
    margin: float
    verdict: str
    reason: str = ""
    note: str = ""
    users: int = USERS

    def written(self, comments: Sequence[str] = (), xfail: str = "") -> Written:
        """The test of the promise."""
        assert self.form is not None
        return Written(
            self.candidate, self.form, self.margin, self.users, comments, xfail
        )

    @property
    def comment(self) -> str:
        """The note, and why the margin is larger than the promise's own."""
        if self.form is None or self.margin <= self.form.margin:
            return self.note
        return f"{self.note} Noise hides less than {self.margin:g}.".strip()

    @property
    def test(self) -> str:
        """The name of the form in the trial."""
        assert self.form is not None
        return form_name(self.candidate, self.form)

    @property
    def asked(self) -> int:
        """The users of whom the change was asked."""
        return int(self.outcome.row.get("account", {}).get("asked") or 0)

    def ends_as(self, outcome: Outcome) -> bool:
        """Whether a later run shows the same; an error is a broken promise, too."""
        broken = self.verdict == "violated" and outcome.status == "error"
        return broken or outcome.status == self.verdict


def settled(
    candidate: Candidate,
    outcomes: Mapping[str, Outcome],
    users: int,
    exact_users: int = USERS,
) -> Settled:
    """The form, the margin and the verdict of a promise.

    Args:
        candidate: The promise.
        outcomes: How all forms ended, by their names.
        users: How many users a run of the file can ask.
        exact_users: How many an exact form asks.
    """
    found = _settled(candidate, outcomes, users)
    return replace(found, users=exact_users)


def _settled(
    candidate: Candidate, outcomes: Mapping[str, Outcome], users: int
) -> Settled:
    ended = []
    for form in candidate.forms:
        outcome = outcomes.get(form_name(candidate, form), Outcome("skipped"))
        ended.append((form, outcome))
    for form, outcome in ended:
        if candidate.is_strict and form.is_exact and outcome.status == "violated":
            note = _example(outcome)
            return Settled(candidate, form, outcome, 0, "violated", note=note)
        if outcome.status == "holds" and not outcome.is_vacuous:
            return _holding(candidate, form, outcome, ended, users)
    for _, outcome in ended:
        if outcome.is_vacuous:
            return Settled(candidate, None, outcome, 0, "vacuous", outcome.reason)
    for form, outcome in ended:
        if outcome.status == "violated":
            if candidate.kind == "counts":
                what = f"{candidate.change} changes no more than noise does"
                return Settled(candidate, None, outcome, 0, "not read", what)
            note = _example(outcome)
            return Settled(candidate, form, outcome, form.margin, "violated", note=note)
    form, outcome = ended[-1]
    if outcome.status == "error" and "OracleError" not in outcome.reason:
        note = outcome.reason
        return Settled(candidate, form, outcome, form.margin, "violated", note=note)
    if outcome.status in ("inconclusive", "error"):
        return Settled(candidate, None, outcome, 0, "unsettled", outcome.reason)
    reasons = [each.reason for _, each in ended if each.reason]
    reason = reasons[-1] if reasons else "it did not run"
    return Settled(candidate, None, outcome, 0, "not applicable", reason)


def _holding(
    candidate: Candidate,
    form: Form,
    outcome: Outcome,
    ended: Sequence[tuple[Form, Outcome]],
    users: int,
) -> Settled:
    if form.is_exact and not form.margin:
        return Settled(candidate, form, outcome, 0, "holds")
    margin = form.margin
    row = outcome.row
    if row.get("allowed") == "at most":
        losses = list(row.get("per_user", {}).values())
        if row.get("measures") == LOSS_MEASURED:
            losses = without_luck(losses)
        larger = later_margin(losses, users, margin)
        if larger is None:
            reason = f"{users} users show no margin up to {MARGINS[-1]:g}"
            return Settled(candidate, None, outcome, 0, "unsettled", reason)
        margin = larger
    notes = []
    for other, found in ended:
        if other.is_exact and other is not form and found.status == "violated":
            notes.append(f"Not for everybody: {_example(found)}")
    lost = max(0.0, row.get("estimate") or 0)
    if row.get("allowed") == "at most" and (lost or margin > form.margin):
        notes.append(f"{lost:.2g} were lost on {row['users']} users.")
    return Settled(candidate, form, outcome, margin, "holds", note=" ".join(notes))


def without_luck(losses: Sequence[float]) -> list[float]:
    """Losses beyond noise, without the gain that chance explains.

    A mean below 0 is mostly chance, and more likely here than in later runs, since a
    run ends once a promise is shown. So the losses are raised until their mean is 0,
    but by at most two standard errors.

    Args:
        losses: Of some users, each in [-1, 1].

    Returns:
        As many losses, none above 1.
    """
    values = np.asarray(losses, float)
    if len(values) < 2:
        return list(losses)
    error = values.std(ddof=1) / math.sqrt(len(values))
    gain = max(0.0, -values.mean())
    luck = min(gain, 2 * error)
    raised: list[float] = np.minimum(1.0, values + luck).tolist()
    return raised


def later_margin(
    values: Sequence[float], users: int, least: float = 0.0
) -> float | None:
    """The smallest of the usual margins that nearly all later runs will show.

    Each of `RUNS` later runs is simulated: a law is drawn from the losses that were
    seen (Bayesian bootstrap, Rubin 1981), and so many users from the law. The largest
    loss counts once more than it was seen, since a few users show rare ones seldom.

    Args:
        values: Losses of some users, each in [-1, 1].
        users: How many a later run asks.
        least: The smallest margin to consider.

    Returns:
        None if no usual margin is large enough.
    """
    from pytest_recsys_mt.oracles.statistics.betting import Bets

    draw = np.random.default_rng(0)
    seen = np.append(np.asarray(values, float), max([0.0, *values]))
    later = []
    for _ in range(RUNS):
        law = draw.dirichlet(np.ones(len(seen)))
        later.append(Bets(draw.choice(seen, users, p=law), -1.0, 1.0))
    for margin in MARGINS:
        missed = [runs.p_at_least(margin) > 1 - CHANCE for runs in later]
        if margin >= least and sum(missed) <= MISSES:
            return margin
    return None


def _example(outcome: Outcome) -> str:
    """The smallest example of a violation, or the user who shows it best, in a
    sentence.
    """
    if shrunk := outcome.row.get("shrunk"):
        source, followup = shrunk["source"], shrunk["followup"] or shrunk["source"]
        candidates = len(source["candidates"] or ())
        offered = f" and {candidates} candidates" if candidates else ""
        before, after = _apart(source["answer"], followup["answer"])
        return (
            f"{shrunk['user']}, with {len(source['history'])} of the history{offered}, got {after} in place of "
            f"{before}."
        )
    examples = outcome.row.get("examples") or ()
    broken = [each for each in examples if not each.get("keeps")]
    if not broken:
        return ""
    first = min(broken, key=lambda each: len(each["source"]))
    before, after = _apart(first["source"], first["followup"])
    return f"{first['user']} got {after} in place of {before}."


def _apart(
    before: Sequence[str], after: Sequence[str], most: int = 3
) -> tuple[str, str]:
    """Two lists in words, from the first place at which they differ."""
    alike = (one == other for one, other in zip(before, after, strict=False))
    same = len(list(takewhile(bool, alike)))
    start = "..., " if same else ""
    parts = [side[same : same + most] for side in (before, after)]
    more = [", ..." if len(side) > same + most else "" for side in (before, after)]
    texts = [
        f"[{start}{', '.join(map(str, part))}{rest}]"
        for part, rest in zip(parts, more, strict=True)
    ]
    return texts[0], texts[1]


def wider(settled: Settled) -> Settled | None:
    """The promise with the next margin; None if there is none."""
    if settled.form is None or not settled.form.margin:
        return None
    larger = [each for each in MARGINS if each > settled.margin]
    return replace(settled, margin=larger[0]) if larger else None

"""A difference is claimed only if it is still there when both sides are asked together,
and if versions of the model do not explain it.

A recommender may change during a run, and most follow-ups are asked later than their
source, or days later if the source answers were kept. So if a claim depends on a
difference, both sides are asked again, as one batch in an order that treats them alike.
The same is done if a recommender declares itself deterministic, because a claim would
otherwise depend on that declaration, and with other seeds if each replicate is answered
by a fit of its own. A change of the model behind an endpoint must not count as an
effect of a relation.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from pytest_recsys_mt.oracles.judging.effect import Effects
from pytest_recsys_mt.safety.errors import MissingAnswerError
from pytest_recsys_mt.verdict.answers import Asked, Pairs
from pytest_recsys_mt.verdict.verdict import NEEDED, PART, Slice, Status, Verdict

SUSPICIOUS = 0.001
"""The two sides count as answered by different mixtures of versions if the p-value of
equal mixtures is at most this.
"""


def with_versions(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with an obstacle if the model changed between source and follow-up.

    Several versions (OpenAI's ``system_fingerprint``) may serve a hosted model at once.
    Only if similar mixtures of them answered both sides, the noise floor includes their
    difference.
    """
    source = _versions(pairs.source)
    followup = _versions(pairs.followup)
    names = sorted(source.keys() | followup.keys())
    if len(names) < 2:
        return effects
    counts = [[source[name] for name in names], [followup[name] for name in names]]
    if _are_alike(counts):
        return effects.with_note(
            f"answered by {len(names)} versions of the model: {', '.join(names)}",
        )
    obstacle = (
        f"the model changed: the source by {_in_words(source)} and the follow-up by {_in_words(followup)}, "
        f"so a difference may come from the model; ask all anew with --recsys-mode=refresh"
    )
    return replace(effects, obstacle=obstacle)


def _versions(side: Sequence[Asked]) -> Counter[str]:
    """How many answers of a side each version gave."""
    answers = chain.from_iterable(asked.answers for asked in side)
    versions = [answer.version for answer in answers]
    return Counter(version for version in versions if version is not None)


def _in_words(answers_by_version: Mapping[str, int]) -> str:
    """The versions by name, each with the number of its answers."""
    counts = sorted(answers_by_version.items())
    return ", ".join(f"{name} ({count})" for name, count in counts)


def _are_alike(table: list[list[int]]) -> bool:
    """Whether the rows, the answers of each version on one
    side, may come from one mixture of versions.
    """
    counts = np.array(table)
    some_side_is_unknown = not counts.sum(axis=1).all()
    if some_side_is_unknown:
        return True
    share_no_version = not counts.min(axis=0).any()
    if share_no_version:
        return False
    # An import of scipy.stats takes long, and most models report no version.
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(counts).pvalue) > SUSPICIOUS


CHANGED = "answers changed while we asked"
"""Start of a verdict's reason if the difference is gone
when both sides are asked together.
"""

REPORTED_FROM = 3600.0
"""Seconds between source and follow-ups from which a
verdict reports the time between them.
"""


def with_age(effects: Effects, pairs: Pairs) -> Effects:
    """`effects`, with a note if source and follow-ups are far apart in time."""
    if pairs.apart < REPORTED_FROM:
        return effects
    return effects.with_note(
        f"source and follow-ups were asked {lasting(pairs.apart)} apart",
    )


Repeated = tuple[Verdict, int]
"""The verdict on answers to both sides that were asked again, together; if
deterministic, on both answers to each. And how many users got another answer to the
same request, although it should be equal.
"""


def confirmed(
    verdict: Verdict,
    apart: float,
    deterministic: bool,
    repeat: Callable[[], Repeated | None],
) -> Verdict:
    """The verdict, withdrawn if it claims a difference that is not there when both
    sides are asked together.

    A claim about a stochastic recommender stands if answers asked together prove it
    too. The first verdict is returned then, so that its numbers do not depend on the
    time of asking; if those are answers of fewer users, its details say of how many. A
    recommender that declares itself deterministic is asked again even if the answers
    differ too little for a claim (if any user's moved), and unless all its answers are
    the same as before, the verdict that includes its noise replaces the first.

    Args:
        verdict: The verdict on the answers of the run.
        apart: Seconds between the calls of the two sides; 0 trusts a stochastic
            recommender.
        deterministic: Whether the recommender declares itself deterministic.
        repeat: Sends both sides together; returns None if nothing can have changed.
    """
    if not (apart or deterministic) or not _depends_on_time(verdict, deterministic):
        return verdict
    when = f"{lasting(apart)} apart"
    try:
        again = repeat()
    except MissingAnswerError:
        if not apart:
            return verdict
        reason = (
            f"source and follow-ups were asked {when}, so the recommender may have changed; no answers "
            f"asked together are recorded, and --recsys-mode=replay sends no requests"
        )
        return withdrawn(verdict, reason)
    if again is None:
        return verdict
    other, changed_users = again
    first, second = _of_the_same_users(verdict, other)
    if second.estimate is None or second.interval is None:
        if not apart and "unreadable" not in other.details:
            return verdict
        return withdrawn(verdict, f"asked {when}, then again together: {other.reason}")
    if second.status == _difference(verdict):
        if deterministic:
            return other
        return _proved_by_part(verdict, second.users, first.users)
    if deterministic:
        asked = f" (source and follow-ups were asked {when})" if apart else ""
        reason = _noise_in_words(changed_users, other.users, second.estimate, asked)
        return withdrawn(other, reason)
    low, high = second.interval
    changed = f"{CHANGED}: " if second.status in ("holds", "violated") else ""
    reason = (
        f"{changed}D={first.estimate:.3f} between answers asked {when}, {second.estimate:.3f} "
        f"[{low:.3f}, {high:.3f}] with both sides asked together, which shows no difference"
    )
    return withdrawn(other, reason)


def _noise_in_words(changed: int, users: int, estimate: float, asked: str) -> str:
    """That a recommender which declares itself deterministic is not; `asked` says when
    both sides were asked before, or is empty.
    """
    return (
        f"{CHANGED}: {changed} of {users} users got another answer to the same request{asked}, "
        f"and the recommender declares itself deterministic; with this noise, D is {estimate:.3f}"
    )


def _difference(verdict: Verdict) -> Status:
    """The status that claims that the two sides differ."""
    return "holds" if verdict.allowed == "at least" else "violated"


def _depends_on_time(verdict: Verdict, deterministic: bool) -> bool:
    """Whether the verdict may show a change of the recommender
    between the two sides.
    """
    if verdict.estimate is None:
        return False
    if verdict.status == _difference(verdict):
        return True
    moved = any(verdict.per_user.values())
    return deterministic and verdict.status == "inconclusive" and moved


def withdrawn(verdict: Verdict, reason: str) -> Verdict:
    """A verdict that claims nothing, also of no group."""
    # More users would not settle it.
    details = {name: each for name, each in verdict.details.items() if name != NEEDED}
    return dataclasses.replace(
        verdict,
        status="inconclusive",
        reason=reason,
        slices=(),
        details=details,
    )


def _proved_by_part(verdict: Verdict, users: int, of: int) -> Verdict:
    """The verdict; if only some of its users prove it,
    with their number in its details.
    """
    if users >= of:
        return verdict
    part = {"users": users, "of": of}
    return dataclasses.replace(verdict, details={**verdict.details, PART: part})


def _of_the_same_users(
    verdict: Verdict,
    other: Verdict,
) -> tuple[Verdict | Slice, Verdict | Slice]:
    """The parts of both verdicts on the users for whom the first
    claims a difference: all, or one group.
    """
    broken = verdict.broken
    if broken is None:
        return verdict, other
    for group in other.slices:
        if (group.slicing, group.value) == (broken.slicing, broken.value):
            return broken, group
    return broken, other


def is_proved_by(verdict: Verdict, other: Verdict) -> bool:
    """Whether another verdict claims the same of the same users: all, or the group for
    which `verdict` claims it.
    """
    _, second = _of_the_same_users(verdict, other)
    return second.status == verdict.status


def twice(first: Pairs, second: Pairs) -> tuple[Pairs, int]:
    """Both answers to each request, for the users who have
    both, and for how many users they differ.
    """
    later = {
        source.user: (source, followup)
        for source, followup in zip(second.source, second.followup, strict=True)
    }
    sources = []
    followups = []
    changed = 0
    for source, followup in zip(first.source, first.followup, strict=True):
        if source.user in later:
            source_again, followup_again = later[source.user]
            both_sources = _with(source, source_again)
            both_followups = _with(followup, followup_again)
            if _has_different(both_sources) or _has_different(both_followups):
                changed += 1
            sources.append(both_sources)
            followups.append(both_followups)

    unread_first = set(first.unread_users)
    unread_later = set(second.unread_users)
    read_first = {source.user for source in first.source}
    changed += len((unread_first - unread_later) & later.keys())
    changed += len(unread_later & read_first)

    unread_by_user = {both[0].user: both for both in (*first.unread, *second.unread)}
    pairs = dataclasses.replace(
        second,
        source=tuple(sources),
        followup=tuple(followups),
        unread=tuple(unread_by_user.values()),
    )
    return pairs, changed


def _with(asked: Asked, again: Asked) -> Asked:
    """A user with the answers of both times."""
    answers = asked.answers + again.answers
    return dataclasses.replace(asked, answers=answers)


def _has_different(asked: Asked) -> bool:
    """Whether a user got different lists for one request."""
    lists = {answer.items for answer in asked.answers}
    return len(lists) > 1


def lasting(seconds: float) -> str:
    """A time in words: ``3.2 s``, ``12 minutes``, ``2.5 days``."""
    if math.isinf(seconds):
        return "an unknown time"
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            number = f"{seconds / size:.1f}".removesuffix(".0")
            return f"{number} {unit}"
    return f"{seconds:.1f} s"

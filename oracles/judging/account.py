"""The state of every user who was drawn: who counts in a verdict, and how; and the
reasons why answers allow no verdict, in one order for all oracles.

Each drawn user is in exactly one part of the account. A user without a number is never
left out in silence: one that was asked and has none counts at both ends of the possible
range, as the worst effect for ``holds`` and as the best for ``violated``. Only users
for whom a measure is not defined, by its own declaration, are left out, and the verdict
says how many and why.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict.answers import Choices, Context, Pairs, Sample
from pytest_recsys_mt.verdict.verdict import NOT_ASKED, Status

Tally = Sample | Pairs

NO_ANSWER = "no recommendation in any answer"
"""Why users whose answers are all empty have no number; it counts as a failure."""

NO_REASON = "no reason given"
"""In place of an empty reason."""


@dataclass(frozen=True)
class Account:
    """The drawn users of a verdict, all counted.

    Attributes:
        drawn: Users drawn for the run.
        not_applicable: Users without a question, because the relation or the
            recommender cannot serve them, by reason.
        not_asked: Users whom the verdict did not need, or whom a limit of the run left
            out.
        answered: Users with a number.
        unread: Users with an answer of which nothing could be read.
        failed: Users of whom a call failed, or whose answers are all empty, by reason.
        refused: Users whom the recommender refused although it answers others, by
            reason.
        undefined: Users whose answers have no number, by reason.
        left_out: Users for whom the measure declares that it is not defined, by reason.
    """

    drawn: int
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    not_asked: int = 0
    answered: int = 0
    unread: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    undefined: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        tally: Tally,
        *,
        answered: int,
        unread: int,
        failed: Mapping[str, int],
        undefined: Mapping[str, int],
        left_out: Mapping[str, int],
    ) -> "Account":
        """The account of the users in `tally`, with what
        their answers turned out to be.
        """
        by_reason = {
            why: Counter(lost.reason for lost in tally.lost if lost.why == why)
            for why in ("failed", "refused")
        }
        beyond_a_limit = sum(tally.unasked.values())
        known = sum(tally.not_applicable.values()) + len(tally.order)
        drawn = known if tally.sampled is None else tally.sampled
        never_asked = drawn - known
        return cls(
            drawn=drawn,
            not_applicable=dict(tally.not_applicable),
            not_asked=never_asked + beyond_a_limit,
            answered=answered,
            unread=unread,
            failed=by_reason["failed"] + Counter(failed),
            refused=by_reason["refused"],
            undefined=dict(undefined),
            left_out=dict(left_out),
        )

    @property
    def missing(self) -> int:
        """Users who were asked and count at both ends of the possible range."""
        return self.unread + sum(
            sum(reasons.values())
            for reasons in (self.failed, self.refused, self.undefined)
        )

    @property
    def asked(self) -> int:
        """Users who were asked, with any result."""
        return self.answered + self.missing + sum(self.left_out.values())

    @property
    def without_number(self) -> int:
        """Users of whom the verdict says nothing: without a question, or left out."""
        return sum(self.not_applicable.values()) + sum(self.left_out.values())

    @property
    def errors(self) -> Counter[str]:
        """Why users got no answer, with their number;
        `Context.error_limit` is about these.
        """
        return Counter(self.failed) + Counter(self.refused)

    @property
    def plain(self) -> dict[str, int]:
        """The account as the record has it; see `docs/report.md`."""
        return {
            "drawn": self.drawn,
            "not_applicable": sum(self.not_applicable.values()),
            "not_asked": self.not_asked,
            "asked": self.asked,
            "answered": self.answered,
            "unread": self.unread,
            "failed": sum(self.failed.values()),
            "refused": sum(self.refused.values()),
            "undefined": sum(self.undefined.values()),
            "left_out": sum(self.left_out.values()),
            "both_ends": self.missing,
        }


MANY_REASONS = 12
"""The most failure reasons that are listed one by one; an error may name its user."""

QUOTED = 3
"""How many unread answers a verdict quotes."""

_SHOWN = 2_000  # characters of an unread answer that a record keeps
_LONGEST = 80  # characters of a quoted answer


Readable = Sample | Pairs | Choices
"""Answers of which some could not be read."""

BOTH_ENDS = "counts against every claim: as the worst effect against holds, as the best effect against violated"


def joined(*parts: str) -> str:
    """The parts that are not empty, as one text."""
    return "; ".join(part for part in parts if part)


def without_verdict(
    account: Account,
    unasked: Mapping[str, int],
    context: Context,
    *,
    unread: str = "",
    everybody: bool = False,
    who: str = "user",
) -> tuple[Status, str] | None:
    """The status and the reason if the answers allow no verdict; None if they can be
    judged.

    Args:
        account: The states of the users.
        unasked: How many users were not asked although they could have been, by reason.
        context: The limits of the run.
        unread: The result of `too_many_unread`.
        everybody: Whether the claim is about everybody, so that none may be left
            unasked.
        who: The counted unit: ``user`` or ``question``.
    """
    failures = too_many_failed(account, context, who)
    if unasked and (everybody or failures or not account.answered):
        return "inconclusive", not_asked(unasked)
    if failures:
        return "error", failures
    if unread:
        return "inconclusive", unread
    if account.answered:
        return None
    if account.missing:
        return "inconclusive", f"no {who} has a number"
    return "not-applicable", _why_none(account, who)


def _why_none(account: Account, who: str) -> str:
    """Why there is nobody with a number, although nobody failed."""
    reasons = Counter(account.not_applicable) + Counter(account.left_out)
    if not reasons:
        return f"there is no {who} to ask"
    if len(reasons) == 1:
        return next(iter(reasons))
    return counted(reasons)


def missing_in_words(account: Account, *, but_unread: bool = False) -> list[str]:
    """Which users have no number, why, and how they count; one sentence for each way."""
    of_all = f"of {account.asked}"
    ways = [
        ("got no answer", account.failed),
        ("got a refusal although the recommender answers others", account.refused),
        ("got no number", account.undefined),
    ]
    at_both_ends = [
        f"{_users(reasons)} {of_all} {what} ({counted(reasons)})"
        for what, reasons in ways
        if sum(reasons.values())
    ]
    sentences = []
    if at_both_ends:
        sentences.append(f"{', '.join(at_both_ends)}; each {BOTH_ENDS}")
    if account.unread and not but_unread:
        sentences.append(unread_counts(account.unread, account.asked))
    if sum(account.left_out.values()):
        who = f"{_users(account.left_out)} {of_all} left out"
        reasons = counted(account.left_out)
        sentences.append(f"{who}, for whom nothing is measured ({reasons})")
    return sentences


def _users(reasons: Mapping[str, int]) -> str:
    """The number of users of all reasons together, in words."""
    count = sum(reasons.values())
    return f"{count} user" if count == 1 else f"{count} users"


def too_many_unread(tally: Readable, context: Context, what: str = "list") -> str:
    """Why in too many answers no `what` (a list or an option) was
    read for any verdict; empty if in few enough.
    """
    unread = tally.unreadable
    answers = tally.answers
    limit = context.missed_limit
    if not unread or unread <= limit * answers:
        return ""
    reason = (
        f"no {what} was read in {unread / answers:.1%} of the answers, more than {limit:.1%} "
        f"(recsys_missed_limit)"
    )
    examples = _different_answers(tally)
    if not examples:
        return reason
    # The mark of an option mostly stands at the end of an answer.
    at_end = what == "option"
    texts = [answer.text or "" for answer in examples]
    quoted = ", ".join(_quoted(text, at_end=at_end) for text in texts)
    wanted = "one numbered title a line and nothing else"
    if at_end:
        wanted = "the mark alone"
    return f"{reason}, such as {quoted}; ask for {wanted}"


def unread_counts(unread: int, users: int, who: str = "user") -> str:
    """The treatment of the few answers of which nothing could be read, in words."""
    plural = "" if unread == 1 else "s"
    return (
        f"{unread} {who}{plural} of {users} got an answer of which nothing could be read; "
        f"each {BOTH_ENDS}"
    )


def unreadable(
    tally: Readable,
    users: Mapping[str, int],
) -> dict[str, dict[str, object]]:
    """The details of a verdict about answers of which nothing could be read, and the
    place of each such user.
    """
    if not tally.unreadable:
        return {}
    texts = [
        {"text": (answer.text or "")[:_SHOWN], "how": answer.how[:_SHOWN]}
        for answer in _different_answers(tally)
    ]
    return {
        "unreadable": {
            "answers": tally.unreadable,
            "of": tally.answers,
            "texts": texts,
            "users": dict(users),
        },
    }


def _different_answers(tally: Readable) -> list[Recommendation]:
    """A few unread answers: the first of each text, in their order."""
    first_by_text: dict[str | None, Recommendation] = {}
    for answer in tally.silent:
        first_by_text.setdefault(answer.text, answer)
    return list(first_by_text.values())[:QUOTED]


def _quoted(text: str, *, at_end: bool) -> str:
    """The beginning of a text as one line in quotes, or its end."""
    line = " ".join(text.split()).replace('"', "'")
    if len(line) <= _LONGEST:
        return f'"{line}"'
    if at_end:
        return f'"...{line[-_LONGEST:]}"'
    return f'"{line[:_LONGEST]}..."'


def not_asked(unasked: Mapping[str, int]) -> str:
    """Why users were not asked, in words; empty if all were."""
    if not unasked:
        return ""
    return f"{NOT_ASKED}{counted(unasked)}"


def too_many_failed(account: Account, context: Context, who: str = "user") -> str:
    """Why too many users got no answer for a verdict; empty if few enough."""
    errors = account.errors
    limit = context.error_limit
    share = errors.total() / max(1, account.asked)
    if not errors or (account.answered and share <= limit):
        return ""
    reasons = counted(errors)
    refused = sum(account.refused.values())
    if not refused:
        return f"{reasons}: {share:.1%} of the {who}s failed, the limit is {limit:.1%}"
    failed = errors.total() - refused
    what = "got a refusal"
    if failed:
        what = f"got a refusal ({refused}) or failed ({failed})"
    return (
        f"{reasons}: {share:.1%} of the {who}s {what}, although the recommender answers others; "
        f"the limit is {limit:.1%} (recsys_error_limit)"
    )


_QUOTED = re.compile(r"\[[^][]*\]|'[^']*'|\"[^\"]*\"|(?<!HTTP )(?<!\d)\d+")
"""The parts of an error that name one answer: a list, a text in quotes,
or a number, except for the status of a reply.
"""


def counted(reasons: Mapping[str, int]) -> str:
    """Reasons with their numbers of users, in words; only the most frequent if there
    are many.

    Reasons that differ only in what they quote are one reason, which is shown by its
    first example.
    """
    users_by_reason = _without_quotations(reasons)
    if len(users_by_reason) <= MANY_REASONS:
        return _enumerated(users_by_reason)
    ranked = sorted(
        users_by_reason,
        key=lambda reason: (-users_by_reason[reason], reason),
    )
    listed = ranked[:MANY_REASONS]
    frequent = {reason: users_by_reason[reason] for reason in listed}
    others = users_by_reason.total() - sum(frequent.values())
    more = len(users_by_reason) - MANY_REASONS
    return f"{counted(frequent)}, {more} other reasons ({others})"


def _without_quotations(reasons: Mapping[str, int]) -> Counter[str]:
    """The reasons with their numbers, those that differ only in what they quote as one."""
    alike: dict[str, list[str]] = {}
    for reason in sorted(reasons):
        without_quotation = _QUOTED.sub("", reason)
        alike.setdefault(without_quotation, []).append(reason)
    users_by_reason = Counter[str]()
    for group in alike.values():
        shown = group[0]
        if len(group) > 1:
            shown = f"{shown} and the like"
        users_by_reason[shown] = sum(reasons[reason] for reason in group)
    return users_by_reason


def _enumerated(users_by_reason: Mapping[str, int]) -> str:
    """All reasons by name, each with its number of users."""
    counts = sorted(users_by_reason.items())
    return ", ".join(f"{reason} ({users})" for reason, users in counts)

"""When answers allow no verdict, whatever they are: one ladder for all oracles."""

import re
from collections import Counter
from collections.abc import Mapping

from pytest_recsys_mt.answers import Choices, Context, Pairs, Sample
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict import NOT_ASKED, Status

MANY_REASONS = 12
"""The most failure reasons that are listed one by one; an error may name its user."""

UNREAD = "nothing could be read in an answer"
"""Why it is unknown what an answer says to a user."""

QUOTED = 3
"""How many unread answers a verdict quotes."""

_SHOWN = 2_000  # characters of an unread answer that a record keeps
_LONGEST = 80  # characters of a quoted answer


Tally = Sample | Pairs | Choices
"""Answers of which some could not be read."""


def without_verdict(
    users: int,
    errors: Mapping[str, int],
    unasked: Mapping[str, int],
    not_applicable: Mapping[str, int],
    context: Context,
    *,
    unread: str = "",
    everybody: bool = False,
    who: str = "user",
) -> tuple[Status, str] | None:
    """The status and the reason if the answers allow no verdict; None if they can be judged.

    `unread` is what `too_many_unread` says. If the claim is about `everybody`, none may be left unasked.
    """
    wrong = too_many_failed(errors, users, context, who)
    if unasked and (everybody or wrong or not users):
        return "inconclusive", not_asked(unasked)
    if wrong:
        return "error", wrong
    if unread:
        return "inconclusive", unread
    if not users:
        alone = next(iter(not_applicable), f"there is no {who} to ask")
        return "not-applicable", counted(not_applicable) if len(not_applicable) > 1 else alone
    return None


def too_many_unread(tally: Tally, context: Context, what: str = "list") -> str:
    """Why in too many answers no `what` (a list or an option) was read for any verdict; empty if in few enough."""
    unread, answers = tally.unreadable, tally.answers
    if not unread or unread <= context.missed_limit * answers:
        return ""
    ends = what == "option"  # where the mark mostly stands
    quoted = ", ".join(f'"{_quoted(answer.text or "", ends)}"' for answer in _different(tally))
    told = (
        f"no {what} was read in {unread / answers:.1%} of the answers, more than {context.missed_limit:.1%} "
        f"(recsys_missed_limit)"
    )
    ask = "the mark alone" if what == "option" else "one numbered title a line and nothing else"
    return f"{told}, such as {quoted}; ask for {ask}" if quoted else told


def unread_counts(unread: int, users: int, who: str = "user") -> str:
    """What becomes of the few answers of which nothing could be read, in words."""
    which = f"1 {who}" if unread == 1 else f"{unread} {who}s"
    return (
        f"{which} of {users} got an answer of which nothing could be read; each counts against every claim: as "
        f"the worst effect against holds, as the best effect against violated"
    )


def unreadable(tally: Tally, users: Mapping[str, int]) -> dict[str, dict[str, object]]:
    """The details of a verdict about answers of which nothing could be read, and the place of each such user."""
    if not tally.unreadable:
        return {}
    shown = [
        {"text": (answer.text or "")[:_SHOWN], "how": answer.how[:_SHOWN]}
        for answer in _different(tally)
    ]
    return {
        "unreadable": {
            "answers": tally.unreadable,
            "of": tally.answers,
            "texts": shown,
            "users": dict(users),
        }
    }


def _different(tally: Tally) -> list[Recommendation]:
    return list({answer.text: answer for answer in reversed(tally.silent)}.values())[::-1][:QUOTED]


def _quoted(text: str, ends: bool) -> str:
    line = " ".join(text.split()).replace('"', "'")
    if len(line) <= _LONGEST:
        return line
    return f"...{line[-_LONGEST:]}" if ends else f"{line[:_LONGEST]}..."


def not_asked(unasked: Mapping[str, int]) -> str:
    """Why users were not asked, in words; empty if all were."""
    return f"{NOT_ASKED}{counted(unasked)}" if unasked else ""


def too_many_failed(
    errors: Mapping[str, int], users: int, context: Context, who: str = "user"
) -> str:
    """Why too many calls failed for a verdict; empty if few enough failed."""
    failed = sum(errors.values())
    if not failed or (users and failed / (users + failed) <= context.error_limit):
        return ""
    return (
        f"{counted(errors)}: {failed / (users + failed):.1%} of the {who}s failed, the limit is "
        f"{context.error_limit:.1%}"
    )


_QUOTED = re.compile(r"\[[^][]*\]|'[^']*'|\"[^\"]*\"|(?<!HTTP )(?<!\d)\d+")
"""What an error names of one answer: a list, a text in quotes, or a number, but for the status of a reply."""


def counted(reasons: Mapping[str, int]) -> str:
    """Reasons with their numbers of users, in words; only the most frequent if there are many.

    Reasons that differ only in what they quote are one reason: its first example stands for all.
    """
    shapes: dict[str, str] = {}
    sums = Counter[str]()
    for reason, count in sorted(reasons.items()):
        sums[shapes.setdefault(_QUOTED.sub("", reason), reason)] += count
    if len(sums) > MANY_REASONS:
        frequent = sorted(sums.items(), key=lambda each: (-each[1], each[0]))[:MANY_REASONS]
        others = sums.total() - sum(count for _, count in frequent)
        more = len(sums) - MANY_REASONS
        return f"{counted(dict(frequent))}, {more} other reasons ({others})"
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(sums.items()))

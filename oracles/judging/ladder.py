"""When answers allow no verdict, whatever they are: one ladder for all oracles."""

import re
from collections import Counter
from collections.abc import Mapping

from pytest_recsys_mt.answers import Choices, Context, Pairs, Sample
from pytest_recsys_mt.oracles.judging.account import Account
from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.verdict import NOT_ASKED, Status

MANY_REASONS = 12
"""The most failure reasons that are listed one by one; an error may name its user."""

QUOTED = 3
"""How many unread answers a verdict quotes."""

_SHOWN = 2_000  # characters of an unread answer that a record keeps
_LONGEST = 80  # characters of a quoted answer


Readable = Sample | Pairs | Choices
"""Answers of which some could not be read."""

BOTH_ENDS = "counts against every claim: as the worst effect against holds, as the best effect against violated"


def without_verdict(
    account: Account,
    unasked: Mapping[str, int],
    context: Context,
    *,
    unread: str = "",
    everybody: bool = False,
    who: str = "user",
) -> tuple[Status, str] | None:
    """The status and the reason if the answers allow no verdict; None if they can be judged.

    `unread` is what `too_many_unread` says. If the claim is about `everybody`, none may be left unasked.
    """
    wrong = too_many_failed(account, context, who)
    if unasked and (everybody or wrong or not account.answered):
        return "inconclusive", not_asked(unasked)
    if wrong:
        return "error", wrong
    if unread:
        return "inconclusive", unread
    if account.answered:
        return None
    if account.missing:
        return "inconclusive", f"no {who} has a number"
    reasons = Counter(account.not_applicable) + Counter(account.left_out)
    alone = next(iter(reasons), f"there is no {who} to ask")
    return "not-applicable", counted(reasons) if len(reasons) > 1 else alone


def missing_in_words(account: Account, *, but_unread: bool = False) -> list[str]:
    """Which users have no number, why, and how they count; one sentence for each way."""
    of = f"of {account.asked}"
    found = []
    if failed := sum(account.failed.values()):
        found.append(f"{_users(failed)} {of} got no answer ({counted(account.failed)})")
    if refused := sum(account.refused.values()):
        answered = "although the recommender answers others"
        found.append(
            f"{_users(refused)} {of} got a refusal {answered} ({counted(account.refused)})"
        )
    if undefined := sum(account.undefined.values()):
        found.append(f"{_users(undefined)} {of} got no number ({counted(account.undefined)})")
    told = [f"{', '.join(found)}; each {BOTH_ENDS}"] if found else []
    if account.unread and not but_unread:
        told.append(unread_counts(account.unread, account.asked))
    if left_out := sum(account.left_out.values()):
        reasons = counted(account.left_out)
        told.append(f"{_users(left_out)} {of} left out, for whom nothing is measured ({reasons})")
    return told


def _users(count: int) -> str:
    return f"{count} user" if count == 1 else f"{count} users"


def too_many_unread(tally: Readable, context: Context, what: str = "list") -> str:
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
    return f"{which} of {users} got an answer of which nothing could be read; each {BOTH_ENDS}"


def unreadable(tally: Readable, users: Mapping[str, int]) -> dict[str, dict[str, object]]:
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


def _different(tally: Readable) -> list[Recommendation]:
    return list({answer.text: answer for answer in reversed(tally.silent)}.values())[::-1][:QUOTED]


def _quoted(text: str, ends: bool) -> str:
    line = " ".join(text.split()).replace('"', "'")
    if len(line) <= _LONGEST:
        return line
    return f"...{line[-_LONGEST:]}" if ends else f"{line[:_LONGEST]}..."


def not_asked(unasked: Mapping[str, int]) -> str:
    """Why users were not asked, in words; empty if all were."""
    return f"{NOT_ASKED}{counted(unasked)}" if unasked else ""


def too_many_failed(account: Account, context: Context, who: str = "user") -> str:
    """Why too many users got no answer for a verdict; empty if few enough."""
    errors, limit = account.errors, context.error_limit
    share = errors.total() / max(1, account.asked)
    if not errors or (account.answered and share <= limit):
        return ""
    refused = sum(account.refused.values())
    told = counted(errors)
    if not refused:
        return f"{told}: {share:.1%} of the {who}s failed, the limit is {limit:.1%}"
    failed = errors.total() - refused
    what = f"got a refusal ({refused}) or failed ({failed})" if failed else "got a refusal"
    return (
        f"{told}: {share:.1%} of the {who}s {what}, although the recommender answers others; the limit is {limit:.1%} "
        f"(recsys_error_limit)"
    )


_QUOTED = re.compile(r"\[[^][]*\]|'[^']*'|\"[^\"]*\"|(?<!HTTP )(?<!\d)\d+")
"""What an error names of one answer: a list, a text in quotes, or a number, but for the status of a reply."""


def counted(reasons: Mapping[str, int]) -> str:
    """Reasons with their numbers of users, in words; only the most frequent if there are many.

    Reasons that differ only in what they quote are one reason, which is shown by its first example.
    """
    shapes: dict[str, list[str]] = {}
    for reason in sorted(reasons):
        shapes.setdefault(_QUOTED.sub("", reason), []).append(reason)
    sums = Counter[str]()
    for alike in shapes.values():
        shown = alike[0] if len(alike) == 1 else f"{alike[0]} and the like"
        sums[shown] = sum(reasons[reason] for reason in alike)
    if len(sums) > MANY_REASONS:
        frequent = sorted(sums.items(), key=lambda each: (-each[1], each[0]))[:MANY_REASONS]
        others = sums.total() - sum(count for _, count in frequent)
        more = len(sums) - MANY_REASONS
        return f"{counted(dict(frequent))}, {more} other reasons ({others})"
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(sums.items()))

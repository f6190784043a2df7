"""When answers allow no verdict, whatever they are: one ladder for all oracles."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_recsys_mt.answers import Context
from pytest_recsys_mt.verdict import NOT_ASKED, Status

MANY_REASONS = 12
"""The most failure reasons that are listed one by one; an error may name its user."""


def without_verdict(
    users: int,
    errors: Mapping[str, int],
    unasked: Mapping[str, int],
    not_applicable: Mapping[str, int],
    context: Context,
    *,
    everybody: bool = False,
    who: str = "user",
) -> tuple[Status, str] | None:
    """The status and the reason if the answers allow no verdict; None if they can be judged.

    Args:
        users: Number of scored users.
        errors: Why other users' calls failed, with their numbers.
        unasked: Why users were not asked, with their numbers.
        not_applicable: Why users could not be served, with their numbers.
        context: Holds the limit on failures.
        everybody: Whether the claim is about all users, so that none may be left unasked.
        who: What is asked and scored.
    """
    wrong = too_many_failed(errors, users, context, who)
    if unasked and (everybody or wrong or not users):
        return "inconclusive", not_asked(unasked)
    if wrong:
        return "error", wrong
    if not users:
        alone = next(iter(not_applicable), f"there is no {who} to ask")
        return "not-applicable", counted(not_applicable) if len(not_applicable) > 1 else alone
    return None


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
    sums: dict[str, int] = {}
    for reason, count in sorted(reasons.items()):
        first = shapes.setdefault(_QUOTED.sub("", reason), reason)
        sums[first] = sums.get(first, 0) + count
    reasons = sums
    if len(reasons) > MANY_REASONS:
        frequent = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))[:MANY_REASONS]
        others = sum(reasons.values()) - sum(count for _, count in frequent)
        more = len(reasons) - MANY_REASONS
        return f"{counted(dict(frequent))}, {more} other reasons ({others})"
    return ", ".join(f"{reason} ({count})" for reason, count in sorted(reasons.items()))

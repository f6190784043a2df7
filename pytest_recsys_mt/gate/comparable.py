"""Why a verdict of two runs cannot be compared, and the
users whose value one of them could not read.
"""

from bisect import bisect
from collections.abc import Sequence

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import step_of
from pytest_recsys_mt.gate.states import OF_CALLS, detail_of, unit_of
from pytest_recsys_mt.safety.sanitize import one_line

SEVERAL_LOOKS = "users were asked in several steps, and records of that version have no values of users then"

TIMES = "it judges calls, not users, and the times of two runs are not compared"

_LONGEST_REASON = 200
"""Characters of a reason that quotes a record."""


def obstacle(old: Row | None, new: Row) -> str:
    """Why the verdicts of two runs cannot be compared, whatever users they share; empty
    if nothing is known.

    Args:
        old: The row of the baseline; None if it has none.
        new: The row of this run.
    """
    if old is None:
        return "the baseline has no such verdict"
    missing = _without_values(new, "this run") or _without_values(old, "the baseline")
    if missing:
        return missing
    digest_then = detail_of(old, "questions_digest")
    digest_now = detail_of(new, "questions_digest")
    if digest_then and digest_now and digest_then != digest_now:
        digests = f"SHA-256 {digest_then!s:.12} then, {digest_now!s:.12} now"
        return one_line(f"the two asked other questions: {digests}")
    if old["allowed"] != new["allowed"]:
        return (
            f"it promised {old['allowed']!r} then and promises {new['allowed']!r} now"
        )
    if step_of(old) != step_of(new):
        # Such as an oracle that judges the worst of several steps, which is another one
        # each time.
        reason = f"the two judge different steps: {step_of(new)!r} and {step_of(old)!r}"
        return one_line(reason)[:_LONGEST_REASON]
    return ""


def _without_values(row: Row, where: str) -> str:
    """Why a row has no values of users; empty if it has some."""
    has_values = bool(row.get("per_user"))
    is_left_out = row["status"] == "not-applicable" and not has_values
    if row["status"] == "error" or is_left_out:
        return one_line(f"{row['status']} in {where}: {row['reason']}")[
            :_LONGEST_REASON
        ]
    if has_values:
        return ""
    if unit_of(row) == OF_CALLS:
        return TIMES
    # A reach without values: the oracle judges user by user, but sent requests in
    # several steps.
    why = SEVERAL_LOOKS if row.get("reach") else one_line(row["reason"])
    reason = f"{where} has no value per user for it"
    if why:
        reason += f": {why}"
    return reason[:_LONGEST_REASON]


def obstacle_together(old: Row, new: Row, in_both: int, unknown: int) -> str:
    """Why a number of all users together cannot be compared; empty if it can.

    Args:
        old: The row of the baseline.
        new: The row of this run.
        in_both: How many users have a value in both.
        unknown: How many have none in one of them, because an answer could not be read.
    """
    then = old["per_user"]
    now = new["per_user"]
    if then.keys() != now.keys():
        counts = f"{len(then)} then, {len(now)} now, {in_both} of them the same"
        return f"a number of all users together, and the users differ: {counts}"
    if unknown:
        return f"a number of all users together, and of {unknown} an answer could not be read"
    return ""


def unknown_in_one(old: Row, new: Row, users: Sequence[str]) -> tuple[int, ...]:
    """For each user whose value one run could not read, before which user with two
    values they stand.

    Args:
        old: The row of the baseline.
        new: The row of this run.
        users: Those with a value in both runs, in the order drawn.

    Returns:
        Positions in `users`, sorted; ``len(users)`` for one who stands after all of
        them.
    """
    unknown_then = unknown_of(old)
    unknown_now = unknown_of(new)
    if not unknown_then and not unknown_now:
        return ()
    asked_then = {*old["per_user"], *unknown_then}
    asked_now = {*new["per_user"], *unknown_now}
    lost = {*unknown_then, *unknown_now} & asked_then & asked_now

    # In the order drawn: an unread user stands before the user of that number among
    # those with a value.
    place = {user: (at, 1) for at, user in enumerate(new["per_user"])}
    place |= {user: (at, 0) for user, at in unknown_now.items()}
    known = [place[user] for user in users]
    return tuple(sorted(bisect(known, place[user]) for user in lost))


def unknown_of(row: Row) -> dict[str, int]:
    """The users whose value is unknown, and before which user with a value each stands;
    records are untrusted.

    Their answer could not be read, or their follow-up failed although their source was
    answered.
    """
    found: dict[str, int] = {}
    for name in ("unreadable", "unmeasured"):
        said = detail_of(row, name)
        users = said.get("users") if isinstance(said, dict) else None
        if not isinstance(users, dict):
            continue
        for user, at in users.items():
            if isinstance(at, int) and at >= 0:
                found[user] = at
    return found


def number_of_users(row: Row) -> int:
    """The number of users of a row, those without a value too."""
    counts = [row.get(name) for name in ("users", "not_applicable", "errors")]
    return sum(count for count in counts if isinstance(count, int))

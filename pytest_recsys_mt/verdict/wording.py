"""A verdict as one sentence: the value, its limit, and how sure that is; how an option
is typed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

SHARE = "share of"
"""A measure is a share, and may be shown in percent, if
its words begin so.
"""

SETTLED = (
    "ahead", "batch", "calls-a-day", "columns", "controls", "core", "error-limit", "exact", "executor", "fault", "max-tokens", "max-wait",
    "missed-limit", "profiler", "question-setting", "recall", "repeats", "sampler", "show-user", "timeout", "tokens-a-day", "unit", "usd-a-day",
)  # fmt: skip
"""Options that a project settles in its ini file; a run that wants another value says
``-o recsys_NAME=VALUE``.
"""

_SAID: Mapping[str, str] = {
    "holds": "holds",
    "violated": "is violated",
    "inconclusive": "is inconclusive",
    "error": "got no verdict",
    "not-applicable": "does not apply",
    "known": "is violated, as its test expects",
    "fixed": "holds, though its test expects a violation",
}


_UNREAD: Mapping[str, str] = {
    "ratings": "ratings",
    "history": "the history",
    "candidates": "the candidates",
    "user": "who the user is",
    "titles": "titles",
    "instruction": "the instruction",
}


def unread(aspect: str, shown: Mapping[str, Any] | None = None) -> str:
    """The part that a recommender does not read, in words that follow "it": ``does not
    read ratings``.

    Of a noisy recommender, `shown` says only that no effect was seen above its noise.
    Without `shown`, or where it says so, the recommender declares it.
    """
    what = _UNREAD.get(aspect, spoken(aspect))
    if shown and shown.get("noisy"):
        return f"showed no effect of {what} above its noise (below {shown['below']:g})"
    if aspect == "history" and shown and not shown.get("declared"):
        return "does not read the history, or keeps an earlier one of the user"
    return f"does not read {what}"


def typed(name: str) -> str:
    """An option as the user types it, up to its value."""
    return (
        f"-o recsys_{name.replace('-', '_')}" if name in SETTLED else f"--recsys-{name}"
    )


def spoken(name: str) -> str:
    """A name from code as words."""
    return " ".join(name.replace("_", " ").split())


def measured_words(measures: str, metric: str | None, joint: bool) -> str:
    """The measure behind a number, as words after "the"."""
    if measures or metric is None:
        return measures or "effect"
    return spoken(metric) if joint else f"mean {spoken(metric)}"


MOST_GROUPS = 3
"""The most groups of users that a part of a sentence names."""

Group = Mapping[str, Any]
"""A `verdict.Slice` as plain data."""


def broken_group(slices: Sequence[Group]) -> Group | None:
    """The group that breaks the promise most surely; None if
    all users together do, or none does.
    """
    broken = [each for each in slices if each["status"] == "violated"]
    if not broken or broken[0] is slices[0]:
        return None
    return min(broken, key=lambda each: float(each["p_value"]))


def group_in_words(group: Group) -> str:
    """Such as ``users of genre Horror``, or ``items of popularity tail``."""
    if not group["slicing"]:
        return "all users"
    whole, _, attribute = group["slicing"].partition(":")
    if attribute and whole == "items":
        return f"items of {spoken(attribute)} {group['value']}"
    return f"users of {spoken(group['slicing'])} {group['value']}"


def sentence(subject: str, state: str, facts: Mapping[str, Any]) -> str:
    """A verdict as one sentence that can be read aloud.

    Other than a status, its state may be ``known`` or ``fixed``; see
    `gate.document.state_of`. The facts are `Verdict`'s attributes by their names, and
    groups of users are plain data.
    """
    metric = facts.get("metric")
    value, limit = (
        (facts.get("estimate"), facts.get("margin"))
        if metric is None
        else (facts.get("value"), facts.get("threshold"))
    )
    parts = []
    interval, reason = facts.get("interval"), facts.get("reason") or ""
    slices = facts.get("slices") or []
    group = broken_group(slices) if state in ("violated", "known") else None
    if value is not None and (interval is not None or not reason):
        what = measured_words(
            facts.get("measures") or "",
            metric,
            joint=bool(facts.get("joint")),
        )
        about = "approximately " if facts.get("approximate") else ""
        unit = (facts.get("details") or {}).get("unit") or "users"
        everybody = _seen(value, interval, facts.get("users") or 0, about, unit)
        one = group and _seen(group["estimate"], group["interval"], group["users"])
        seen = f"the {what} is {one or everybody}"
        if limit is not None:
            allowed = facts.get("allowed")
            side = f"between -{limit:g} and" if allowed == "within" else allowed
            word = "required" if allowed == "at least" else "allowed"
            turn = "but" if state in ("violated", "known") else "and"
            relation = f"{turn} {side} {limit:g} is {word}"
            seen += f", {relation if allowed else f'against a limit of {limit:g}'}"
        parts.append(seen)
        if group:
            parts.append(f"for all users it is {everybody}")
        parts += _others(slices, group, state, facts)
    if state in ("violated", "known") and (p_value := facts.get("p_value")):
        parts.append(f"p = {p_value:.2g}")
    if part := proved_by_part(facts.get("details") or {}):
        parts.append(part)
    changed = changed_lists(facts.get("details") or {})
    if changed and state in ("holds", "inconclusive"):
        parts.append(changed)
    if reason:
        parts.append(reason)
    if vacuous := facts.get("vacuous"):
        parts.append(
            vacuously(vacuous, (facts.get("details") or {}).get("unread") or {}),
        )
    if state == "fixed":
        parts.append("remove expect_violated() or the entry in recsys.toml")
    said = _SAID[state]
    if group:
        said = said.replace("violated", f"violated for {group_in_words(group)}", 1)
    text = f"{subject} {said}"
    text += f": {'; '.join(parts)}" if parts else ""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def changed_lists(details: Mapping[str, Any]) -> str:
    """Such as ``13 of 40 lists changed, the most that of user u17, by 0.42``; empty if
    none did, if noise may have, or if their share was judged.

    Details of records are untrusted.
    """
    found = details.get("changed")
    if (
        not isinstance(found, Mapping)
        or not found.get("changed")
        or found.get("judged")
    ):
        return ""
    return (
        f"{found['changed']} of {found.get('lists')} lists changed, the most that of user {found.get('user')}, "
        f"by {found.get('largest', 0):.2f}"
    )


def proved_by_part(details: Mapping[str, Any]) -> str:
    """Such as ``proved by 14 of 40 users whose two sides were asked at one time``;
    empty if all users prove it.

    Details of records are untrusted.
    """
    found = details.get("at_one_time")
    if not isinstance(found, Mapping) or not {"users", "of"} <= found.keys():
        return ""
    return f"proved by {found['users']} of {found['of']} users whose two sides were asked at one time"


def _seen(
    value: float,
    interval: Sequence[float] | None,
    users: int,
    about: str = "",
    unit: str = "users",
) -> str:
    notes = [f"{users} {unit.removesuffix('s') if users == 1 else unit}"]
    if interval is not None:
        notes.insert(0, f"{about}{interval[0]:.3f} to {interval[1]:.3f}")
    return f"{value:.3f} ({'; '.join(notes)})"


def _others(
    slices: Sequence[Group],
    first: Group | None,
    state: str,
    facts: Mapping[str, Any],
) -> Iterator[str]:
    broken = state in ("violated", "known")
    status, lead = (
        ("violated", "also" if first else "so")
        if broken
        else ("inconclusive", "not settled")
    )
    limit = (
        facts.get("margin") if facts.get("metric") is None else facts.get("threshold")
    )
    found = [
        (beyond(each["estimate"], facts.get("allowed"), limit or 0.0), each)
        for each in slices[1:]
        if each["status"] == status
        and each is not first
        and each["estimate"] is not None
    ]
    worst = [each for by, each in sorted(found, key=lambda both: -both[0]) if by > 0]
    groups = [
        f"{group_in_words(each)} ({each['estimate']:.3f}; {each['users']})"
        for each in worst[:MOST_GROUPS]
    ]
    if len(worst) > MOST_GROUPS:
        groups.append(f"{len(worst) - MOST_GROUPS} other groups")
    if groups:
        yield f"{lead} for {', '.join(groups)}"


def beyond(value: float, allowed: str | None, limit: float) -> float:
    """By how much a value is beyond its limit; below 0 if it is not."""
    if allowed == "at most":
        return value - limit
    return limit - value if allowed == "at least" else abs(value) - limit


def vacuously(aspect: str, shown: Mapping[str, Any]) -> str:
    """The part that a recommender does not read, and how this is known."""
    if not shown.get("relation"):
        return f"it declares that it {unread(aspect)}"
    return (
        f"it {unread(aspect, shown)} ({shown['relation']}: the {shown['measures']} is below "
        f"{shown['below']:g}; {shown['users']} users)"
    )

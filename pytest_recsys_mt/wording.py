"""A verdict as one sentence: what was seen, against which limit, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHARE = "share of"
"""What a verdict measures is a share, and may be shown in percent, if its words begin so."""

_SAID: Mapping[str, str] = {
    "holds": "holds",
    "violated": "is violated",
    "inconclusive": "is inconclusive",
    "error": "got no verdict",
    "not-applicable": "does not apply",
    "known": "is violated, as its test expects",
    "mended": "holds, though its test expects a violation",
}


_UNREAD: Mapping[str, str] = {
    "ratings": "ratings",
    "history": "the history",
    "candidates": "the candidates",
    "user": "who the user is",
    "instruction": "the instruction",
}


def unread(aspect: str) -> str:
    """What a recommender does not read, in words that follow "it": ``does not read ratings``."""
    return f"does not read {_UNREAD.get(aspect, spoken(aspect))}"


def spoken(name: str) -> str:
    """A name from code as words."""
    return " ".join(name.replace("_", " ").split())


def measured_words(measures: str, metric: str | None, joint: bool) -> str:
    """What a number measures, as words after "the".

    Args:
        measures: The words of the oracle; empty if it has none.
        metric: The metric of a benchmark task.
        joint: Whether the number is one of all users together, and so no mean.
    """
    if measures or metric is None:
        return measures or "effect"
    return spoken(metric) if joint else f"mean {spoken(metric)}"


def sentence(subject: str, state: str, facts: Mapping[str, Any]) -> str:
    """A verdict as one sentence that can be read aloud.

    Args:
        subject: What made the promise, by its name.
        state: A status, or ``known`` or ``mended``; see `gate.document.state_of`.
        facts: `Verdict`'s attributes by their names.
    """
    metric = facts.get("metric")
    value, limit = (
        (facts.get("estimate"), facts.get("margin"))
        if metric is None
        else (facts.get("value"), facts.get("threshold"))
    )
    parts = []
    interval, reason = facts.get("interval"), facts.get("reason") or ""
    if value is not None and (interval is not None or not reason):
        what = measured_words(facts.get("measures") or "", metric, joint=bool(facts.get("joint")))
        users = facts.get("users") or 0
        beside = [f"{users} {'user' if users == 1 else 'users'}"]
        if interval is not None:
            about = "approximately " if facts.get("approximate") else ""
            beside.insert(0, f"{about}{interval[0]:.3f} to {interval[1]:.3f}")
        seen = f"the {what} is {value:.3f} ({'; '.join(beside)})"
        if limit is not None:
            allowed = facts.get("allowed")
            side = f"between -{limit:g} and" if allowed == "within" else allowed
            word = "required" if allowed == "at least" else "allowed"
            turn = "but" if state in ("violated", "known") else "and"
            told = f"{turn} {side} {limit:g} is {word}"
            seen += f", {told if allowed else f'against a limit of {limit:g}'}"
        parts.append(seen)
    if state in ("violated", "known") and (p_value := facts.get("p_value")):
        parts.append(f"p = {p_value:.2g}")
    if reason:
        parts.append(reason)
    if vacuous := facts.get("vacuous"):
        parts.append(vacuously(vacuous, (facts.get("details") or {}).get("unread") or {}))
    if state == "mended":
        parts.append("remove expect_violated() or the entry in recsys.toml")
    text = f"{subject} {_SAID[state]}"
    text += f": {'; '.join(parts)}" if parts else ""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def vacuously(aspect: str, shown: Mapping[str, Any]) -> str:
    """What a recommender does not read, and how this is known."""
    if not shown.get("relation"):
        return f"it declares that it {unread(aspect)}"
    return (
        f"it {unread(aspect)} ({shown['relation']}: the {shown['measures']} is below "
        f"{shown['below']:g}; {shown['users']} users)"
    )

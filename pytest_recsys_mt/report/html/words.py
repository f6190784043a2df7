"""Verdicts in words, for readers who have only the report."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate import states
from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.states import measured
from pytest_recsys_mt.report.measures import effect_of, limit_of
from pytest_recsys_mt.verdict import wording
from pytest_recsys_mt.verdict.wording import broken_group, group_in_words


@dataclass(frozen=True)
class State:
    """The state of a row: its verdict, and whether that was expected; `bad` if it
    counts against anything.
    """

    key: states.State
    label: str
    symbol: str
    heading: str
    bad: bool = True


STATES: dict[states.State, State] = {
    state.key: state
    for state in (
        State("violated", "violated", "✗", "Violated: the promise is broken"),
        State("error", "error", "!", "Errors: no verdict could be made"),
        State(
            "fixed",
            "fixed",
            "!",
            "Fixed: a violation was expected, and the promise holds",
        ),
        State(
            "inconclusive",
            "inconclusive",
            "?",
            "Inconclusive: neither kept nor broken",
        ),
        State(
            "known",
            "known violation",
            "✗",
            "Known violations, as the tests expect",
            bad=False,
        ),
        State("holds", "holds", "✓", "Holds: the promise is kept", bad=False),
        State("not-applicable", "not applicable", "–", "Not applicable", bad=False),
    )
}
"""The most important first, as `states.STATES`."""


def state_of(row: Row) -> State:
    """The state of a row."""
    return STATES[states.state_of(row)]


def number(value: float | None, percent: bool = False) -> str:
    """A number with its significant digits."""
    if value is None:
        return "–"
    if percent:
        return f"{100 * value:.1f}%"
    if value and abs(value) < 0.0005:
        return f"{value:.1g}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:,.0f}"


def chance(p_value: float) -> str:
    """A probability as words that follow "a probability of"."""
    if p_value < 1e-6:
        return "less than one in a million"
    return f"{p_value:.2g}" if p_value < 0.1 else f"{p_value:.2f}"


def verdict(row: Row, alpha: float | None, judged: int) -> list[str]:
    """The verdict as sentences: the result, its certainty, and advice
    on settling it.
    """
    value = measured(row).value
    status, reason = row["status"], row.get("reason") or ""
    interval = row.get("interval")
    if value is None or interval is None:
        return [*_without_numbers(status, reason), *_vacuously(row)]
    sentences = [*_broken(row), _found(row, value), _bounds(row, interval, alpha)]
    if status == "violated":
        sentences += _how_sure(row, alpha, judged)
        if row.get("expected") == "violated":
            sentences.append(
                "The test expects this violation (expect_violated), so it does not fail.",
            )
    elif status == "holds" and row.get("expected") == "violated":
        sentences.append(
            "The test expects a violation (expect_violated), and now there is none, so it fails: "
            "remove the expectation.",
        )
    elif status == "inconclusive":
        sentences.append("So neither a broken nor a kept promise is shown.")
    sentences += _vacuously(row)
    if reason:
        settles = status == "inconclusive" and "would" in reason
        label = "What would settle it" if settles else "Note"
        sentences.append(f"{label}: {reason}.")
    return sentences


def _vacuously(row: Row) -> list[str]:
    if not states.vacuous_of(row):
        return []
    known = wording.vacuously(row["vacuous"], row["details"].get("unread") or {})
    return [f"The promise is kept vacuously: {known}."]


def _without_numbers(status: str, reason: str) -> list[str]:
    opening = {
        "error": "No verdict could be made",
        "not-applicable": "This promise could not be tested on the recommender",
        "inconclusive": "Nothing was shown",
        "holds": "No counterexample was found",
        "violated": "A counterexample was found",
    }.get(status, "No effect was measured")
    return [f"{opening}: {reason}." if reason else f"{opening}."]


def _found(row: Row, value: float) -> str:
    effect = effect_of(row)
    users = row.get("users", 0)
    limit = limit_of(row)
    limits = (
        "the promise asks for"
        if row.get("allowed") == "at least"
        else "the promise allows"
    )
    people = f"{users:,} {'user' if users == 1 else 'users'}"
    if measured(row).metric is not None:
        limits = "the test asks for"
    allows = f"; {limits} {limit}" if limit else ""
    return (
        f"Over {people}, the {effect.name} is {number(value, effect.percent)}{allows}."
    )


def _broken(row: Row) -> Iterator[str]:
    group = broken_group(row.get("slices") or [])
    if group is None or row["status"] != "violated":
        return
    effect = effect_of(row)
    low, high = (number(bound, effect.percent) for bound in group["interval"])
    of_items = group["slicing"].startswith("items:")
    whom = "users" if of_items else "of them"
    yield (
        f"The promise is broken for {group_in_words(group)}: over {group['users']:,} {whom}, the {effect.name} is "
        f"{number(group['estimate'], effect.percent)}, and, corrected for the number of groups, it is between {low} "
        f"and {high}."
    )


def _bounds(row: Row, interval: Sequence[float], alpha: float | None) -> str:
    percent = effect_of(row).percent
    low, high = (number(bound, percent) for bound in interval)
    what = "the share among" if percent else "the mean over"
    sure = (
        "At the declared error rate"
        if alpha is None
        else f"With {100 * (1 - alpha):g}% confidence"
    )
    if row.get("approximate"):
        sure = f"Approximately, {sure[0].lower()}{sure[1:]}"
    one_sided = {
        ("violated", "at most"): f"at least {low}",
        ("violated", "at least"): f"at most {high}",
        ("holds", "at most"): f"at most {high}",
        ("holds", "at least"): f"at least {low}",
    }
    said = one_sided.get((row["status"], row.get("allowed") or ""))
    if said is not None:
        return f"{sure}, {what} all users like these is {said}."
    between = (
        " The limit is between the two." if row["status"] == "inconclusive" else ""
    )
    return f"{sure} each, {what} all users like these is above {low} and below {high}.{between}"


def _how_sure(row: Row, alpha: float | None, judged: int) -> list[str]:
    p_value, corrected = row.get("p_value"), row.get("p_holm")
    said = []
    if p_value is not None:
        said.append(
            f"Were the promise kept, numbers as bad as these would turn up with a probability of "
            f"{chance(p_value)}.",
        )
    if corrected is not None and alpha is not None and judged > 1:
        meaning = "among so many claims, this one may be chance; ask more users."
        if corrected <= alpha:
            meaning = "the violation stands."
        said.append(
            f"Corrected for all {judged} claims of this run (Holm), the probability is "
            f"{chance(corrected)}: {meaning}",
        )
    return said


def agreement(row: Row) -> str:
    """How far the answers agree, and how far the recommender agrees with itself."""
    floor, agreed = row.get("floor"), row.get("agreement")
    if floor is None or agreed is None or measured(row).metric is not None:
        return ""
    itself = (
        "it repeats itself exactly when asked the same twice"
        if floor == 1
        else f"asked the same twice, it agrees with itself by {floor:.2f} (the noise floor)"
    )
    return (
        f"Answers before and after the change agree by {agreed:.2f}, on a scale from 0 (nothing in "
        f"common) to 1 (identical); {itself}."
    )


PARTS = {
    "unread": "with an answer that could not be read",
    "failed": "failed",
    "refused": "refused",
    "undefined": "without a number",
    "left_out": "left out",
    "not_applicable": "not applicable",
    "not_asked": "not asked",
}
"""The parts of a verdict's account other than the scored users, in words."""


def counted(row: Row) -> str:
    """How many users were scored, and the counts of all
    others; records of earlier versions say less.
    """
    parts = [f"{row.get('users', 0):,} users scored"]
    account = row.get("account") or {}
    if account:
        parts += [
            f"{account[key]:,} {word}"
            for key, word in PARTS.items()
            if account.get(key)
        ]
        parts.append(f"of {account.get('drawn', 0):,} drawn")
    else:
        missing = (
            (row.get("not_applicable"), "not applicable"),
            (row.get("errors"), "failed"),
        )
        parts += [f"{users:,} {word}" for users, word in missing if users]
    looks = row.get("looks") or 1
    if looks > 1:
        parts.append(f"asked for in {looks} steps")
    return ", ".join(parts)

"""Verdicts in words, for readers who have only the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_recsys_mt.gate import document
from pytest_recsys_mt.gate.document import Row, measured


@dataclass(frozen=True)
class State:
    """The state of a row: its verdict, and whether that was expected.

    Attributes:
        key: For filters and colours.
        label: The word that people read.
        symbol: Shown beside the word.
        heading: The heading above all rows in this state.
        bad: Whether it counts against the recommender, or the test.
    """

    key: str
    label: str
    symbol: str
    heading: str
    bad: bool = True


STATES = {
    state.key: state
    for state in (
        State("violated", "violated", "✗", "Violated: the promise is broken"),
        State("error", "error", "!", "Errors: no verdict could be made"),
        State("mended", "fixed", "!", "Fixed: violations that were expected and are gone"),
        State("inconclusive", "inconclusive", "?", "Inconclusive: neither kept nor broken"),
        State("known", "known violation", "✗", "Known violations, as the tests expect", bad=False),
        State("holds", "holds", "✓", "Holds: the promise is kept", bad=False),
        State("not-applicable", "not applicable", "–", "Not applicable", bad=False),
    )
}
"""The most important first."""


def state_of(row: Row) -> State:
    """The state of a row."""
    return STATES[document.state_of(row)]


@dataclass(frozen=True)
class Effect:
    """The meaning of an oracle's effect, in words.

    Attributes:
        name: The name within a sentence.
        percent: Whether it is a share.
    """

    name: str
    percent: bool = False

    @property
    def unit(self) -> str:
        """The common unit of effects on one axis."""
        return "share of users or answers at fault" if self.percent else self.name


AGREEMENT = Effect("loss of agreement")
EFFECTS = {
    "same_ranking": AGREEMENT,
    "same_set": AGREEMENT,
    "same_order": AGREEMENT,
    "different_ranking": AGREEMENT,
    "within_noise": AGREEMENT,
    "low_churn": Effect("share of users whose answer changed, beyond chance", percent=True),
    "never_differs": Effect("share of users whose answer differs", percent=True),
    "same_answer": Effect("share of answers that differ", percent=True),
    "no_repeats": Effect("share of users with an item named twice", percent=True),
    "only_candidates": Effect("share of users with an item that was not offered", percent=True),
    "complete_list": Effect("share of users with too few items", percent=True),
    "not_lifted": Effect("rise of the item with the changed title"),
    "not_worse": Effect("loss of {score}"),
    "same_hits": Effect("change of the hit rate"),
    "same_score": Effect("change of {score}"),
    "not_increased": Effect("rise of {score}"),
    "increases": Effect("rise of {score}"),
    "decreases": Effect("fall of {score}"),
}


def effect_of(row: Row) -> Effect:
    """What the effect of a row measures."""
    function, _, score = row["oracle"].partition(":")
    metric = measured(row).metric
    if metric is not None:
        return Effect(spoken(metric))
    known = EFFECTS.get(function, Effect("effect"))
    return Effect(known.name.format(score=spoken(score) or "the score"), known.percent)


def spoken(name: str) -> str:
    """A name from code as words."""
    return " ".join(name.replace("_", " ").split())


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


def limit_of(row: Row) -> str:
    """What the promise allows, in words."""
    effect, limit = effect_of(row), measured(row).limit
    if limit is None:
        return ""
    text = f"{100 * limit:g}%" if effect.percent else f"{limit:g}"
    allowed = row.get("allowed")
    if allowed == "within":
        return f"between −{text} and {text}"
    return f"{allowed} {text}" if allowed else text


def verdict(row: Row, alpha: float | None, judged: int) -> list[str]:
    """The verdict as sentences: the result, its certainty, and what would settle it.

    Args:
        row: A row of the record.
        alpha: Error rate of each claim, if the record has it.
        judged: How many claims of this run were corrected together.
    """
    value = measured(row).value
    status, reason = row["status"], row.get("reason") or ""
    interval = row.get("interval")
    if value is None or interval is None:
        return _without_numbers(status, reason)
    sentences = [_found(row, value), _bounds(row, interval, alpha)]
    if status == "violated":
        sentences += _how_sure(row, alpha, judged)
        sentences += [_expectation(row)] if row.get("expected") == "violated" else []
    elif status == "holds" and row.get("expected") == "violated":
        sentences.append(
            "The test expects a violation (expect_violated), and now there is none, so it fails: "
            "remove the expectation."
        )
    elif status == "inconclusive":
        sentences.append("So neither a broken nor a kept promise is shown.")
    if reason:
        label = "What would settle it" if status == "inconclusive" else "Note"
        sentences.append(f"{label}: {reason}.")
    return sentences


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
    allows = f"; the promise allows {limit}" if limit else ""
    people = f"{users:,} {'user' if users == 1 else 'users'}"
    if measured(row).metric is not None:
        allows = f"; the test asks for {limit}" if limit else ""
    mean = "" if effect.percent else "mean "
    return f"Over {people}, the {mean}{effect.name} is {number(value, effect.percent)}{allows}."


def _bounds(row: Row, interval: Sequence[float], alpha: float | None) -> str:
    """The bounds in words: the one that decides the verdict, else both, each at its own risk."""
    percent = effect_of(row).percent
    low, high = (number(bound, percent) for bound in interval)
    what = "the share among" if percent else "the mean over"
    sure = (
        "At the declared error rate" if alpha is None else f"With {100 * (1 - alpha):g}% confidence"
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
    between = " The limit is between the two." if row["status"] == "inconclusive" else ""
    return f"{sure} each, {what} all users like these is above {low} and below {high}.{between}"


def _how_sure(row: Row, alpha: float | None, judged: int) -> list[str]:
    p_value, corrected = row.get("p_value"), row.get("p_holm")
    said = []
    if p_value is not None:
        said.append(
            f"Were the promise kept, numbers as bad as these would turn up with a probability of "
            f"{chance(p_value)}."
        )
    if corrected is not None and alpha is not None and judged > 1:
        stands = corrected <= alpha
        said.append(
            f"Corrected for all {judged} claims of this run (Holm), the probability is "
            f"{chance(corrected)}: "
            + (
                "the violation stands."
                if stands
                else "among so many claims, this one may be chance; ask more users."
            )
        )
    return said


def _expectation(row: Row) -> str:
    return "The test expects this violation (expect_violated), so it does not fail."


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


def counted(row: Row) -> str:
    """How many users were scored, and how many were not, by cause."""
    parts = [f"{row.get('users', 0):,} users scored"]
    missing = (row.get("not_applicable"), "not applicable"), (row.get("errors"), "failed")
    parts += [f"{users:,} {word}" for users, word in missing if users]
    looks = row.get("looks") or 1
    if looks > 1:
        parts.append(f"asked for in {looks} steps")
    return ", ".join(parts)

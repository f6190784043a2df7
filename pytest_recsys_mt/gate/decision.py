"""The result of a run as a whole: whether it passes, and if not, why, in one sentence."""

import datetime
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from pytest_recsys_mt.gate.baseline import PROMPTS, counterpart, differences, prompts_of, rows_of
from pytest_recsys_mt.gate.changed_lists import UNCLEAR, changed_lists, too_many
from pytest_recsys_mt.gate.comparison import bounds_of, compare
from pytest_recsys_mt.gate.document import Comparison, Decision, Document, Facts, Row
from pytest_recsys_mt.gate.nodeids import address, name_of_row
from pytest_recsys_mt.gate.policy import Policy, facts_of, today
from pytest_recsys_mt.gate.states import grouped, state_of, state_of_test, vacuous_of
from pytest_recsys_mt.safety.errors import PolicyError
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import unread

Kind = Literal[
    "nothing", "violated", "uncorrected", "error", "inconclusive", "failed", "fixed", "expired",
    "vacuous", "refused", "regressed", "suspicious", "unclear", "lists", "early", "drift", "partial",
]  # fmt: skip

KINDS: Mapping[Kind, str] = {
    "nothing": "nothing could be judged: {names}",
    "violated": "{count} violated ({names})",
    "uncorrected": "{count} violated, but not after Holm's correction ({names})",
    "error": "{count} in error ({names})",
    "inconclusive": "{count} inconclusive ({names})",
    "failed": "{count} failed for a reason other than a verdict ({names})",
    "fixed": "{count} known to be violated, now fixed ({names})",
    "expired": "{count} known beyond the last day ({names})",
    "vacuous": "{count} kept vacuously ({names})",
    "refused": "no comparison: {names}",
    "regressed": "{count} regressed ({names})",
    "suspicious": "{count} suspiciously better ({names})",
    "unclear": "{count} not shown to be as good as before ({names})",
    "lists": "other lists than the baseline ({names})",
    "early": "{names}",
    "drift": "{names}",
    "partial": "the run is partial: {names}",
}
"""The reasons why a gate can fail, in this order, and the text for all reasons of a kind.

A new kind of reason needs an entry here. `Gate.decide` receives it in ``found``.
"""

NAMED = 3
"""The sentence names this many reasons of a kind; the others are counted."""

LONGEST = 250
"""Most characters of a reason in the sentence; `reasons` holds it in full."""

EARLY = (
    "the baseline stopped after {users} users, when its verdicts were clear; for one that asks all users, run its "
    "command again with --recsys-keep=baseline --recsys-json={baseline}"
)
"""What ends an unclear comparison with a record of a run that stopped early."""


@dataclass(frozen=True)
class Reason:
    """Why a gate fails: its full text, and a shorter one for the sentence if there is one."""

    kind: Kind
    text: str
    name: str = ""


@dataclass(frozen=True)
class Gate:
    """The rules of one run.

    Attributes:
        asked: Whether a policy or a baseline was given: only then comparisons count.
        baseline: An earlier record and its path; None compares the models of the run.
    """

    policy: Policy = field(default_factory=Policy)
    asked: bool = False
    alpha: float = 0.05
    inconclusive: str = "fail"
    baseline: tuple[str, Document] | None = None
    day: Callable[[], datetime.date] = today

    def decide(
        self, document: Facts, violated: Sequence[str], found: Mapping[Kind, Sequence[str]]
    ) -> Decision:
        """The gate as plain data.

        Args:
            document: The record without the gate.
            violated: Tests whose violation remains after Holm's correction.
            found: Other reasons that fail the run, by their kind in `KINDS`: ``partial`` for a partial run.
        """
        rows = document["results"]
        gating = [row for row in rows if self.policy.rule(row).gates]
        several = len(document["models"]) > 1
        comparisons = self.comparisons(document)
        reasons = [
            *self._unjudged(rows, gating),
            *self._own_failures(gating, set(violated), several),
            *self._vacuous(gating, several),
            *(self._failures_of(comparisons, rows) if self.asked else ()),
            *self._other_lists(comparisons),
            *(Reason(kind, text) for kind, texts in found.items() for text in texts),
        ]
        told = [_failure(reasons) if reasons else self._success(rows)]
        for one in comparisons if self.asked else ():
            changes = ", ".join(f"{count} {word}" for word, count in sorted(one["counts"].items()))
            title = f"{one['model']} against {one['against']} of {one['baseline'] or 'this run'}"
            told += [f"{title}: {changes}"] * bool(changes)
        status = "failed" if reasons else "passed"
        return {
            "status": status,
            "sentence": one_line("; ".join([f"gate: {status}", *told])),
            "reasons": [reason.text for reason in reasons],
            "violated": list(violated),
            "inconclusive": [
                row["nodeid"] for row in rows if row["status"] == "inconclusive" != row["expected"]
            ],
            "incomplete": list(found.get("partial", ())),
            "ungated": [
                {"nodeid": row["nodeid"], "reason": self.policy.rule(row).reason}
                for row in rows
                if not self.policy.rule(row).gates
            ],
            "comparisons": comparisons,
        }

    def _unjudged(self, rows: Sequence[Row], gating: Sequence[Row]) -> list[Reason]:
        if not rows or any(row["status"] in ("holds", "violated") for row in gating):
            return []
        causes = Counter(self._why_unjudged(row) for row in rows)
        told = [f"{_cut(cause, 80)} ({count})" for cause, count in causes.most_common(NAMED)]
        if len(causes) > NAMED:
            told.append(f"{len(causes) - NAMED} more causes")
        name = "; ".join(told)
        return [Reason("nothing", f"nothing that gates was judged: {name}", name)]

    def _why_unjudged(self, row: Row) -> str:
        rule = self.policy.rule(row)
        if not rule.gates:
            return f"does not gate: {rule.reason}"
        known = row["status"] == "not-applicable" and row["reason"]
        return str(known or row["status"])

    def _own_failures(
        self, gating: Sequence[Row], standing: Collection[str], several: bool
    ) -> list[Reason]:
        found: dict[str, Reason] = {}
        failed = []
        for row in gating:
            known = self.policy.known_of(facts_of(row))
            if known is not None and known.expired(self.day()):
                text = f"the known violation of {known.choice} expired on {known.until}"
                found[str(known)] = Reason("expired", text, f"{known.choice}, until {known.until}")
            excused = known is not None and row["outcome"] == "xfailed" and row["status"] == "error"
            if row["outcome"] == "failed" or excused:
                failed.append(row)
        for label, rows in grouped(failed, lambda row: row["nodeid"]).items():
            state = state_of_test(rows)
            row = next(each for each in rows if state_of(each) == state)
            kind: Kind
            text = f"{row['status']}: {label}"
            if state == "fixed":
                kind, text = "fixed", f"fixed, so remove the expectation: {label}"
            elif state in ("holds", "not-applicable", "known"):
                kind, text = "failed", f"failed with the verdict as expected: {label}"
            elif state == "violated" and label not in standing:
                kind = "uncorrected"
            else:
                kind = cast("Kind", state)
            name = _name(row, several) + (f": {_cut(row['reason'], 80)}" if kind == "error" else "")
            found[label] = Reason(kind, text, name)
        return list(found.values())

    def _vacuous(self, gating: Sequence[Row], several: bool) -> Iterable[Reason]:
        """Promises kept only because the recommender does not read what they are about, if none may be."""
        for row in filter(self.policy.refuses, gating):
            name = (
                f"{_name(row, several)}: it {unread(row['vacuous'], row['details'].get('unread'))}"
            )
            yield Reason("vacuous", f"vacuous: {row['nodeid']}", name)

    def _other_lists(self, comparisons: Sequence[Comparison]) -> Iterable[Reason]:
        """Models of which more lists may differ from those of the baseline than the policy allows."""
        most = self.policy.changed_lists
        if most is None or self.baseline is None:
            return
        # Both sides of a claim count, for each model.
        alpha = self.alpha / max(1, len(comparisons))
        for comparison in comparisons:
            if comparison["refused"]:
                continue  # which fails the gate already
            found = too_many(comparison.get("lists"), most, alpha)
            if found and (self.inconclusive == "fail" or not found.startswith(UNCLEAR)):
                text = f"{comparison['model']}: {found}"
                yield Reason("lists", f"changed_lists: {text}", text)

    def _success(self, rows: Sequence[Row]) -> str:
        counts = Counter(
            state_of(row) if self.policy.rule(row).gates else "ungated" for row in rows
        )
        words = {
            "holds": "held", "known": "known to be violated", "violated": "violated, as a mark expects",
            "inconclusive": "inconclusive and skipped", "error": "in error, as a mark expects",
            "not-applicable": "not applicable", "ungated": "not gating",
        }  # fmt: skip
        if vacuous := sum(bool(vacuous_of(row)) for row in rows if self.policy.rule(row).gates):
            words["holds"] += f" ({vacuous} vacuously)"
        return "; ".join(f"{counts[key]} {word}" for key, word in words.items() if counts[key])

    def comparisons(self, document: Facts) -> list[Comparison]:
        """How each model changed since the baseline; without one, how the others differ from the first."""
        rows = grouped(document["results"], lambda row: row["model"])
        own = {model: set(map(address, rows.get(model, ()))) for model in document["models"]}
        first, *others = models = [model for model in own if own[model]] or [""]
        where, old = self.baseline or ("", document)
        if self.baseline is None:
            # A league is a model of its own, which shares no tests with its members.
            pairs = [(model, first) for model in others if own[model] & own[first]]
            reasons = []
        else:
            pairs = [(model, "") for model in models if model]
            reasons = differences(old, document)
        differ = bool(where) and prompts_of(old) != prompts_of(document)
        other = f" ({prompts_of(old) or f'without {PROMPTS[0]}'})" if differ else ""
        found: list[Comparison] = []
        for model, against in pairs:
            refused = [*reasons]
            try:
                against = against or counterpart(old, model)
            except PolicyError as error:
                refused.append(str(error))
            then, now = rows_of(old, against), rows_of(document, model)
            compared = [] if refused else compare(then, now, self.policy, self.alpha, len(pairs))
            found.append(
                {
                    "model": model,
                    "against": f"{against}{other}",
                    "baseline": where,
                    "refused": refused,
                    "counts": dict(Counter(each["change"] for each in compared)),
                    "bounds": bounds_of(compared, self.alpha, len(pairs)),
                    "results": compared,
                    "lists": changed_lists(old, document, against, model) if where else None,
                }
            )
        return found

    def _failures_of(
        self, comparisons: Sequence[Comparison], rows: Sequence[Row]
    ) -> Iterable[Reason]:
        several = len({row["model"] for row in rows if row["model"]}) > 1
        names = {(row["nodeid"], row["oracle"]): _name(row, several) for row in rows}
        # Some verdicts, such as one on several models, never have a value per user.
        wanting = {
            row["model"]
            for row in rows
            if row["per_user"] or row["status"] in ("error", "not-applicable")
        }
        failing: dict[str, Kind] = {"regressed": "regressed", "suspicious": "suspicious"}
        if self.inconclusive == "fail":
            failing["inconclusive"] = "unclear"
        for comparison in comparisons:
            for reason in comparison["refused"]:
                yield Reason("refused", f"the baseline cannot be used: {reason}", reason)
            model = comparison["model"]
            compared = set(comparison["counts"]) - {"ungated"}
            if model in wanting and not comparison["refused"] and not compared:
                yield Reason("refused", f"no verdict on {model} could be compared")
            # Changes that are unclear because the baseline stopped asking early.
            early = {
                each["users"]
                for each in comparison["results"]
                if each["change"] == "inconclusive" and each.get("early")
            }
            if early and comparison["baseline"] and "inconclusive" in failing:
                users = " to ".join(map(str, sorted({min(early), max(early)})))
                yield Reason("early", EARLY.format(users=users, baseline=comparison["baseline"]))
            for each in comparison["results"]:
                if (change := each["change"]) in failing:
                    name = names[each["nodeid"], each["oracle"]]
                    told = "unclear change" if change == "inconclusive" else change
                    yield Reason(failing[change], f"{told}: {each['nodeid']}", name)


def _failure(reasons: Sequence[Reason]) -> str:
    told = []
    for kind, clause in KINDS.items():
        names = Counter(
            _cut(each.name or each.text, LONGEST) for each in reasons if each.kind == kind
        )
        if names:
            told.append(clause.format(count=names.total(), names=_listed(names)))
    return "; ".join(told)


def _listed(names: Counter[str]) -> str:
    """The first names, and how many reasons have others: the numbers add up to that of all reasons."""
    listed = []
    for name, count in list(names.items())[:NAMED]:
        listed.append(name if count == 1 else f"{name}, {count} times")
    left = sum(list(names.values())[NAMED:])
    if left:
        listed.append(f"{left} more")
    return "; ".join(listed)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _name(row: Row, several: bool) -> str:
    return name_of_row(row) + (f" of {row['model']}" if several and row["model"] else "")

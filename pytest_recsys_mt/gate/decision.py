"""The result of a run as a whole: whether it passes, and if not, why,
in one sentence.
"""

import datetime
import fnmatch
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from pytest_recsys_mt.gate.changed_lists import (
    UNCLEAR,
    shows_others,
    too_many,
    unshown,
)
from pytest_recsys_mt.gate.document import Comparison, Decision, Document, Facts, Row
from pytest_recsys_mt.gate.model_comparisons import ModelComparer
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.policy import Policy, facts_of, today
from pytest_recsys_mt.gate.reasons import (
    LONGEST_CAUSE,
    NAMED,
    Kind,
    Reason,
    cut,
    in_clauses,
)
from pytest_recsys_mt.gate.states import grouped, state_of, state_of_test, vacuous_of
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import unread

WORDS = {
    "holds": "held",
    "known": "known to be violated",
    "violated": "violated, as a mark expects",
    "inconclusive": "inconclusive and skipped",
    "error": "in error, as a mark expects",
    "not-applicable": "not applicable",
    "ungated": "not gating",
}
"""How the sentence of a gate that passes calls the rows of a state, in its order."""

EARLY = (
    "the baseline stopped after {users} users, when its verdicts were clear; for one that asks all users, run its "
    "command again with --recsys-keep=baseline --recsys-json={baseline}"
)
"""The advice after an unclear comparison with a record of a run that stopped early."""


@dataclass(frozen=True)
class Gate:
    """The rules of one run.

    Attributes:
        policy: The policy; the default changes nothing.
        configured: Whether a policy or a baseline was given: only then comparisons
            count.
        alpha: The error rate of all comparisons together.
        inconclusive: The effect of an unclear result: ``fail`` the gate, or none.
        baseline: The path of an earlier record, and the record; None compares the
            models of the run.
        day: Returns the day on which known violations may have expired.
    """

    policy: Policy = field(default_factory=Policy)
    configured: bool = False
    alpha: float = 0.05
    inconclusive: str = "fail"
    baseline: tuple[str, Document] | None = None
    day: Callable[[], datetime.date] = today

    def decide(
        self,
        document: Facts,
        violated: Sequence[str],
        found: Mapping[Kind, Sequence[str]],
    ) -> Decision:
        """The gate as plain data.

        Args:
            document: The record without the gate.
            violated: Tests whose violation remains after Holm's correction.
            found: Other reasons that fail the run, by their kind in `KINDS`:
                ``partial`` for a partial run.
        """
        rows = document["results"]
        gating = [row for row in rows if self.policy.rule(row).gates]
        several = len(document["models"]) > 1
        comparisons = self.comparisons(document)
        reasons = [
            *self._unjudged(rows, gating),
            *self._own_failures(gating, set(violated), several),
            *self._vacuous(gating, several),
        ]
        if self.configured:
            reasons += self._failures_of(comparisons, rows)
        reasons += self._other_lists(comparisons)
        for kind, texts in found.items():
            reasons += [Reason(kind, text) for text in texts]
        status = "failed" if reasons else "passed"
        clauses = [
            f"gate: {status}",
            in_clauses(reasons) if reasons else self._success(rows),
        ]
        if self.configured:
            clauses += _changes(comparisons)
        clauses += self._unused_lists_rules(document["models"])
        inconclusive = []
        ungated = []
        for row in rows:
            if row["status"] == "inconclusive" and row["expected"] != "inconclusive":
                inconclusive.append(row["nodeid"])
            rule = self.policy.rule(row)
            if not rule.gates:
                ungated.append({"nodeid": row["nodeid"], "reason": rule.reason})
        return {
            "status": status,
            "sentence": one_line("; ".join(clauses)),
            "reasons": [reason.text for reason in reasons],
            "violated": list(violated),
            "inconclusive": inconclusive,
            "incomplete": list(found.get("partial", ())),
            "ungated": ungated,
            "comparisons": comparisons,
        }

    def _unjudged(self, rows: Sequence[Row], gating: Sequence[Row]) -> list[Reason]:
        """The reason that nothing which gates was judged, if so;
        a run without tests has none.
        """
        if not rows or any(row["status"] in ("holds", "violated") for row in gating):
            return []
        causes = Counter(self._why_unjudged(row) for row in rows)
        shown = [
            f"{cut(cause, LONGEST_CAUSE)} ({count})"
            for cause, count in causes.most_common(NAMED)
        ]
        if len(causes) > NAMED:
            shown.append(f"{len(causes) - NAMED} more causes")
        name = "; ".join(shown)
        return [Reason("nothing", f"nothing that gates was judged: {name}", name)]

    def _why_unjudged(self, row: Row) -> str:
        rule = self.policy.rule(row)
        if not rule.gates:
            return f"does not gate: {rule.reason}"
        if row["status"] == "not-applicable" and row["reason"]:
            return row["reason"]
        return row["status"]

    def _own_failures(
        self,
        gating: Sequence[Row],
        standing: Collection[str],
        several: bool,
    ) -> list[Reason]:
        """Known violations that expired, and tests that failed.

        Args:
            gating: The rows that gate.
            standing: Tests whose violation remains after Holm's correction.
            several: Whether the run has several models, so that they are named.
        """
        found: dict[str, Reason] = {}
        failed = []
        for row in gating:
            known = self.policy.known_of(facts_of(row))
            if known is not None and known.expired(self.day()):
                text = f"the known violation of {known.choice} expired on {known.until}"
                name = f"{known.choice}, until {known.until}"
                found[str(known)] = Reason("expired", text, name)
            # An error of a test that is known to be violated is not the known
            # violation.
            excused = (
                known is not None
                and row["outcome"] == "xfailed"
                and row["status"] == "error"
            )
            if row["outcome"] == "failed" or excused:
                failed.append(row)
        for nodeid, rows in grouped(failed, lambda row: row["nodeid"]).items():
            found[nodeid] = _own_failure(nodeid, rows, nodeid in standing, several)
        return list(found.values())

    def _vacuous(self, gating: Sequence[Row], several: bool) -> Iterable[Reason]:
        """Promises kept only because the recommender does not
        read the part that they are about, if none may be.
        """
        for row in gating:
            if self.policy.refuses(row):
                what_is_unread = unread(row["vacuous"], row["details"].get("unread"))
                name = f"{_name(row, several)}: it {what_is_unread}"
                yield Reason("vacuous", f"vacuous: {row['nodeid']}", name)

    def _other_lists(self, comparisons: Sequence[Comparison]) -> Iterable[Reason]:
        """Models of which more lists may differ from those of
        the baseline than the policy allows.
        """
        most, rules = self.policy.changed_lists, self.policy.lists
        if (most is None and not rules) or self.baseline is None:
            return
        # Both sides of a claim count, for each model.
        alpha = self.alpha / max(1, len(comparisons))
        for comparison in comparisons:
            if comparison["refused"]:
                continue  # which fails the gate already
            lists = comparison.get("lists")
            found = [] if most is None else [too_many(lists, most, alpha)]
            if rules:
                found += unshown(lists)
            for reason in filter(None, found):
                if self.inconclusive == "fail" or not reason.startswith(UNCLEAR):
                    text = f"{comparison['model']}: {reason}"
                    kind: Kind = "lists" if shows_others(reason) else "unshown lists"
                    yield Reason(kind, f"changed_lists: {text}", text)

    def _unused_lists_rules(self, models: Sequence[str]) -> list[str]:
        """The rules on lists that fit no model of the run, a text for each: a policy may
        be that of several recommenders, which are not all in each run.
        """
        if self.baseline is None:
            return []
        return [
            f"the rule of [[gate.lists]] for models {rule.model!r} fits none of this run ({', '.join(models)})"
            for rule in self.policy.lists
            if not any(fnmatch.fnmatchcase(model, rule.model) for model in models)
        ]

    def _success(self, rows: Sequence[Row]) -> str:
        """How many rows are in which state, for a gate that passes."""
        counts: Counter[str] = Counter()
        vacuous = 0
        for row in rows:
            if self.policy.rule(row).gates:
                counts[state_of(row)] += 1
                vacuous += bool(vacuous_of(row))
            else:
                counts["ungated"] += 1
        parts = []
        for state, words in WORDS.items():
            if counts[state]:
                note = f" ({vacuous} vacuously)" if state == "holds" and vacuous else ""
                parts.append(f"{counts[state]} {words}{note}")
        return "; ".join(parts)

    def comparisons(self, document: Facts) -> list[Comparison]:
        """How each model changed since the baseline; without one,
        how the others differ from the first.
        """
        comparer = ModelComparer(self.policy, self.alpha, self.baseline)
        return comparer.comparisons(document)

    def _failures_of(
        self,
        comparisons: Sequence[Comparison],
        rows: Sequence[Row],
    ) -> Iterable[Reason]:
        """Why comparisons fail the gate: they are refused, lack a
        verdict, or show a change that fails it.
        """
        several = len({row["model"] for row in rows if row["model"]}) > 1
        names = {(row["nodeid"], row["oracle"]): _name(row, several) for row in rows}
        # Some verdicts, such as one on several models, never have a value per user.
        wanting = {
            row["model"]
            for row in rows
            if row["per_user"] or row["status"] in ("error", "not-applicable")
        }
        failing: dict[str, Kind] = {
            "regressed": "regressed",
            "suspicious": "suspicious",
        }
        if self.inconclusive == "fail":
            failing["inconclusive"] = "unclear"
        for comparison in comparisons:
            for reason in comparison["refused"]:
                yield Reason(
                    "refused",
                    f"the baseline cannot be used: {reason}",
                    reason,
                )
            model = comparison["model"]
            compared = set(comparison["counts"]) - {"ungated"}
            if model in wanting and not comparison["refused"] and not compared:
                yield Reason("refused", f"no verdict on {model} could be compared")
            if comparison["baseline"] and "inconclusive" in failing:
                yield from _stopped_early(comparison)
            for change in comparison["results"]:
                word = change["change"]
                if word in failing:
                    name = names[change["nodeid"], change["oracle"]]
                    kind = "unclear change" if word == "inconclusive" else word
                    yield Reason(failing[word], f"{kind}: {change['nodeid']}", name)


def _own_failure(
    nodeid: str,
    rows: Sequence[Row],
    stands: bool,
    several: bool,
) -> Reason:
    """Why a test failed.

    Args:
        nodeid: The test.
        rows: Its rows.
        stands: Whether its violation remains after Holm's correction.
        several: Whether the run has several models, so that they are named.
    """
    state = state_of_test(rows)
    row = next(row for row in rows if state_of(row) == state)
    name = _name(row, several)
    if state == "fixed":
        return Reason("fixed", f"fixed, so remove the expectation: {nodeid}", name)
    if state in ("holds", "not-applicable", "known"):
        return Reason("failed", f"failed with the verdict as expected: {nodeid}", name)
    text = f"{row['status']}: {nodeid}"
    if state == "violated" and not stands:
        return Reason("uncorrected", text, name)
    if state == "error":
        name = f"{name}: {cut(row['reason'], LONGEST_CAUSE)}"
    return Reason(cast("Kind", state), text, name)


def _stopped_early(comparison: Comparison) -> Iterator[Reason]:
    """The reason that changes are unclear because the
    baseline stopped early, if any are.
    """
    users = set()
    for change in comparison["results"]:
        if change["change"] == "inconclusive" and change.get("early"):
            users.add(change["users"])
    if users:
        ends = sorted({min(users), max(users)})
        count = " to ".join(map(str, ends))
        yield Reason(
            "early", EARLY.format(users=count, baseline=comparison["baseline"])
        )


def _changes(comparisons: Sequence[Comparison]) -> list[str]:
    """How many promises changed how, a text for each comparison with any."""
    texts = []
    for comparison in comparisons:
        counts = sorted(comparison["counts"].items())
        if counts:
            where = comparison["baseline"] or "this run"
            title = f"{comparison['model']} against {comparison['against']} of {where}"
            listed = ", ".join(f"{count} {change}" for change, count in counts)
            texts.append(f"{title}: {listed}")
    return texts


def _name(row: Row, several: bool) -> str:
    """The name of a row's promise, and of its model if there are `several`."""
    name = name_of_row(row)
    if several and row["model"]:
        return f"{name} of {row['model']}"
    return name

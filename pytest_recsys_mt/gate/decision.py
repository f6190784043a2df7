"""What a run as a whole says: whether it passes, and why it does not."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pytest_recsys_mt.errors import PolicyError
from pytest_recsys_mt.gate.baseline import Document, counterpart, differences, rows_of
from pytest_recsys_mt.gate.comparison import Finding, compare
from pytest_recsys_mt.gate.policy import Policy, facts_of, today

FAILING = ("regressed", "suspicious")


@dataclass(frozen=True)
class Gate:
    """The rules of one run.

    Attributes:
        policy: What a release has to keep; the defaults where no file says otherwise.
        asked: Whether a policy or a baseline was given: then comparisons count.
        alpha: Error rate of each claim.
        inconclusive: Whether a comparison that is not clear fails the run or is passed over.
        baseline: An earlier record, and where it is; None compares the models of the run.
        day: On which known violations may have expired.
    """

    policy: Policy = field(default_factory=Policy)
    asked: bool = False
    alpha: float = 0.05
    inconclusive: str = "fail"
    baseline: tuple[str, Document] | None = None
    day: Callable[[], datetime.date] = today

    def decide(
        self, document: Document, violated: Sequence[str], incomplete: Sequence[str]
    ) -> dict[str, Any]:
        """The gate as plain data.

        Args:
            document: The record, but for the gate.
            violated: Tests whose violation stands after Holm's correction.
            incomplete: Why the run is a partial one, if it is.

        Returns:
            ``status`` (``passed`` only if something was judged, nothing that gates failed, and
            nothing is missing), ``reasons`` (why not), ``violated``, ``inconclusive``,
            ``incomplete``, ``ungated`` and ``comparisons``.
        """
        rows = document["results"]
        gating = [row for row in rows if self.policy.rule(row).gates]
        reasons = [f"the run is partial: {reason}" for reason in incomplete]
        if not any(row["status"] in ("holds", "violated") for row in gating):
            reasons.append("nothing that gates was judged")
        reasons += [drift["reason"] for drift in document["drift"] if drift["drifted"]]
        reasons += self._own_failures(gating)
        comparisons = self._comparisons(document)
        if self.asked:
            for each in comparisons:
                reasons += self._failures_of(each)
        return {
            "status": "failed" if reasons else "passed",
            "reasons": reasons,
            "violated": list(violated),
            "inconclusive": [
                row["nodeid"] for row in rows if row["status"] == "inconclusive" != row["expected"]
            ],
            "incomplete": list(incomplete),
            "ungated": [
                {"nodeid": row["nodeid"], "reason": self.policy.rule(row).reason}
                for row in rows
                if not self.policy.rule(row).gates
            ],
            "comparisons": comparisons,
        }

    def _own_failures(self, gating: Sequence[Mapping[str, Any]]) -> list[str]:
        """Tests that failed, and known violations that are mended or expired, each once."""
        told: dict[str, str] = {}
        for row in gating:
            known = self.policy.known_of(facts_of(row))
            if known is not None and known.expired(self.day()):
                told[str(known)] = f"the known violation of {known.choice} expired on {known.until}"
            if row["outcome"] == "failed":
                name = row["nodeid"]
                if row["expected"] == "violated" and row["status"] == "holds":
                    told[name] = f"mended, no longer to be expected: {name}"
                else:
                    told.setdefault(name, f"{row['status']}: {name}")
            elif known is not None and row["outcome"] == "xfailed" and row["status"] == "error":
                told[row["nodeid"]] = f"error: {row['nodeid']}"
        return list(told.values())

    def _comparisons(self, document: Document) -> list[dict[str, Any]]:
        models = [
            model
            for model in document["models"]
            if any(row["model"] == model for row in document["results"])
        ]
        if self.baseline is not None:
            where, old = self.baseline
            reasons = differences(old, document)
            return [self._compared(document, old, model, where, reasons) for model in models]
        first, *others = models or [""]
        return [self._compared(document, document, model, "", [], first) for model in others]

    def _compared(
        self,
        new: Document,
        old: Document,
        model: str,
        where: str,
        reasons: Sequence[str],
        against: str = "",
    ) -> dict[str, Any]:
        reasons = list(reasons)
        findings: list[Finding] = []
        try:
            against = against or counterpart(old, model)
        except PolicyError as error:
            reasons.append(str(error))
        if not reasons:
            findings = compare(rows_of(old, against), rows_of(new, model), self.policy, self.alpha)
        return {
            "model": model,
            "against": against,
            "baseline": where,
            "refused": reasons,
            "counts": dict(Counter(found.change for found in findings)),
            "results": [_plain(found) for found in findings],
        }

    def _failures_of(self, comparison: Mapping[str, Any]) -> list[str]:
        if comparison["refused"]:
            return [f"the baseline cannot be used: {reason}" for reason in comparison["refused"]]
        failing = (*FAILING, *(["inconclusive"] if self.inconclusive == "fail" else []))
        found = [
            f"{each['change']}: {each['nodeid']}"
            for each in comparison["results"]
            if each["change"] in failing
        ]
        compared = set(comparison["counts"]) - {"ungated"}
        return found if compared else ["nothing could be compared with the baseline"]


def _plain(found: Finding) -> dict[str, Any]:
    plain = asdict(found)
    plain["interval"] = None if found.interval is None else list(found.interval)
    del plain["not_worse"]
    return plain

"""How the models of a run compare: each with an earlier record, or with the first."""

import fnmatch
from collections import Counter
from dataclasses import dataclass

from pytest_recsys_mt.gate.baseline import (
    PROMPTS,
    counterpart,
    differences,
    prompts_of,
    rows_of,
)
from pytest_recsys_mt.gate.changed_lists import changed_lists
from pytest_recsys_mt.gate.comparison import bounds_of, compare
from pytest_recsys_mt.gate.document import ChangedLists, Comparison, Document, Facts
from pytest_recsys_mt.gate.nodeids import address
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.gate.states import OF_CALLS, grouped
from pytest_recsys_mt.safety.errors import PolicyError


@dataclass(frozen=True)
class ModelComparer:
    """Compares the models of a run, with the rules of its gate.

    Attributes:
        policy: The policy, which says which verdicts are compared and by which margins.
        alpha: The error rate of all comparisons together.
        baseline: The path of an earlier record, and the record; None compares the
            models of the run.
    """

    policy: Policy
    alpha: float
    baseline: tuple[str, Document] | None

    def comparisons(self, document: Facts) -> list[Comparison]:
        """How each model changed since the baseline; without one,
        how the others differ from the first.
        """
        tests = _tests_by_model(document)
        if self.baseline is None:
            first, *others = tests or [""]
            # A league is a model of its own, which shares no tests with its members.
            comparable = [model for model in others if tests[model] & tests[first]]
            number = len(comparable)
            return [
                self._comparison(document, model, first, [], number)
                for model in comparable
            ]
        _, old = self.baseline
        reasons = differences(old, document)
        models = [model for model in tests if model]
        found = []
        for model in models:
            against = ""
            refused = list(reasons)
            try:
                against = counterpart(old, model)
            except PolicyError as error:
                refused.append(str(error))
            found.append(
                self._comparison(document, model, against, refused, len(models)),
            )
        return found

    def _comparison(
        self,
        document: Facts,
        model: str,
        against: str,
        refused: list[str],
        number: int,
    ) -> Comparison:
        """One of so many comparisons.

        Args:
            document: The record of the run.
            model: The model of the run.
            against: The model that it is compared with, of the baseline or of the run;
                empty if there is none.
            refused: Why they cannot be compared.
            number: How many comparisons share the error rate.
        """
        where, old = self.baseline or ("", document)
        changes = []
        if not refused:
            then = rows_of(old, against)
            now = rows_of(document, model)
            changes = compare(then, now, self.policy, self.alpha, number)
        other_prompts = ""
        if where and prompts_of(old) != prompts_of(document):
            other_prompts = f" ({prompts_of(old) or f'without {PROMPTS[0]}'})"
        return {
            "model": model,
            "against": f"{against}{other_prompts}",
            "baseline": where,
            "refused": refused,
            "counts": dict(
                Counter(
                    change["change"]
                    for change in changes
                    if change.get("unit") != OF_CALLS
                )
            ),
            "bounds": bounds_of(changes, self.alpha, number),
            "results": changes,
            "lists": self._lists(old, document, against, model, number)
            if where
            else None,
        }

    def _lists(
        self,
        old: Facts,
        new: Facts,
        against: str,
        model: str,
        number: int,
    ) -> ChangedLists | None:
        """How the lists changed, with what the policy demands of them; see
        `_comparison`.
        """
        lists = changed_lists(old, new, against, model)
        rules = [
            rule for rule in self.policy.lists if fnmatch.fnmatchcase(model, rule.model)
        ]
        if lists is None or not rules or lists["varies"]:
            return lists
        from pytest_recsys_mt.gate.list_claims import claims_of

        claims = claims_of(old, new, against, model, rules, self.alpha / number)
        return {**lists, "claims": claims}


def _tests_by_model(document: Facts) -> dict[str, set[str]]:
    """The addresses of the tests of each model that has any."""
    rows = grouped(document["results"], lambda row: row["model"])
    return {
        model: {address(row) for row in rows[model]}
        for model in document["models"]
        if rows.get(model)
    }

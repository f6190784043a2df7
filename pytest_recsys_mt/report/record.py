"""The record: the results of a run as one JSON document."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pytest_recsys_mt.calls.bill import Cause, Caused, Counted
from pytest_recsys_mt.calls.readings import Reading
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.gate.baseline import digest_of, nearest
from pytest_recsys_mt.gate.call_counts import Calls
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import (
    Decision,
    Document,
    Drift,
    Facts,
    Planted,
    Row,
)
from pytest_recsys_mt.gate.nodeids import addresses
from pytest_recsys_mt.gate.policy import Policy, facts_of, today
from pytest_recsys_mt.gate.states import grouped, models_of
from pytest_recsys_mt.oracles.statistics.corrections import benjamini_hochberg, holm
from pytest_recsys_mt.report.answers import taken_from, write_answers
from pytest_recsys_mt.report.facts import (
    dependences,
    dimensions,
    environment,
    settings_of,
    summed,
    time_since,
)
from pytest_recsys_mt.report.latency import Latency, latencies
from pytest_recsys_mt.report.rows import lines_of
from pytest_recsys_mt.report.spending import spent
from pytest_recsys_mt.safety.files import written_to
from pytest_recsys_mt.verdict.verdict import NOT_ASKED

SCHEMA = "recsys-mt/2"


class Record:
    """Collects rows and calls from the test reports of all workers.

    Attributes:
        answers: One row for each answer to a multiple-choice question, once the
            document is made.
        planted: How far a planted fault changed the answers of each process.
        lists: The first titles of the usual answers, by model and by user.
        groups: The group of each user, by slicing and by user.
        logged: Where trackers of experiments have the run.
        varying: The models of which two answers to an unchanged request differed.
    """

    def __init__(
        self,
        settings: Settings,
        version: str,
        started: float,
        *,
        baselines: Sequence[tuple[str, Document]] = (),
        incomplete: Sequence[str] = (),
        drifts: Sequence[Drift] = (),
        left_out: int = 0,
    ) -> None:
        self.settings = settings
        self._left_out = left_out
        self._baselines = baselines
        self.incomplete = tuple(incomplete)
        self.unwritten: list[str] = []
        self.written: list[str] = []
        self.logged: list[str] = []
        self.notes: set[str] = set()
        self.planted: list[Planted] = []
        self.lists: dict[str, dict[str, list[str]]] = {}
        self.groups: dict[str, dict[str, str]] = {}
        self.varying: set[str] = set()
        self._drifts = list(drifts)
        self._requests: set[str] = set()
        self._version = version
        self._time = time_since(started)
        self.data_digest = ""
        self._rows: list[Row] = []
        self._calls: dict[str, list[Counted]] = {}
        self._causes: dict[str, Cause] = {}
        self._planned: set[str] = set()
        self._readings: dict[str, dict[str, Reading]] = {}
        self.ahead = 0.0
        self.answers: list[dict[str, Any]] = []
        self._document: Document | None = None

    def judge(self, rows: Iterable[Row]) -> None:
        """Add the verdicts of a test."""
        self._rows.extend(rows)

    def add(
        self,
        calls: Mapping[str, list[Counted]],
        causes: Iterable[Caused],
        *,
        planned: Iterable[str] = (),
        data_digest: str = "",
        requests: str = "",
        ahead: float = 0.0,
        readings: Mapping[str, Mapping[str, Reading]] | None = None,
    ) -> None:
        """Add the contents of one test report other than verdicts."""
        for model, read in (readings or {}).items():
            self._readings.setdefault(model, {}).update(read)
        self.ahead += ahead
        self._requests.update(filter(None, [requests]))
        self.data_digest = self.data_digest or data_digest
        self._planned.update(planned)
        for key, facts in calls.items():
            self._calls.setdefault(key, []).extend(facts)
        for cause, keys in causes:
            for key in keys:
                known = self._causes.setdefault(key, Cause(*cause))
                self._causes[key] = min(known, Cause(*cause))

    @property
    def rows(self) -> list[Row]:
        """All rows in the order of their tests' ids, with p-values adjusted over the
        run.

        `p_holm` is adjusted by Holm, `p_bh` by Benjamini and Hochberg.
        """
        rows = sorted(self._rows, key=lambda row: row["nodeid"])
        judged = [(row, p) for row in rows if (p := row["p_value"]) is not None]
        p_values = [p for _, p in judged]
        both = zip(holm(p_values), benjamini_hochberg(p_values), strict=True)
        for (row, _), adjusted in zip(judged, both, strict=True):
            row["p_holm"], row["p_bh"] = adjusted
        self._expect_known(rows)
        return rows

    def _expect_known(self, rows: list[Row]) -> None:
        policy = self.settings.policy
        if policy is None:
            return
        for test in grouped(rows, lambda row: row["nodeid"]).values():
            known = policy.known_of(facts_of(test[0]))
            if known is None or known.expired(today()):
                continue
            shown = [row for row in test if row["status"] == "violated"]
            fixed = all(
                row["outcome"] == "failed"
                and row["status"] in ("holds", "not-applicable")
                for row in test
            )
            for row in shown or test * fixed:
                row["expected"] = "violated"

    @property
    def calls(self) -> Calls:
        """The calls of all tests."""
        return spent(self._calls, self._causes, self._planned)

    @property
    def latencies(self) -> list[Latency]:
        """How long the calls of all tests took."""
        return latencies(self._calls, self._causes)

    def document(self) -> Document:
        """The record as plain data."""
        if self._document is None:
            self._document = self._make()
        return self._document

    def _make(self) -> Document:
        rows = self.rows
        self.answers = taken_from(rows)
        models = models_of(rows, self.settings.models)
        document: Facts = {
            "schema": SCHEMA,
            "version": self._version,
            "models": models or list(self.settings.models),
            "data": self.settings.data_named,
            "data_digest": self.data_digest or None,
            "seed": self.settings.seed,
            "settings": settings_of(self.settings),
            "environment": environment(),
            "time": {**self._time, "latency": self.latencies},
            "calls": self.calls,
            "readings": {
                model: summed(self._readings[model].values())
                for model in sorted(self._readings)
            },
            "drift": self._drifts,
            "notes": sorted(self.notes) + dependences(rows),
            "left_out": {"effort": self.settings.effort, "tests": self._left_out},
            "results": rows,
            "lists": {
                model: dict(sorted(of.items()))
                for model, of in sorted(self.lists.items())
            },
            "groups": {
                slicing: dict(sorted(of.items()))
                for slicing, of in sorted(self.groups.items())
            },
            "varying": sorted(self.varying),
            "dimensions": dimensions(rows),
            "digests": {
                "users": digest_of(sorted(self._requests)),
                "suite": digest_of(addresses(rows)),
            },
        }
        if self.planted:
            from pytest_recsys_mt.report.planted import merged

            document["planted"] = merged(self.planted)
        return {**document, "gate": self._gate(document)}

    def _gate(self, document: Facts) -> Decision:
        settings = self.settings
        policy = settings.policy or Policy()
        alpha = policy.alpha or settings.alpha
        baseline = nearest(self._baselines, document) if self._baselines else None
        rows = document["results"]
        unasked = sum(row["reason"].startswith(NOT_ASKED) for row in rows)
        incomplete = [*self.incomplete]
        if unasked:
            incomplete.append(f"{unasked} verdicts lack users that were not asked")
        if not rows and not incomplete:
            incomplete.append("no test made a verdict on a recommender")
        violated = [row["nodeid"] for row in standing(rows, "p_holm", settings.alpha)]
        drifted = [drift["reason"] for drift in self._drifts if drift["drifted"]]
        configured = settings.policy is not None or settings.baseline is not None
        gate = Gate(policy, configured, alpha, settings.inconclusive, baseline)
        return gate.decide(
            document,
            violated,
            {"drift": drifted, "partial": incomplete},
        )

    def write(self, path: Path) -> None:
        """Write the record to `path`, and the answers to questions next to it,
        each completely or not at all.
        """
        document = self.document()
        with written_to(path, 0o644) as stream:
            stream.writelines(lines_of(document))
        write_answers(path, document, self.answers)


def standing(
    rows: Iterable[Row],
    corrected: Literal["p_holm", "p_bh"],
    alpha: float,
) -> list[Row]:
    """The rows whose violation is not expected, and
    remains after a correction over the run.
    """
    return [
        row
        for row in rows
        if row["status"] == "violated" != row["expected"]
        and ((p := row[corrected]) is None or p <= alpha)
    ]

"""The record: what a run found, as one JSON document."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.execution import RANK
from pytest_recsys_mt.llm.sanitize import sanitize
from pytest_recsys_mt.report.provenance import environment, settings_of, time_since
from pytest_recsys_mt.report.shrunk import plain
from pytest_recsys_mt.settings import Settings
from pytest_recsys_mt.verdict import Verdict, benjamini_hochberg, holm

if TYPE_CHECKING:
    from pytest_recsys_mt.counterexample import Counterexample

SCHEMA = "recsys-mt/1"

Row = dict[str, Any]


def row_of(
    verdict: Verdict,
    *,
    nodeid: str,
    suite: str,
    model: str,
    expected: str,
    promise: str = "",
    shrunk: Counterexample | None = None,
) -> Row:
    """One verdict as plain data; the outcome of its test is added when it is known."""
    row: Row = {
        "nodeid": nodeid,
        "suite": suite,
        "relation": verdict.relation,
        "promise": promise,
        "model": model,
        "oracle": verdict.oracle,
        "status": verdict.status,
        "outcome": "",
        "expected": expected,
        "estimate": verdict.estimate,
        "interval": None if verdict.interval is None else list(verdict.interval),
        "floor": verdict.floor,
        "agreement": verdict.agreement,
        "margin": verdict.margin,
        "allowed": verdict.allowed,
        "p_value": verdict.p_value,
        "p_holm": None,
        "p_bh": None,
        "users": verdict.users,
        "not_applicable": verdict.not_applicable,
        "errors": verdict.errors,
        "looks": verdict.looks,
        "reason": verdict.reason,
        "examples": [
            {
                "user": example.user,
                "source": list(example.source),
                "followup": list(example.followup),
                "score": example.score,
                "source_kinds": list(example.source_kinds),
                "followup_kinds": list(example.followup_kinds),
                "keeps": example.keeps,
            }
            for example in verdict.examples
        ],
        "details": dict(verdict.details),
        "shrunk": None if shrunk is None else plain(shrunk),
    }
    if verdict.metric is not None:
        row.update(metric=verdict.metric, value=verdict.value, threshold=verdict.threshold)
    return {key: _clean(value) for key, value in row.items()}


def _clean(value: Any) -> Any:
    """`value` with its texts fit for terminals, XML and xdist: reasons hold exceptions of anybody's
    code, examples hold titles of anybody's data.
    """
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {key: _clean(each) for key, each in value.items()}
    return value


class Record:
    """Gathers rows and calls from the test reports, whichever worker they come from."""

    def __init__(self, settings: Settings, version: str, started: float) -> None:
        self.settings = settings
        self._version = version
        self._time = time_since(started)
        self._data_digest = ""
        self._rows: list[Row] = []
        self._calls: dict[str, list[Any]] = {}
        self._planned: set[str] = set()

    def add(
        self,
        rows: Iterable[Row],
        calls: Mapping[str, list[Any]],
        planned: Iterable[str] = (),
        data_digest: str = "",
    ) -> None:
        """Take in what one test report carries.

        Args:
            rows: Its verdicts.
            calls: What became of calls (`execution.CallFact`), by key.
            planned: Keys of calls that were not asked, because a verdict was clear before.
            data_digest: Of the data it used, if any.
        """
        self._rows.extend(rows)
        self._data_digest = self._data_digest or data_digest
        self._planned.update(planned, calls)
        for key, fact in calls.items():
            known = self._calls.get(key)
            if known is None or RANK[fact[0]] > RANK[known[0]]:
                self._calls[key] = fact

    @property
    def rows(self) -> list[Row]:
        """All rows in the order of their tests' ids, with p-values adjusted over the run's relations:
        `p_holm` by Holm, `p_bh` by Benjamini and Hochberg.
        """
        rows = sorted(self._rows, key=lambda row: row["nodeid"])
        judged = [row for row in rows if row["p_value"] is not None]
        p_values = [row["p_value"] for row in judged]
        for key, adjust in (("p_holm", holm), ("p_bh", benjamini_hochberg)):
            for row, adjusted in zip(judged, adjust(p_values), strict=True):
                row[key] = adjusted
        return rows

    @property
    def calls(self) -> dict[str, Any]:
        """Distinct calls by what became of them, and what those made now took."""
        states = [fact[0] for fact in self._calls.values()]
        made = [fact for fact in self._calls.values() if fact[0] == "made"]
        return {
            "planned": len(self._planned),
            "cached": states.count("cached"),
            "made": states.count("made"),
            "failed": states.count("failed"),
            "prompt_tokens": sum(fact[1] for fact in made),
            "completion_tokens": sum(fact[2] for fact in made),
            "usd": _total([fact[3] for fact in made]),
            "cut_off": sum(fact[4] for fact in self._calls.values()),
        }

    def document(self) -> dict[str, Any]:
        """The record as plain data."""
        rows = self.rows
        models = sorted({row["model"] for row in rows if row["model"]})
        return {
            "schema": SCHEMA,
            "version": self._version,
            "models": models or list(self.settings.models),
            "data": self.settings.data,
            "data_digest": self._data_digest or None,
            "seed": self.settings.seed,
            "settings": settings_of(self.settings),
            "environment": environment(),
            "time": self._time,
            "calls": self.calls,
            "results": rows,
            "gate": gate(rows, self.settings.alpha),
        }

    def write(self, path: Path) -> None:
        """Write the record to `path`, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.document(), indent=1, allow_nan=False) + "\n"
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)


def _total(costs: list[float | None]) -> float | None:
    """The cost of all calls; None where that of any is not known."""
    known = [usd for usd in costs if usd is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def gate(rows: list[Row], alpha: float) -> dict[str, Any]:
    """What the run as a whole says: passed only if something was judged and nothing failed.

    ``violated`` lists the tests whose violation stands after Holm's correction over the run.
    """
    unexpected = [row for row in rows if row["status"] != row["expected"]]
    failed = any(row["outcome"] == "failed" for row in rows)
    judged = any(row["status"] in ("holds", "violated") for row in rows)
    return {
        "status": "passed" if judged and not failed else "failed",
        "violated": [
            row["nodeid"]
            for row in unexpected
            if row["status"] == "violated" and (row["p_holm"] is None or row["p_holm"] <= alpha)
        ],
        "inconclusive": [row["nodeid"] for row in unexpected if row["status"] == "inconclusive"],
    }

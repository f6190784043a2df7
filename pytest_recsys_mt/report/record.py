"""The record: the results of a run as one JSON document."""

from __future__ import annotations

import dataclasses
import datetime
import json
import platform
import re
import time
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_recsys_mt.calls.bill import Counted
from pytest_recsys_mt.calls.causes import Cause, Caused
from pytest_recsys_mt.calls.readings import Reading
from pytest_recsys_mt.engine.settings import RECORDED, Settings
from pytest_recsys_mt.gate.baseline import digest_of, nearest
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import (
    Calls,
    Decision,
    Document,
    Drift,
    Facts,
    Planted,
    Readable,
    Row,
    grouped,
    models_of,
)
from pytest_recsys_mt.gate.nodeids import addresses
from pytest_recsys_mt.gate.policy import Policy, facts_of, today
from pytest_recsys_mt.oracles.statistics.corrections import benjamini_hochberg, holm
from pytest_recsys_mt.report.answers import taken_from, write_answers
from pytest_recsys_mt.report.asked import asked_of, shrunk_of
from pytest_recsys_mt.report.spending import spent
from pytest_recsys_mt.requests import EntryKind
from pytest_recsys_mt.safety.files import written_to
from pytest_recsys_mt.safety.sanitize import plain
from pytest_recsys_mt.verdict import NOT_ASKED, Status, Verdict

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample

SCHEMA = "recsys-mt/2"

NOT_FINITE = "not_finite"
"""Where the details of a row say which of its numbers were none."""
_NAMED = 5  # how many numbers that are none a reason names
PACKAGES = ("pytest", "numpy", "scipy", "pandas", "openai", "torch", "transformers")
"""Packages whose versions may affect answers or numbers."""

PAST = "whole"
"""What counts as the past of a user: all interactions in the training data, shown in a request or
not. An answer to an open question should name none of them, and an answer's popularity is compared
with theirs. In older records it was the history shown; values of both kinds cannot be compared."""

WITH_REQUESTS = 3
"""How many examples of a verdict have their requests in the record: the worst."""


def row_of(
    verdict: Verdict,
    *,
    nodeid: str,
    suite: str,
    model: str,
    expected: Status,
    fingerprint: str | None = None,
    promise: str = "",
    shrunk: Counterexample | None = None,
) -> Row:
    """One verdict as plain data; the outcome and the attempts of its test are added when known."""
    known: dict[str, object] = {
        **{field.name: getattr(verdict, field.name) for field in dataclasses.fields(verdict)},
        "examples": list(_examples(verdict)),
        "details": dict(verdict.details),
        "per_user": dict(verdict.per_user),
        "slices": [dataclasses.asdict(each) for each in verdict.slices],
        "nodeid": nodeid,
        "suite": suite,
        "promise": promise,
        "model": model,
        "fingerprint": fingerprint,
        "outcome": "",
        "attempts": 1,
        "expected": expected,
        "p_holm": None,
        "p_bh": None,
        "shrunk": None if shrunk is None else shrunk_of(shrunk),
        "reproduce": "",
        "traceback": "",
    }
    of_benchmarks = () if verdict.metric is not None else ("metric", "value", "threshold")
    row = {key: known[key] for key in Row.__annotations__ if key not in of_benchmarks}
    lost: list[str] = []
    clean: Row = plain(row, lost)
    clean["nodeid"] = nodeid  # pytest's own text: whatever splits it wants it as it is
    if lost:
        # A part of what belongs together would say something else than the whole.
        for pair in ("interval", "reach"):
            if None in (clean[pair] or ()):
                clean[pair] = None
        clean["per_user"] = {
            user: value for user, value in clean["per_user"].items() if value is not None
        }
        clean["details"][NOT_FINITE] = lost
        told = f"not a finite number, so left out: {', '.join(lost[:_NAMED])}"
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        clean["reason"] = "; ".join(filter(None, (clean["reason"], told + more)))
    return clean


def _examples(verdict: Verdict) -> Iterator[dict[str, object]]:
    """The examples; the worst of a verdict that somebody will look into with their requests."""
    told = verdict.status in ("violated", "inconclusive", "error")
    for place, example in enumerate(verdict.examples):
        known: dict[str, object] = {
            field.name: getattr(example, field.name)
            for field in dataclasses.fields(example)
            if not field.name.endswith("_asked")
        }
        if told and place < WITH_REQUESTS:
            known["asked"] = asked_of(example)
        yield known


class Record:
    """Collects rows and calls from the test reports of all workers.

    Attributes:
        answers: One row for each answer to a multiple-choice question, once the document is made.
        planted: How far a planted fault changed the answers of each process.
        lists: The first titles of the usual answers, by model and by user.
    """

    def __init__(
        self,
        settings: Settings,
        version: str,
        started: float,
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
        self.notes: set[str] = set()
        self.planted: list[Planted] = []
        self.lists: dict[str, dict[str, list[str]]] = {}
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
        """All rows in the order of their tests' ids, with p-values adjusted over the run.

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
        """Expect the violations that the policy knows, if a test shows any, or fails because none is left."""
        policy = self.settings.policy
        if policy is None:
            return
        for test in grouped(rows, lambda row: row["nodeid"]).values():
            known = policy.known_of(facts_of(test[0]))
            if known is None or known.expired(today()):
                continue
            shown = [row for row in test if row["status"] == "violated"]
            fixed = all(
                row["outcome"] == "failed" and row["status"] in ("holds", "not-applicable")
                for row in test
            )
            for row in shown or test * fixed:
                row["expected"] = "violated"

    @property
    def calls(self) -> Calls:
        """The calls of all tests."""
        return spent(self._calls, self._causes, self._planned)

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
            "time": self._time,
            "calls": self.calls,
            "readings": {
                model: _summed(self._readings[model].values()) for model in sorted(self._readings)
            },
            "drift": self._drifts,
            "notes": sorted(self.notes),
            "left_out": {"effort": self.settings.effort, "tests": self._left_out},
            "results": rows,
            "lists": {model: dict(sorted(of.items())) for model, of in sorted(self.lists.items())},
            "dimensions": dimensions(rows),
            "digests": {
                "users": digest_of(sorted(self._requests)),
                "suite": digest_of(addresses(rows)),
            },
        }
        if self.planted:
            from pytest_recsys_mt.engine.faulty import merged

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
        asked = settings.policy is not None or settings.baseline is not None
        gate = Gate(policy, asked, alpha, settings.inconclusive, baseline)
        return gate.decide(document, violated, {"drift": drifted, "partial": incomplete})

    def write(self, path: Path) -> None:
        """Write the record to `path`, and the answers to questions beside it, each completely or not at all."""
        document = self.document()
        with written_to(path, 0o644) as stream:
            stream.writelines(lines_of(document))
        write_answers(path, document, self.answers)


def settings_of(settings: Settings) -> dict[str, object]:
    """The settings that answers or verdicts depend on: no paths, no secrets."""
    return {
        **dataclasses.asdict(settings.design),
        **{name: _plain(getattr(settings, name)) for name in RECORDED},
        "prompt": settings.prompt or settings.design.prompt,
        "past": PAST,
    }


def _plain(value: object) -> object:
    """What a setting says is recorded of it, such as the digest of a file; else itself, as JSON gives it back."""
    plain = getattr(value, "recorded", value)
    return list(plain) if isinstance(plain, tuple) else plain


@cache
def environment() -> dict[str, str]:
    """The interpreter, the machine, and the installed versions of `PACKAGES`."""
    found = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def time_since(started: float) -> dict[str, object]:
    """When a run began, in UTC, and how long it took: the only part of a record that differs in a second run."""
    begun = datetime.datetime.fromtimestamp(int(started), datetime.UTC)
    return {"started": begun.isoformat(), "seconds": round(max(0.0, time.time() - started), 1)}


UNREAD_SHOWN = 3
"""How many different answers are shown of which nothing could be read."""


def _summed(readings: Collection[Reading]) -> Readable:
    kinds = sum((Counter(read["entries"]) for read in readings), Counter[str]())
    unread = [read for read in readings if "text" in read]
    shown = sorted({(read["text"], read["how"]) for read in unread})[:UNREAD_SHOWN]
    return {
        "answers": len(readings),
        "unreadable": sum(read["entries"].keys() <= {"unparsed"} for read in readings),
        "ambiguous": sum(read.get("ambiguous", False) for read in readings),
        "unread": [{"text": text, "how": how} for text, how in shown],
        "entries": {kind: kinds[kind] for kind in get_args(EntryKind)},
    }


def dimensions(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """The dimensions of each recommender: the figures of a radar chart.

    Returns:
        By recommender and dimension the rows' ``details["dimension"]`` without its name: ``value``
        in [0, 1], where 1 is best, its bounds ``low`` and ``high``, and the ``nodeid`` of its test.
    """
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        dimension = row["details"].get("dimension")
        if isinstance(dimension, dict) and "name" in dimension:
            figures = {**dimension, "nodeid": row["nodeid"]}
            found.setdefault(row["model"], {})[figures.pop("name")] = figures
    return found


def lines_of(document: Document) -> Iterator[str]:
    """A record as readable text, part by part; the values of users take one line per verdict, as do both
    requests of an example.
    """
    rows = document["results"]
    mark = uuid.uuid4().hex
    head, *tail = json.dumps(
        {**document, "results": [mark] if rows else []}, indent=1, allow_nan=False
    ).split(f'"{mark}"')
    yield head
    for place, row in enumerate(rows):
        # No text of JSON has a line break in it: all of them are those of the indent.
        yield (",\n  " if place else "") + _text_of(row, mark).replace("\n", "\n  ")
    yield "".join(tail) + "\n"


def _text_of(row: Row, mark: str) -> str:
    values: list[str] = []

    def in_one_line(value: object) -> str:
        values.append(json.dumps(value, allow_nan=False, separators=(",", ":")))
        return f"@{mark}/{len(values) - 1}@"

    examples = [
        {**each, "asked": in_one_line(each["asked"])} if "asked" in each else each
        for each in row["examples"]
    ]
    kept = {**row, "examples": examples, "per_user": in_one_line(row["per_user"])}
    lines = json.dumps(kept, indent=1, allow_nan=False)
    return re.sub(rf'"@{mark}/(\d+)@"', lambda found: values[int(found[1])], lines)


def standing(rows: Iterable[Row], corrected: Literal["p_holm", "p_bh"], alpha: float) -> list[Row]:
    """The rows whose violation is not expected, and remains after a correction over the run."""
    return [
        row
        for row in rows
        if row["status"] == "violated" != row["expected"]
        and ((p := row[corrected]) is None or p <= alpha)
    ]

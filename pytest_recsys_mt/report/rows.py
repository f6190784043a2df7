"""The rows of the record."""

from __future__ import annotations

import dataclasses
import json
import re
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.report.asked import asked_of, replicates_of, shrunk_of
from pytest_recsys_mt.safety.redaction import redact, without_keys
from pytest_recsys_mt.safety.sanitize import plain
from pytest_recsys_mt.verdict.verdict import Status, Verdict

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample

_NAMED = 5  # how many numbers that are none a reason names
NOT_FINITE = "not_finite"
"""Where the details of a row say which of its numbers were none."""

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
    """One verdict as plain data; the outcome and the
    attempts of its test are added when known.
    """
    known: dict[str, object] = {
        **{
            field.name: getattr(verdict, field.name)
            for field in dataclasses.fields(verdict)
        },
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
    of_benchmarks = (
        () if verdict.metric is not None else ("metric", "value", "threshold")
    )
    row = {key: known[key] for key in Row.__annotations__ if key not in of_benchmarks}
    lost: list[str] = []
    clean: Row = plain(row, lost)
    # A test's own texts were not cleaned before; examples hold answers, which were.
    clean["reason"], clean["details"] = (
        redact(clean["reason"]),
        without_keys(clean["details"]),
    )
    clean["nodeid"] = nodeid  # pytest's own text: code that splits it needs it as it is
    if lost:
        _note_lost(clean, lost)
    return clean


def _note_lost(row: Row, lost: list[str]) -> None:
    """Say in a row which of its numbers were none, and leave out the values without
    them.
    """
    # A part of a value that belongs together would say something else than the whole.
    for pair in ("interval", "reach"):
        if None in (row[pair] or ()):
            row[pair] = None
    row["per_user"] = {
        user: value for user, value in row["per_user"].items() if value is not None
    }
    row["details"][NOT_FINITE] = lost
    note = f"not a finite number, so left out: {', '.join(lost[:_NAMED])}"
    more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
    row["reason"] = "; ".join(filter(None, (row["reason"], note + more)))


def _examples(verdict: Verdict) -> Iterator[dict[str, object]]:
    with_requests = verdict.status in ("violated", "inconclusive", "error")
    for place, example in enumerate(verdict.examples):
        known: dict[str, object] = {
            field.name: getattr(example, field.name)
            for field in dataclasses.fields(example)
            if not field.name.endswith("_asked") and field.name != "told"
        }
        if example.told:
            known["told"] = True
        replicates = replicates_of(example)
        if replicates:
            known["replicates"] = replicates
        if with_requests and place < WITH_REQUESTS:
            known["asked"] = asked_of(example)
        yield known


def lines_of(document: Document) -> Iterator[str]:
    """A record as readable text, part by part; the values of users take one line per
    verdict, as do both requests of an example and all answers to them.
    """
    rows = document["results"]
    mark = uuid.uuid4().hex
    head, *tail = json.dumps(
        {**document, "results": [mark] if rows else []},
        indent=1,
        allow_nan=False,
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
        {
            name: in_one_line(part) if name in ("asked", "replicates") else part
            for name, part in each.items()
        }
        for each in row["examples"]
    ]
    kept = {**row, "examples": examples, "per_user": in_one_line(row["per_user"])}
    lines = json.dumps(kept, indent=1, allow_nan=False)
    return re.sub(rf'"@{mark}/(\d+)@"', lambda found: values[int(found[1])], lines)

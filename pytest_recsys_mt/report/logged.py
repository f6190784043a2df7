"""What a run leaves in a tracker of experiments: the verdicts of each model, as numbers
and words, and its curves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.safety.redaction import redact, without_keys
from pytest_recsys_mt.verdict.wording import spoken

LONGEST_NAME = 200
"""Characters of a name; MLflow takes 250."""

LONGEST_TEXT = 4_000
"""Characters of a text; MLflow takes 5,000."""


@dataclass
class Logged:
    """The results of one model.

    Attributes:
        model: Its name.
        numbers: By name, such as ``test_rank scale_ratings(2)/estimate``.
        words: The same for texts, such as ``.../status``.
        curves: By name, the points of a curve as (x, value).
    """

    model: str
    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


def logged(document: Mapping[str, Any]) -> list[Logged]:
    """The results of a record, by model, without keys."""
    clean: Mapping[str, Any] = without_keys(document)
    found = []
    for model, rows in sorted(grouped(clean["results"], _model_of).items()):
        found.append(_of_model(model, rows))
        _add_latency(found[-1], clean)
    return found


def settings_of(document: Mapping[str, Any]) -> dict[str, str]:
    """The facts and the settings of a run as short texts."""
    facts = {name: document.get(name) for name in ("data", "seed", "version")}
    settings = {**facts, **document.get("settings", {})}
    return {
        name: redact(str(value))[:LONGEST_TEXT]
        for name, value in settings.items()
        if value is not None
    }


def _model_of(row: Mapping[str, Any]) -> str:
    return str(row["model"])


def _of_model(model: str, rows: Sequence[Mapping[str, Any]]) -> Logged:
    result = Logged(model)
    statuses = grouped(rows, lambda row: str(row["status"]))
    for status, of in statuses.items():
        result.numbers[f"verdicts/{spoken(status)}"] = len(of)
    taken: dict[str, int] = {}
    for row in rows:
        name = name_of(row)
        taken[name] = taken.get(name, 0) + 1
        if taken[name] > 1:  # a test may judge the same thing twice
            name = f"{name} {taken[name]}"
        result.words[f"{name}/status"] = str(row["status"])
        if row.get("reason"):
            result.words[f"{name}/reason"] = str(row["reason"])[:LONGEST_TEXT]
        for label, value in _numbers_of(row):
            result.numbers[f"{name}/{label}"] = value
        for label, points in _curves_of(row["details"]):
            result.curves[f"{name}/{label}"] = points
    return result


def name_of(row: Mapping[str, Any]) -> str:
    """The name of a verdict: its test, relation and oracle, in characters that all
    trackers take.
    """
    test = str(row["nodeid"]).rpartition("::")[2].partition("[")[0]
    words = (test, str(row.get("relation") or ""), str(row.get("oracle") or ""))
    text = " ".join(filter(None, words))
    return re.sub(r"[^\w .-]+", "_", text, flags=re.ASCII)[:LONGEST_NAME].strip()


def _numbers_of(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    numbers = {
        name: row.get(name)
        for name in (
            "estimate",
            "margin",
            "value",
            "threshold",
            "p_value",
            "p_holm",
            "users",
        )
    }
    low, high = row.get("interval") or (None, None)
    for name, value in {**numbers, "low": low, "high": high}.items():
        if _is_number(value):
            yield name, float(value)  # type: ignore[arg-type]


def _curves_of(
    details: Mapping[str, Any],
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    curve = details.get("curve")
    if not isinstance(curve, Mapping):
        return
    lines = {"": curve.get("points"), **(curve.get("lines") or {})}
    for name, points in lines.items():
        kept = [
            (float(point[0]), float(point[1]))
            for point in points or ()
            if len(point) > 1 and _is_number(point[0]) and _is_number(point[1])
        ]
        if kept:
            label = f"curve {name}".strip()
            yield re.sub(r"[^\w .-]+", "_", label, flags=re.ASCII), kept


def _add_latency(result: Logged, document: Mapping[str, Any]) -> None:
    for row in document["time"].get("latency", []):
        if row["model"] != result.model:
            continue
        for name in ("p50", "p95"):
            if row[name] is not None:
                result.numbers[f"latency {row['kind']}/{name}"] = row[name]


def _is_number(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)  # type: ignore[arg-type]

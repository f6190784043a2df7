"""Records of nights, made by hand."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

LOW, HIGH, MARGIN = -0.5, 1.0, 0.05


def row(values: Mapping[str, float], relation: str = "turned", **other: Any) -> Any:
    return {
        "nodeid": f"test_it.py::test_it[toy-{relation}]", "suite": "it", "relation": relation, "against": "",
        "model": "toy", "oracle": "same_ranking:rbo", "status": "holds", "reason": "", "margin": MARGIN,
        "allowed": "at most", "reach": [LOW, HIGH], "per_user": dict(values), "joint": False, **other,
    }  # fmt: skip


def night(day: int, *rows: dict[str, Any], **other: Any) -> Any:
    return {
        "schema": "recsys-mt/1",
        "models": ["toy"],
        "settings": {"users": 200, "k": 10, "replicates": 2},
        "calls": {"made": 400},
        "time": {"started": f"2026-10-{day:02}T02:00:00+00:00"},
        "digests": {},
        "gate": {"incomplete": []},
        "results": list(rows),
        **other,
    }


def drawn(
    day: int,
    mean: float,
    users: int = 100,
    first: int | None = None,
) -> dict[str, float]:
    """Effects of users who are fresh that day, or of those from number `first` on."""
    begun = day * users if first is None else first
    effects = np.random.default_rng(day).normal(mean, 0.1, users).clip(LOW, HIGH)
    return {
        f"u{begun + number}": float(effect) for number, effect in enumerate(effects)
    }


def write(folder: Path, documents: list[dict[str, Any]]) -> list[str]:
    paths = [folder / f"{number}.json" for number in range(1, len(documents) + 1)]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document), encoding="utf-8")
    return list(map(str, paths))

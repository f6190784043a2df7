"""The paper's published values, to compare a model;
``published.toml`` lists the corrections.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pytest_recsys_mt.suites.lrworld.question import LASTFM, MEASURES, Measure

SOURCE = "Hu, The Mental World of Large Language Models in Recommendation, tables 2, 3 and 22"
LASTFM_SOURCE = "Hu, table 8 (hit rate by LLaRA's evaluation: over valid answers alone)"


@lru_cache(maxsize=1)
def tables() -> Mapping[str, Any]:
    """All tables of the file, by their names."""
    text = (files("pytest_recsys_mt.suites.lrworld") / "published.toml").read_text(
        encoding="utf-8",
    )
    return tomllib.loads(text)


def scores(measure: Measure) -> dict[str, float]:
    """The published score of each model on a measure: eleven, or six on Last.fm."""
    table = (
        tables()["lastfm"] if measure in LASTFM else tables()["scores"][measure.dataset]
    )
    column = columns(measure.dataset).index(measure.name)
    return {model: row[column] for model, row in table.items()}


def others(measure: Measure) -> dict[str, float]:
    """The published scores of larger models (table 25) and of later versions (table 5),
    where a measure has any.
    """
    found: dict[str, float] = {}
    sizes, versions = tables()["sizes"], tables()["versions"]
    if measure.dataset == "amazon" and measure.name in sizes["measures"]:
        column = sizes["measures"].index(measure.name)
        larger = (name for name in sizes["scores"] if name.endswith(("70B", "72B")))
        found |= {name: sizes["scores"][name][column] for name in larger}
    if measure.name == versions["measure"]:
        found |= versions["scores"].get(measure.dataset, {})
    return found


def columns(dataset: str) -> list[str]:
    """The names of the measures on a dataset, in the order of its columns."""
    return [
        measure.name for measure in (*MEASURES, *LASTFM) if measure.dataset == dataset
    ]


def beside(measure: Measure, model: str, score: float) -> dict[str, Any]:
    """A model, marked as run here, among the published ones, best first, for a
    verdict's ``published``.
    """
    rows: list[list[Any]] = [
        [name, value] for name, value in (scores(measure) | others(measure)).items()
    ]
    rows.append([f"{model} (this run)", round(score, 4)])
    rows.sort(key=lambda row: -row[1])
    return {
        "source": LASTFM_SOURCE if measure in LASTFM else SOURCE,
        "columns": ["model", f"{measure.dataset} {measure.name}"],
        "rows": rows,
    }

"""The tables of the multidimensional suite, from the records of its runs, as Markdown.

    pytest suites/multidimensional --recsys-model=bm25 --recsys-json=bm25.json
    python -m benchmarks.multidimensional bm25.json ...

One column a recommender: every benchmark value with its bounds, and the curves of the
sweeps.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Print the tables of some records.")
    parser.add_argument(
        "records",
        nargs="+",
        type=Path,
        help="written by --recsys-json",
    )
    paths = parser.parse_args(arguments).records
    rows = [
        row
        for path in paths
        for row in json.loads(path.read_text(encoding="utf-8"))["results"]
    ]
    models = list(dict.fromkeys(row["model"] for row in rows if row["model"]))
    print(table(["measure", *models], _lines(_values(rows), models)))
    for title, lines in _curves(rows).items():
        places = list(
            dict.fromkeys(place for points in lines.values() for place in points),
        )
        shown = [
            [model, *(points.get(place, "–") for place in places)]
            for model, points in lines.items()
        ]
        print(f"\n{title}\n")
        print(table(["recommender", *(f"{place:g}" for place in places)], shown))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _lines(
    values: Mapping[str, Mapping[str, str]],
    models: Sequence[str],
) -> list[list[str]]:
    return [
        [name, *(found.get(model, "–") for model in models)]
        for name, found in values.items()
    ]


def _values(rows: Iterable[Row]) -> dict[str, dict[str, str]]:
    """Values by measure and model, each with its bounds
    and a mark where its limit is broken.
    """
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.get("value") is None:
            continue
        name = row["metric"] + (" (re-ranking)" if "reranking" in row["nodeid"] else "")
        low, high = row["interval"] or (None, None)
        bounds = "" if low is None else f" [{low:.3f}, {high:.3f}]"
        mark = {"violated": " ✗", "inconclusive": " ?"}.get(row["status"], "")
        found.setdefault(name, {})[row["model"]] = f"{row['value']:.3f}{bounds}{mark}"
    return found


def _curves(rows: Iterable[Row]) -> dict[str, dict[str, dict[float, str]]]:
    """The means of each sweep, by its axes, model and place."""
    found: dict[str, dict[str, dict[float, str]]] = {}
    for row in rows:
        curve = row["details"].get("curve")
        if curve:
            test = row["nodeid"].split("::")[1].partition("[")[0]
            title = f"`{test}`: {curve['y']} by {curve['x']}"
            points = {point[0]: f"{point[1]:.3f}" for point in curve["points"]}
            found.setdefault(title, {})[row["model"]] = points
    return found


if __name__ == "__main__":
    main()

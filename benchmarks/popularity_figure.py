"""Two figures of the popularity paper on any dataset, as one picture.

    python -m benchmarks.popularity_figure ml-latest-small docs/suites/popularity.png

Left: the share of items with at least so many ratings, with the fitted Pareto and
log-normal distributions (its Figure 1). Right: means over the first n items, of
popularity and of its logarithm, each in units of its value at the end (its Figure 5); a
jump is one item that decides the mean.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import ndtr

from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.oracles import popularity_fit


def draw(data: str, path: str) -> None:
    """Draw both figures.

    Args:
        data: Name or path of a dataset.
        path: Of the picture.
    """
    dataset = load(data)
    counts = np.array(
        [count for count in dataset.popularity.values() if count],
        np.float64,
    )
    fit = popularity_fit(counts)
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    tail, means = figure.subplots(1, 2)

    values = np.sort(counts)
    tail.step(
        values,
        1 - np.searchsorted(values, values) / len(values),
        label="items",
        color="black",
    )
    at = np.geomspace(values[0], values[-1], 200)
    tail.plot(
        at,
        (at / values[0]) ** -fit.pareto_shape,
        label=f"Pareto, {fit.pareto_shape:.2f}",
    )
    normal = (np.log(at) - fit.lognormal_mean) / fit.lognormal_deviation
    tail.plot(at, 1 - ndtr(normal), "--", label="log-normal")
    tail.set(
        xscale="log", yscale="log", ylim=(0.5 / len(values), 1.5), xlabel="ratings of an item",
        ylabel="share of items with as many", title=f"{fit.items:,} items of {dataset.name}",
    )  # fmt: skip
    tail.legend()

    order = np.random.default_rng(0).permutation(len(counts))
    for name, numbers, style in (
        ("popularity", counts, "-"),
        ("its logarithm", np.log(counts), "--"),
    ):
        mean = np.cumsum(numbers[order]) / np.arange(1, len(numbers) + 1)
        means.plot(
            np.arange(1, len(mean) + 1),
            mean / mean[-1],
            style,
            label=f"mean {name}",
        )
    means.set(
        xlabel="items",
        ylabel="mean so far / mean of all",
        title="In random order",
        ylim=(0, 2),
    )
    means.legend()
    figure.savefig(path, dpi=160)


if __name__ == "__main__":
    draw(*sys.argv[1:])

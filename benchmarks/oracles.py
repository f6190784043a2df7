"""Pairs of lists per second: our kernels against PyPI `rbo` and
`scipy.stats.kendalltau`.

    python -m benchmarks.oracles [PAIRS]

One process, one thread for the linear algebra, seconds of the processor. Pairs are
lists of k out of 2k popular items, about half of them common. The references work pair
by pair, so they are timed on a prefix of the same pairs; on that prefix the results are
compared too. Ours and the reference take turns after a round that does not count, and
figures are medians of the rounds. Where numba is installed (it is no dependency), a
compiled loop is shown beside, its ratio to PyPI `rbo` too. Last, the sign-flip test of
30 relations at once, against `scipy.stats.permutation_test` on the same.
"""

import importlib.util
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_recsys_mt.oracles import (
    average_overlap,
    fagin,
    jaccard,
    kendall,
    overlap,
    rbo,
    sign_flip_test,
)

Codes = NDArray[np.int32]
ROUNDS = 5
PREFIX = 2_000


def lists(pairs: int, k: int) -> tuple[Codes, Codes]:
    rng = np.random.default_rng(k)
    items = np.tile(rng.permutation(10_000)[: 2 * k].astype(np.int32), (pairs, 1))
    left, right = (rng.permuted(items, axis=1)[:, :k].copy() for _ in range(2))
    return left, right


def turns(*calls: Callable[[], Any], rounds: int = ROUNDS) -> list[tuple[float, Any]]:
    """The median seconds of the processor of each call, and its result."""
    times: list[list[float]] = [[] for _ in calls]
    results: list[Any] = [None for _ in calls]
    for _ in range(1 + rounds):
        for place, call in enumerate(calls):
            start = time.process_time()
            results[place] = call()
            times[place].append(time.process_time() - start)
    return [
        (median(spent[1:]), result)
        for spent, result in zip(times, results, strict=True)
    ]


def rbo_package(a: Sequence[list[int]], b: Sequence[list[int]]) -> list[float]:
    from rbo import RankingSimilarity

    return [RankingSimilarity(x, y).rbo_ext(p=0.9) for x, y in zip(a, b, strict=True)]


def scipy_kendall(ranks: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    from scipy.stats import kendalltau

    return [kendalltau(x, y)[0] for x, y in ranks]


def union_ranks(a: list[int], b: list[int]) -> tuple[list[int], list[int]]:
    union = [*a, *(item for item in b if item not in a)]
    return (
        [a.index(i) if i in a else len(a) for i in union],
        [b.index(i) if i in b else len(b) for i in union],
    )


def numba_rbo() -> Callable[[Codes, Codes], NDArray[np.float64]]:
    """Extrapolated RBO of even lists (Webber et al. 2010,
    eq. 30) as a compiled loop over pairs.
    """
    from numba import njit

    @njit(cache=False)
    def loop(a: Codes, b: Codes) -> NDArray[np.float64]:
        pairs, k = a.shape
        p = 0.9
        out = np.empty(pairs)
        for pair in range(pairs):
            shared, total, weight = 0, 0.0, 1.0
            for depth in range(k):
                for place in range(depth + 1):
                    if a[pair, place] == b[pair, depth]:
                        shared += 1
                    if place < depth and b[pair, place] == a[pair, depth]:
                        shared += 1
                total += shared / (depth + 1) * weight
                weight *= p
            out[pair] = (1 - p) * total + shared / k * weight
        return out

    compiled: Callable[[Codes, Codes], NDArray[np.float64]] = loop
    return compiled


def compare_with_numba(a: Codes, b: Codes, k: int, speed: float) -> None:
    """One line: a compiled loop on the same pairs, the
    first call (which compiles) apart.
    """
    compiled = numba_rbo()
    start = time.process_time()
    compiled(a[:2], b[:2])
    compiling = time.process_time() - start
    ((seconds, values),) = turns(partial(compiled, a, b))
    gap = float(np.abs(values - rbo(a, b)).max())
    print(
        f"{'rbo in numba':>16} {k:>3} {len(a) / seconds:>12,.0f} {'':>12} "
        f"{len(a) / seconds / speed:>7,.0f} {gap:>10.1e}  (after {compiling:.1f} s of compiling)",
        flush=True,
    )


def main(pairs: int) -> None:
    print(
        f"{pairs:,} pairs; references on the first {PREFIX:,}: rbo {version('rbo')}, kendalltau of scipy "
        f"{version('scipy')}",
    )
    print(
        f"{'kernel':>16} {'k':>3} {'pairs/s':>12} {'reference/s':>12} {'ratio':>7} {'differ by':>10}",
    )
    for k in (5, 10, 20):
        a, b = lists(pairs, k)
        few_a, few_b = a[:PREFIX].tolist(), b[:PREFIX].tolist()
        ranks = [union_ranks(x, y) for x, y in zip(few_a, few_b, strict=True)]
        references: dict[str, Callable[[], list[float]]] = {
            "rbo": partial(rbo_package, few_a, few_b),
            "kendall": partial(scipy_kendall, ranks),
        }
        for kernel in (rbo, kendall, fagin, overlap, jaccard, average_overlap):
            reference, speed = references.get(kernel.__name__), 0.0
            (seconds, values), *beside = turns(
                partial(kernel, a, b),
                *([] if reference is None else [reference]),
            )
            line = f"{kernel.__name__:>16} {k:>3} {pairs / seconds:>12,.0f}"
            for slow, expected in beside:
                speed = PREFIX / slow
                gap = float(np.abs(values[:PREFIX] - np.array(expected)).max())
                line += (
                    f" {speed:>12,.0f} {pairs / seconds / speed:>7,.0f} {gap:>10.1e}"
                )
            print(line, flush=True)
            if kernel is rbo and importlib.util.find_spec("numba") is not None:
                compare_with_numba(a, b, k, speed)


def significance(users: int = 610, relations: int = 30, draws: int = 999) -> None:
    """One line: the test of all relations, and scipy's of the same differences."""
    from scipy.stats import permutation_test

    differences = np.random.default_rng(0).normal(0.01, 0.1, (users, relations))
    (seconds, ours), (slow, theirs) = turns(
        partial(sign_flip_test, differences, draws=draws),
        partial(
            permutation_test,
            (differences,),
            np.mean,
            permutation_type="samples",
            n_resamples=draws,
            batch=100,
            vectorized=True,
            rng=np.random.default_rng(0),
        ),
        rounds=3,
    )
    print(
        f"sign flips, {users} users, {relations} relations, {draws} draws: {seconds * 1e3:.1f} ms, "
        f"scipy {version('scipy')} {slow * 1e3:.1f} ms, ratio {slow / seconds:.0f}, p-values differ by at most "
        f"{np.abs(ours - theirs.pvalue).max():.3f}",
    )


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the rbo package
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
        significance()

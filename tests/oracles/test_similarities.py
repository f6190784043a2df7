from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import (
    average_overlap,
    fagin,
    jaccard,
    kendall,
    overlap,
    rbo,
)
from tests.extras import need
from tests.support.oracles_similarities import (
    SIMILARITIES,
    fagin_similarity,
    kendall_similarity,
    kernel,
    similarity_named,
)

PAIRS = 3_000
Codes = NDArray[np.int32]

# Another list against abcde: overlap, Jaccard, average overlap, RBO at .9, tau-b on the
# union, 1 - 2K/max for K^(0) and K^(.5).
GOLD = {
    "abcde": (1, 1, 1, 1, 1, 1, 1),
    "bacde": (1, 1, 0.8, 0.9, 0.8, 0.92, 0.942857),
    "abced": (1, 1, 0.95, 0.981775, 0.8, 0.92, 0.942857),
    "edcba": (1, 1, 0.416667, 0.737775, -1, 0.2, 0.428571),
    "abcdx": (0.8, 0.666667, 0.96, 0.868780, 0.866667, 0.92, 0.942857),
    "xabcd": (0.8, 0.666667, 0.543333, 0.678555, 0.333333, 0.6, 0.714286),
    "vwxyz": (0, 0, 0, 0, -0.714286, -1, -1),
}


def coded(*lists: str, k: int = 5) -> Codes:
    out = np.full((len(lists), k), -1, np.int32)
    for row, text in zip(out, lists, strict=True):
        row[: len(text)] = [ord(letter) for letter in text]
    return out


def random_lists(count: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Pairs of lists up to 12 long: even, uneven, disjoint and equal ones, none empty."""
    k = 12
    catalogue = rng.permuted(np.tile(np.arange(24, dtype=np.int32), (count, 1)), axis=1)
    a = catalogue[:, :k].copy()
    b = rng.permuted(catalogue[:, : k + 6], axis=1)[:, :k].copy()
    b[: count // 20] = a[: count // 20]
    b[count // 20 : count // 10] = catalogue[count // 20 : count // 10, k:]
    lengths = rng.integers(1, k + 1, (2, count))
    lengths[1, ::3] = lengths[0, ::3]
    for lists, length in zip((a, b), lengths, strict=True):
        lists[np.arange(k) >= length[:, None]] = -1
    return a, b


@cache
def _pairs() -> tuple[Codes, Codes]:
    return random_lists(PAIRS, np.random.default_rng(7))


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> tuple[Codes, Codes]:
    """So many that they are counted in several chunks."""
    monkeypatch.setattr(kernel, "_CHUNK_CELLS", 256)  # the least, 256 pairs each
    return _pairs()


def trimmed(a: Codes, b: Codes) -> list[tuple[list[int], list[int]]]:
    return [
        ([int(x) for x in left if x >= 0], [int(x) for x in right if x >= 0])
        for left, right in zip(a, b, strict=True)
    ]


@pytest.mark.parametrize("other", GOLD)
def test_gold_vectors(other: str) -> None:
    a, b = coded("abcde"), coded(other)
    values = [f(a, b)[0] for f in (overlap, jaccard, average_overlap, rbo, kendall)]
    values += [1 - 2 * fagin(a, b, p)[0] / (25 + 20 * p) for p in (0.0, 0.5)]
    assert values == pytest.approx(GOLD[other], abs=5e-7)


def test_a_reversed_and_a_disjoint_list_of_ten() -> None:
    a, back, other = (
        np.arange(10)[None],
        np.arange(10)[None, ::-1],
        np.arange(10, 20)[None],
    )
    assert fagin(a, back)[0] == 45
    assert fagin(a, other)[0] == 145


@pytest.mark.parametrize("p", [0.5, 0.9, 0.98])
def test_rbo_agrees_with_the_reference_package(
    pairs: tuple[Codes, Codes],
    p: float,
) -> None:
    need("rbo")
    from rbo import RankingSimilarity

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it writes ~bool
        expected = [RankingSimilarity(a, b).rbo_ext(p=p) for a, b in trimmed(*pairs)]
    np.testing.assert_allclose(rbo(*pairs, p=p), expected, rtol=0, atol=1e-12)


def test_average_overlap_agrees_with_the_reference_package_on_even_lists(
    pairs: tuple[Codes, Codes],
) -> None:
    need("rbo")
    from rbo import RankingSimilarity

    even = ((pairs[0] >= 0).sum(1) == (pairs[1] >= 0).sum(1)).nonzero()[0]
    a, b = pairs[0][even], pairs[1][even]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        expected = [RankingSimilarity(x, y).rbo(p=1.0) for x, y in trimmed(a, b)]
    assert len(expected) > PAIRS / 4
    np.testing.assert_allclose(average_overlap(a, b), expected, rtol=0, atol=1e-12)


def pairwise_fagin(a: list[int], b: list[int], p: float) -> float:
    """Section 3.1 of Fagin, Kumar and Sivakumar 2003, case by case."""
    total = 0.0
    for i, j in combinations(sorted({*a, *b}), 2):
        in_a, in_b = (i in a) + (j in a), (i in b) + (j in b)
        if in_a == in_b == 2:
            total += (a.index(i) < a.index(j)) != (b.index(i) < b.index(j))
        elif {in_a, in_b} == {1, 2}:
            full, half = (a, b) if in_a == 2 else (b, a)
            shared, absent = (i, j) if i in half else (j, i)
            total += full.index(shared) > full.index(absent)
        elif in_a == in_b == 1:
            total += 1
        else:
            total += p
    return total


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5])
def test_fagin_agrees_with_its_pairwise_definition(
    pairs: tuple[Codes, Codes],
    p: float,
) -> None:
    expected = [pairwise_fagin(a, b, p) for a, b in trimmed(*pairs)]
    np.testing.assert_allclose(fagin(*pairs, p=p), expected, rtol=0, atol=1e-12)


def test_kendall_agrees_with_scipy_on_the_ranks_of_the_union(
    pairs: tuple[Codes, Codes],
) -> None:
    from scipy.stats import kendalltau

    def ranks(items: list[int], union: list[int]) -> list[int]:
        return [items.index(i) if i in items else len(items) for i in union]

    expected = []
    for a, b in trimmed(*pairs):
        union = sorted({*a, *b})
        alone = len(union) == 1  # undefined for us; scipy would warn
        tau = np.nan if alone else kendalltau(ranks(a, union), ranks(b, union))[0]
        expected.append(tau)
    np.testing.assert_allclose(kendall(*pairs), expected, rtol=0, atol=1e-12)


def test_overlap_and_jaccard_are_counts_of_sets(pairs: tuple[Codes, Codes]) -> None:
    sets = [(set(a), set(b)) for a, b in trimmed(*pairs)]
    np.testing.assert_array_equal(
        overlap(*pairs),
        [len(a & b) / max(len(a), len(b)) for a, b in sets],
    )
    np.testing.assert_array_equal(
        jaccard(*pairs),
        [len(a & b) / len(a | b) for a, b in sets],
    )


lists = st.lists(st.integers(0, 9), unique=True, max_size=6)
named = st.sampled_from(sorted(SIMILARITIES))


def rows(*many: list[int], k: int = 6) -> Codes:
    return np.array([[*items, *[-1] * (k - len(items))] for items in many], np.int32)


@given(named, lists, lists)
def test_symmetric_in_range_and_undefined_only_for_an_empty_list(
    name: str,
    a: list[int],
    b: list[int],
) -> None:
    similarity = SIMILARITIES[name]
    there, back = similarity(rows(a), rows(b))[0], similarity(rows(b), rows(a))[0]
    if a and b:
        assert there == pytest.approx(back, abs=1e-12)
        assert 0 <= there <= 1
    else:
        assert np.isnan(there)
        assert np.isnan(back)


@given(named, lists.filter(len))
def test_a_list_agrees_with_itself_exactly(name: str, a: list[int]) -> None:
    assert SIMILARITIES[name](rows(a), rows(a))[0] == 1.0


@given(named, lists.filter(len), lists.filter(len), st.permutations(range(10)))
def test_names_of_items_do_not_matter(
    name: str,
    a: list[int],
    b: list[int],
    names: list[int],
) -> None:
    renamed = [[names[i] + 100 for i in items] for items in (a, b)]
    similarity = SIMILARITIES[name]
    assert (
        similarity(rows(a), rows(b))[0]
        == similarity(*(rows(items) for items in renamed))[0]
    )


@given(named, st.lists(st.tuples(lists, lists), min_size=1, max_size=8))
def test_a_batch_gives_what_its_pairs_give(
    name: str,
    batch: list[tuple[list[int], list[int]]],
) -> None:
    similarity = SIMILARITIES[name]
    together = similarity(rows(*(a for a, _ in batch)), rows(*(b for _, b in batch)))
    alone = [similarity(rows(a), rows(b))[0] for a, b in batch]
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-15, equal_nan=True)


@given(lists.filter(len), lists.filter(len), st.floats(0, 1))
def test_disjoint_lists_are_furthest_apart_for_fagin(
    a: list[int],
    b: list[int],
    p: float,
) -> None:
    apart = [item + 50 for item in b]
    assert fagin(rows(a), rows(b), p)[0] <= fagin(rows(a), rows(apart), p)[0] + 1e-12
    assert fagin_similarity(rows(a), rows(apart), p)[0] == pytest.approx(0, abs=1e-15)


def test_equal_lists_of_one_item_have_no_tau_but_agree() -> None:
    one = rows([3])
    assert np.isnan(kendall(one, one)[0])
    assert kendall_similarity(one, one)[0] == 1.0


def test_extra_pads_and_widths_change_nothing() -> None:
    a, b = rows([1, 2, 3], k=3), rows([2, 1], k=9)
    for similarity in SIMILARITIES.values():
        assert (
            similarity(a, b)[0]
            == similarity(rows([1, 2, 3], k=20), rows([2, 1], k=2))[0]
        )


def test_long_lists_are_counted_right() -> None:
    a = np.arange(300)[None]
    assert fagin(a, a[:, ::-1])[0] == 300 * 299 / 2
    assert kendall(a, a[:, ::-1])[0] == -1
    assert overlap(a, a + 150)[0] == 0.5


def test_ids_beyond_32_bits_are_told_apart() -> None:
    a = np.array([[2**40, 2**41]])
    assert overlap(a, a + 2**32)[0] == 0
    assert overlap(a, a)[0] == 1


def test_a_pair_takes_less_than_a_kibibyte() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 1000, (250_000, 20), np.int32)
    tracemalloc.start()
    for similarity in SIMILARITIES.values():
        similarity(a, a)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak + 2 * a.nbytes < len(a) * 1024


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (
            lambda: similarity_named("rbi"),
            r"'rbi'.*kendall, overlap.*did you mean 'rbo'",
        ),
        (lambda: rbo([[1]], [[1]], p=1.0), r"p of rbo.*1\.0"),
        (lambda: fagin([[1]], [[1]], p=2), r"p of fagin.*2"),
        (lambda: overlap([[1.5]], [[1]]), r"integer array.*float64"),
        (lambda: overlap([1], [1]), r"integer array.*\(1,\)"),
        (lambda: overlap([[1]], [[1], [2]]), r"equally many rows, got 1 and 2"),
        (lambda: overlap([[-1, 1]], [[1, 2]]), r"a list in a continues after a pad"),
    ],
)
def test_bad_arguments_are_named(call: Callable[..., object], names: str) -> None:
    with pytest.raises(OracleError, match=names):
        call()

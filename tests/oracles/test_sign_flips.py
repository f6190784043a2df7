"""The sign-flip test: right against all patterns,
shared over columns, and never certain.
"""

from itertools import product
from typing import Literal

import numpy as np
import pytest
from scipy.stats import permutation_test

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import sign_flip_test


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_values_approach_those_of_all_patterns(
    alternative: Literal["two-sided", "greater", "less"],
) -> None:
    differences = np.random.default_rng(3).normal(0.3, 1, (10, 4))
    sums = np.array(list(product((-1, 1), repeat=10))) @ differences
    of = {"two-sided": np.abs, "greater": np.positive, "less": np.negative}[alternative]
    exact = (of(sums) >= of(differences.sum(axis=0)) - 1e-9).mean(axis=0)
    ours = sign_flip_test(differences, alternative, draws=99_999)
    assert ours == pytest.approx(exact, abs=0.007)
    scipy = permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        alternative=alternative,
        vectorized=True,
    )
    assert exact == pytest.approx(scipy.pvalue, abs=1e-9)


def test_a_column_has_the_p_value_that_it_has_alone() -> None:
    differences = np.random.default_rng(4).normal(0.1, 1, (25, 3))
    together = sign_flip_test(differences)
    assert together.tolist() == [sign_flip_test(column)[0] for column in differences.T]


def test_memory_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = np.random.default_rng(5).normal(0.1, 1, (16, 3))
    whole = sign_flip_test(differences, draws=2_000)
    monkeypatch.setattr(
        "pytest_recsys_mt.oracles.statistics.sign_flips._CELLS",
        16 * 300,
    )
    assert sign_flip_test(differences, draws=2_000) == pytest.approx(whole, abs=0.04)


def test_it_errs_as_often_as_it_says() -> None:
    rng = np.random.default_rng(6)
    p = sign_flip_test(rng.normal(0, 1, (20, 4_000)), draws=999)
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=0.011)


def test_no_evidence_and_all_evidence() -> None:
    p = sign_flip_test(
        np.stack([np.zeros(12), np.ones(12)], axis=1),
        "greater",
        draws=999,
    )
    assert p[0] == 1
    assert 1 / 1000 <= p[1] <= 3 / 1000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"differences": []}, "shape"),
        ({"differences": [[[1.0]]]}, "shape"),
        ({"differences": [1.0, np.nan]}, "finite"),
        ({"differences": [1.0], "alternative": "more"}, "'more'"),
        ({"differences": [1.0], "draws": 0}, "at least 1"),
    ],
)
def test_what_it_cannot_judge_is_refused(
    arguments: dict[str, object],
    said: str,
) -> None:
    with pytest.raises(OracleError, match=said):
        sign_flip_test(**arguments)  # type: ignore[arg-type]

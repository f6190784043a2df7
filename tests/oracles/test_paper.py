from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import ttest_ind

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import overlap, paper_t_test, t_from_summary
from tests.oracles.support import DETERMINISTIC, Lists, plackett_luce, sides

# Table 4 of https://arxiv.org/abs/2411.12121: mean and SD of 10 runs of Kendall, RBO
# and overlap.
BASELINE = ((0.9116, 0.0055), (0.9768, 0.0027), (0.9623, 0.0030))
PRINTED = {
    "MR1": ((0.4829, 0.0082), (0.8496, 0.0021), (0.8146, 0.0025)),
    "MR2": ((0.4966, 0.0057), (0.8460, 0.0014), (0.8174, 0.0028)),
    "MR3": ((0.0640, 0.0121), (0.4710, 0.0081), (0.4882, 0.0057)),
    "MR4": ((0.2295, 0.0117), (0.6802, 0.0050), (0.6863, 0.0089)),
}
T = {
    "MR1": (137.30, 117.60, 119.60),
    "MR2": (165.68, 136.00, 111.66),
    "MR3": (201.66, 187.33, 232.75),
    "MR4": (166.84, 165.06, 92.93),
}


@pytest.mark.parametrize("relation", PRINTED)
def test_the_papers_t_values_follow_from_its_printed_means(relation: str) -> None:
    found = [
        t_from_summary(*base, 10, *changed, 10)[0]
        for base, changed in zip(BASELINE, PRINTED[relation], strict=True)
    ]
    assert found == pytest.approx(T[relation], abs=0.005)


def test_the_papers_smallest_p_value() -> None:
    assert t_from_summary(*BASELINE[0], 10, *PRINTED["MR1"][0], 10)[1] == pytest.approx(
        1.2e-28,
        rel=0.05,
    )


def runs(shift: float, seed: int, replicates: int = 10) -> tuple[Lists, Lists]:
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(80, 20))
    moved = taste + shift * rng.normal(size=taste.shape)
    source, followup = (
        plackett_luce(u, replicates, 0.3, rng, 5) for u in (taste, moved)
    )
    return source, followup


def test_runs_are_compared_with_one_baseline_list_as_scipy_does() -> None:
    source, followup = runs(0.3, 1)

    def means(lists: Lists, first: int) -> list[float]:
        def code(answer: Sequence[str]) -> list[list[int]]:
            return [[int(item[1:]) for item in answer]]

        return [
            float(
                np.mean(
                    [
                        overlap(code(base[0]), code(user[run]))[0]
                        for base, user in zip(source, lists, strict=True)
                    ],
                ),
            )
            for run in range(first, 10)
        ]

    unchanged, changed = means(source, 1), means(followup, 0)[:9]
    t, p = ttest_ind(unchanged, changed)
    verdict = paper_t_test(*sides(source, followup), similarity="overlap")
    assert verdict.p_value == pytest.approx(p)
    assert f"t={t:.2f}" in verdict.reason
    assert "9 runs without and 9 with the change" in verdict.reason
    assert "with the change they agree less" in verdict.reason
    assert verdict.status == "violated"
    assert verdict.details["t"] == pytest.approx(t)
    for name, side in (("without", unchanged), ("with", changed)):
        assert verdict.details[name] == {
            "mean": pytest.approx(np.mean(side)), "sd": pytest.approx(np.std(side, ddof=1)), "runs": 9,
        }  # fmt: skip


def test_kendalls_figures_are_tau() -> None:
    source, followup = sides(*runs(0.3, 1))
    verdict = paper_t_test(source, followup, similarity="kendall")
    loss = verdict.details["without"]["mean"] - verdict.details["with"]["mean"]
    assert verdict.estimate is not None
    assert loss == pytest.approx(2 * verdict.estimate)


def test_no_change_is_not_significant() -> None:
    assert paper_t_test(*sides(*runs(0, 2))).status == "holds"


@pytest.mark.parametrize(
    ("lists", "reason"),
    [
        (runs(0, 3, replicates=2), "three replicates"),
        (([[["a", "b"]] * 4] * 9, [[["b", "a"]] * 4] * 9), "no variance"),
    ],
)
def test_runs_that_cannot_be_tested_are_inconclusive(
    lists: tuple[Lists, Lists],
    reason: str,
) -> None:
    verdict = paper_t_test(*sides(*lists))
    assert verdict.status == "inconclusive"
    assert reason in verdict.reason
    assert verdict.p_value is None
    if reason == "no variance":  # its table has means and deviations all the same
        assert verdict.details["without"] == {"mean": 1, "sd": 0, "runs": 3}
        assert verdict.details["with"]["sd"] == pytest.approx(0)


def test_a_deterministic_recommender_has_no_runs_to_compare() -> None:
    verdict = paper_t_test(*sides([[["a"]]] * 9, [[["a"]]] * 9, DETERMINISTIC))
    assert verdict.status == "inconclusive"
    assert "same_ranking" in verdict.reason


def test_samples_without_variance_or_size_are_refused() -> None:
    for summary in (
        (1, 0, 10, 2, 0, 10),
        (1, 0.1, 1, 2, 0.1, 10),
        (1, -0.1, 9, 2, 0.1, 10),
    ):
        with pytest.raises(OracleError, match="two samples of at least 2 values"):
            t_from_summary(*summary)


@pytest.mark.parametrize("turned", [False, True])
def test_the_sentence_is_true_of_a_two_sided_test(turned: bool) -> None:
    """Runs that agree more break no promise, though the paper's test rejects; no
    sentence says that at most 0 is allowed.
    """
    source, followup = runs(0.3, 1)
    if turned:  # the changed request repeats the baseline
        followup = [[*[user[0]] * 9, user[1]] for user in source]
    verdict = paper_t_test(*sides(source, followup))
    assert verdict.status == ("holds" if turned else "violated")
    assert verdict.p_value is not None
    assert verdict.p_value < 0.05
    assert ("agree more, which breaks no promise" in verdict.reason) is turned
    assert verdict.estimate is not None
    assert (verdict.estimate < 0) is turned
    assert (verdict.allowed, verdict.approximate) == (None, True)
    assert "the difference of the runs' mean agreement is" in verdict.summary
    assert "allowed" not in verdict.summary


def test_holds_says_that_it_shows_nothing() -> None:
    assert "no difference was shown" in paper_t_test(*sides(*runs(0, 2))).reason

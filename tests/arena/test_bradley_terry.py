"""Strengths from pairwise comparisons."""

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from pytest_recsys_mt.oracles import bradley_terry, placed_bradley_terry


def chances(strength: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(strength[None, :] - strength[:, None])))


def test_two_players_have_the_log_odds_of_their_wins() -> None:
    assert np.diff(bradley_terry([[0, 3], [1, 0]])) == pytest.approx(-np.log(3))


def test_everybody_is_expected_to_win_as_much_as_they_did() -> None:
    wins = np.array([[0, 2, 0, 1], [3, 0, 5, 0], [0, 3, 0, 1], [4, 0, 3, 0]])
    strength = bradley_terry(wins)
    expected = (wins + wins.T) * chances(strength)
    assert expected.sum(1) == pytest.approx(wins.sum(1), abs=1e-6)
    assert strength.mean() == pytest.approx(0)
    assert bradley_terry(wins.T) == pytest.approx(-strength, abs=1e-6)


def test_known_strengths_come_back() -> None:
    known = np.array([1.2, 0.3, -0.4, -1.1])
    assert bradley_terry(1000 * chances(known)) == pytest.approx(known, abs=1e-6)


def test_a_player_that_never_lost_has_no_finite_strength_without_a_prior() -> None:
    wins = [[0, 5, 5], [0, 0, 2], [0, 3, 0]]
    with pytest.raises(OracleError, match=r"never lost.*prior=1"):
        bradley_terry(wins, names=["a", "b", "c"])
    strength = bradley_terry(wins, prior=1)
    assert strength[0] > strength[2] > strength[1]


def test_players_that_never_met_cannot_be_compared() -> None:
    with pytest.raises(OracleError, match=r"\[a, b; c, d\]"):
        bradley_terry(
            [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
            names=["a", "b", "c", "d"],
            prior=1,
        )


@pytest.mark.parametrize(
    "wins",
    [[[0]], [[0, 1]], [[0, -1], [1, 0]], [[0, np.inf], [1, 0]]],
)
def test_what_is_no_table_of_wins_is_refused(wins: object) -> None:
    with pytest.raises(OracleError, match="bradley_terry: wins"):
        bradley_terry(wins)  # type: ignore[arg-type]


def placed(strength: np.ndarray, place: float) -> tuple[np.ndarray, np.ndarray]:
    """The chances of winning shown first, and shown second."""
    apart = strength[:, None] - strength[None, :]
    return 1 / (1 + np.exp(-apart - place)), 1 / (1 + np.exp(-apart + place))


@pytest.mark.parametrize("place", [-1.0, 0.0, 1.0, 2.5])
def test_known_strengths_and_the_advantage_of_the_first_place_come_back(
    place: float,
) -> None:
    known = np.array([1.2, 0.3, -0.4, -1.1])
    strength, found = placed_bradley_terry(
        *(1000 * each for each in placed(known, place)),
    )
    assert strength == pytest.approx(known, abs=1e-6)
    assert found == pytest.approx(place, abs=1e-6)


def test_without_the_term_a_liking_for_the_first_place_makes_strengths_smaller() -> (
    None
):
    known = np.array([1.0, 0.0, -1.0])
    first, second = placed(known, 1.0)
    assert np.abs(bradley_terry(first + second))[[0, 2]].max() < 0.85


def test_logistic_regression_finds_the_same_numbers() -> None:
    from scipy.optimize import minimize

    rng = np.random.default_rng(3)
    first, second = rng.integers(1, 30, (2, 5, 5)).astype(float)

    def loss(x: np.ndarray) -> float:
        total = 0.0
        for i in range(5):
            for j in range(5):
                if i != j:
                    total += first[i, j] * np.logaddexp(0, -(x[i] - x[j] + x[5]))
                    total += second[i, j] * np.logaddexp(0, -(x[i] - x[j] - x[5]))
        return float(total + x[:5].sum() ** 2)

    expected = minimize(loss, np.zeros(6), tol=1e-12).x
    strength, place = placed_bradley_terry(first, second)
    assert [*strength, place] == pytest.approx(expected, abs=1e-4)


def test_a_place_that_always_wins_needs_a_prior() -> None:
    first = np.ones((3, 3))
    with pytest.raises(OracleError, match=r"the first one always won.*prior=1"):
        placed_bradley_terry(first, 0 * first)
    strength, place = placed_bradley_terry(first, 0 * first, prior=1)
    assert strength == pytest.approx(np.zeros(3), abs=1e-6)
    assert place > 0


def test_tables_of_two_shapes_are_refused() -> None:
    with pytest.raises(OracleError, match="one shape"):
        placed_bradley_terry(np.ones((3, 3)), np.ones((2, 2)))

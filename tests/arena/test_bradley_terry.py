"""Strengths from pairwise comparisons."""

import numpy as np
import pytest

from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles import bradley_terry


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


@pytest.mark.parametrize("wins", [[[0]], [[0, 1]], [[0, -1], [1, 0]], [[0, np.inf], [1, 0]]])
def test_what_is_no_table_of_wins_is_refused(wins: object) -> None:
    with pytest.raises(OracleError, match="bradley_terry: wins"):
        bradley_terry(wins)  # type: ignore[arg-type]

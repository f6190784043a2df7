"""Association rules are those that one finds by counting."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt.datasets import Dataset
from tests.lrworld.made import dataset_of
from tests.support.suites_lrworld import Histories, rules


def found(
    dataset: Dataset,
    support: float,
    confidence: float,
) -> dict[tuple[str, str], tuple[float, float]]:
    histories = Histories.of(dataset, 1)
    mined = rules.mine(histories, support, confidence)
    names = [item.id for item in histories.items]
    return {
        (names[a], names[b]): (s, c)
        for a, b, s, c in zip(
            mined.antecedent.tolist(),
            mined.consequent.tolist(),
            (mined.together / mined.users).tolist(),
            mined.confidence.tolist(),
            strict=True,
        )
    }


def test_rules_worked_out_by_hand() -> None:
    # A with B in 2 of 5 histories, A with C in 2, B with C in 1; A is in 4, B in 3, C
    # in 2.
    dataset = dataset_of({"1": "ABC", "2": "AB", "3": "CA", "4": "A", "5": "B"})
    assert found(dataset, 0.4, 0.01) == {
        ("A", "B"): (0.4, 0.5),
        ("B", "A"): (0.4, 2 / 3),
        ("A", "C"): (0.4, 0.5),
        ("C", "A"): (0.4, 1.0),
    }
    assert set(found(dataset, 0.4, 0.6)) == {("B", "A"), ("C", "A")}
    assert found(dataset, 0.2, 0.01)["C", "B"] == (0.2, 0.5)
    assert found(dataset, 0.41, 0.01) == {}


def test_a_share_that_is_met_exactly_counts() -> None:
    # 0.07 * 100 is a little more than 7 in binary.
    histories = {f"{user:03d}": "AB" if user < 7 else "C" for user in range(100)}
    assert set(found(dataset_of(histories), 0.07, 1.0)) == {("A", "B"), ("B", "A")}
    assert found(dataset_of(histories), 0.08, 0.01) == {}


@given(
    st.lists(st.sets(st.sampled_from("ABCDEFGH"), min_size=1), min_size=1, max_size=12),
    st.sampled_from([0.01, 0.2, 0.25, 0.5, 1.0]),
    st.sampled_from([0.01, 0.3, 0.5, 1.0]),
    st.integers(1, 3),
)
def test_rules_are_those_of_a_plain_count(
    histories: list[set[str]],
    support: float,
    confidence: float,
    block: int,
) -> None:
    expected = {}
    for a, b in itertools.permutations("ABCDEFGH", 2):
        with_a = [own for own in histories if a in own]
        together = sum(b in own for own in with_a)
        if (
            together
            and together / len(histories) >= support
            and together / len(with_a) >= confidence
        ):
            expected[a, b] = (together / len(histories), together / len(with_a))
    dataset = dataset_of({str(user): sorted(own) for user, own in enumerate(histories)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "BLOCK", block)
        assert found(dataset, support, confidence) == expected


def test_rules_are_sorted() -> None:
    rng = np.random.default_rng(0)
    dataset = dataset_of(
        {
            str(user): [str(item) for item in rng.choice(30, 8, replace=False)]
            for user in range(50)
        },
    )
    mined = rules.mine(Histories.of(dataset, 1), 0.01, 0.01)
    pairs = list(zip(mined.antecedent.tolist(), mined.consequent.tolist(), strict=True))
    assert len(mined) == len(pairs) > 100
    assert pairs == sorted(pairs)

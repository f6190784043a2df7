"""What a stage lacks of the lists of another side."""

import pytest

from pytest_recsys_mt.oracles import few_items_lost
from tests.oracles.support import sides

FIVE = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("source", "followup", "lost"),
    [
        ([FIVE], [["x", *reversed(FIVE)]], 0.0),  # the place does not count
        ([[*FIVE, "beyond k"]], [FIVE], 0.0),
        ([["a", "a", "b"]], [["b"]], 0.5),
        ([FIVE], [[]], 1.0),
        # Each answer counts, also where one side gives more of them.
        ([FIVE], [FIVE, FIVE[:4]], 0.1),
        ([FIVE, ["x", *FIVE[1:]]], [FIVE], 0.1),
    ],
)
def test_the_share_of_items_that_are_lost(
    source: list[list[str]],
    followup: list[list[str]],
    lost: float,
) -> None:
    verdict = few_items_lost(*sides([source] * 40, [followup] * 40))
    values = list(verdict.per_user.values())
    assert values
    assert values == pytest.approx([lost] * len(values))


def test_nothing_can_be_lost_of_an_empty_list() -> None:
    verdict = few_items_lost(*sides([[[]]] * 40, [[FIVE]] * 40))
    assert verdict.status != "holds"

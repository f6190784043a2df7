"""Many runs that are killed and resumed cost what fresh runs
cost, and what was on its way at each kill.
"""

from pathlib import Path

import pytest

from tests.durability.many_kills import kill_many
from tests.durability.project import Counting


@pytest.mark.slow  # `python -m tests.durability.many_kills` kills hundreds
@pytest.mark.parametrize(
    ("kills", "options"),
    [(16, ()), (4, ("-n", "2"))],
    ids=["one process", "two workers"],
)
def test_killed_runs_cost_what_fresh_ones_cost_and_what_was_on_its_way(
    counting: Counting,
    tmp_path: Path,
    kills: int,
    options: tuple[str, ...],
) -> None:
    bill = kill_many(kills, 1, tmp_path, counting, *options)
    print(bill.told())
    assert len(bill.lost) == kills

"""Whatever a server does: no run hangs, overspends,
loses its record or gives the key away.
"""

from pathlib import Path

import pytest

from tests.hostile.faults import BILLED, FAULTS
from tests.hostile.runs import ANSWER, check, check_bill, run
from tests.hostile.server import HostileServer


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_alone(name: str, tmp_path: Path) -> None:
    limit = 20 * ANSWER
    with HostileServer({name: FAULTS[name]}, 1.0, BILLED) as server:
        ended = run(server, tmp_path, f"--recsys-max-usd={limit}")
    check(ended)
    check_bill(server, limit)


@pytest.mark.parametrize(
    ("share", "users"),
    [
        (0.2, 10),
        *(
            pytest.param(share, 100, marks=pytest.mark.slow)
            for share in (0.05, 0.2, 0.5)
        ),
    ],
)
def test_all_of_them_mixed_with_good_answers(
    share: float,
    users: int,
    tmp_path: Path,
) -> None:
    with HostileServer(FAULTS, share, BILLED) as server:
        ended = run(server, tmp_path, users=users)
    check(ended)
    assert ended.record is not None
    calls = ended.record["calls"]
    asked = calls["made"] + calls["failed"]
    # A verdict asks no more users than it needs; ten are needed in any case.
    assert asked == calls["planned"] if users == 10 else 0 < asked <= calls["planned"]
    # What fails is sent again, and mostly answered then.
    assert calls["made"] >= (1 - share) * asked
    assert ended.cached > 0


def test_a_limit_holds_among_faults(tmp_path: Path) -> None:
    limit = 20 * ANSWER
    with HostileServer(FAULTS, 0.5, BILLED) as server:
        ended = run(server, tmp_path, f"--recsys-max-usd={limit}")
    check(ended)
    check_bill(server, limit)


def test_a_limit_that_failures_reach_names_them(tmp_path: Path) -> None:
    name = "frame: no HTTP"
    with HostileServer({name: FAULTS[name]}, 1.0, BILLED) as server:
        ended = run(server, tmp_path, f"--recsys-max-usd={10 * ANSWER}")
    assert "is reached, mostly by calls that failed (" in ended.message

"""A limit a day holds over runs, also over those that were
killed and those that run side by side.
"""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from pytest_recsys_mt import CacheError
from tests.durability.project import CALLS, Counting, Project
from tests.support.calls import AT_ONCE, Accounts, Budget, DayAccount, Limits, days
from tests.support.cli import main

NIGHT = 1_800_000_000.0 // 86_400 * 86_400


def test_a_day_begins_anew_at_midnight_and_what_was_spent_stays(tmp_path: Path) -> None:
    now = NIGHT - 60
    budget = DayAccount(Limits(calls=3, usd=1.0), tmp_path, "pytest -q", lambda: now)
    other = DayAccount(Limits(calls=3, usd=1.0), tmp_path, "pytest -x", lambda: now)
    for each, model in ((budget, "one"), (other, "two"), (budget, "one")):
        each.open()
        each.spend(10, 0.25, model=model)
        each.close()
    other.open()
    assert other.reached.startswith(
        "-o recsys_calls_a_day=3 is reached: 3 calls, 30 tokens and $0.75",
    )
    now = NIGHT
    other.open()
    assert (other.calls, other.reached) == (0, "")
    other.spend(5, 0.5, model="two")
    other.close()
    found = {day: [tuple(each) for each in rows] for day, rows in days(tmp_path)}
    assert list(found.values()) == [
        [("one", "pytest -q", 2, 20.0, 0.5), ("two", "pytest -x", 1, 10.0, 0.25)],
        [("two", "pytest -x", 1, 5.0, 0.5)],
    ]


def test_what_is_reserved_is_booked_until_it_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    folder.mkdir()
    limits = Limits(calls=5)
    both = Accounts(
        Budget(Limits(calls=9), folder / "run.json"),
        DayAccount(limits, folder, "run", lambda: NIGHT),
    )
    both.open()
    assert both.room([(0, 0)] * 9) == 5
    both.reserve([(0, 0)] * 4, "model")
    dead = DayAccount(limits, folder, "next", lambda: NIGHT)
    dead.open()
    assert (dead.calls, dead.room([(0, 0)] * 9)) == (4, 1)
    both.spend(7, 0.0, model="model")
    both.close()
    dead.open()
    assert (dead.calls, dead.tokens) == (1, 7)


def test_a_damaged_account_is_an_error_and_not_a_fresh_day(tmp_path: Path) -> None:
    budget = DayAccount(Limits(calls=3), tmp_path, "pytest", lambda: NIGHT)
    budget.open()
    budget.close()
    (path,) = tmp_path.glob("day-*.json")
    path.write_text("[[1]]")
    with pytest.raises(CacheError, match=r"cannot be read from .*remove it"):
        budget.open()


def test_killed_runs_and_those_beside_them_share_a_limit_a_day(
    project: Project,
    counting: Counting,
    capsys: pytest.CaptureFixture[str],
) -> None:
    most = 100
    (project.folder / "pytest.ini").write_text(
        f"[pytest]\nrecsys_calls_a_day = {most}\n",
    )
    counting.delay = 0.02
    killed = project.start()
    while counting.asked.total() < 20:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    _, planned = project.run("--recsys-plan")
    spent = planned.partition(f"recsys_calls_a_day={most} leaves ")[2]
    booked = most - int(spent.split()[0])
    assert counting.asked.total() <= booked <= counting.asked.total() + AT_ONCE
    assert "which ends the run earlier" in " ".join(spent.split())
    beside: list[subprocess.Popen[str]] = [project.start(), project.start("-n2")]
    for each in beside:
        each.communicate(timeout=120)
    assert most - AT_ONCE <= counting.asked.total() <= most < CALLS
    code, output = project.run()
    assert code == 1
    told = " ".join(output.split())
    assert f"recsys_calls_a_day={most} is reached" in told
    assert counting.asked.total() <= most
    assert main(["cache", "spent", "--cache", str(project.cache)]) == 0
    table = capsys.readouterr().out
    assert sum(int(line.split()[1]) for line in table.splitlines()[1:]) == most
    assert "openai:tiny" in table

"""A suite that is green, what it would miss, what is
pasted to find it, and a stop on the way.
"""

import shlex
import signal
import subprocess

import pytest

from tests.journeys.pages import Journey

MUTATE = (
    "recsys-mt mutate --recsys-users=100 --recsys-model=shop.py:Shop --recsys-model=shop.py:Bestsellers "
    "--faults repeats --json stopped.json"
)


@pytest.mark.slow
def test_would_your_tests_notice(journey: Journey) -> None:
    journey.follow("would-your-tests-notice")
    found = journey.record("adequacy.json")
    assert {
        trial["fault"]: trial["fate"] for trial in found["trials"]
    } == dict.fromkeys(
        ("first_place:3", "latest_only:3", "ignores_ratings:1", "knows_names:1"),
        "killed",
    )
    (score,) = found["scores"]
    assert (score["model"], score["share"], score["equivalent_killed"]) == (
        "shop.py:Shop",
        1.0,
        0,
    )
    a_stopped_command_goes_on(journey)


def a_stopped_command_goes_on(journey: Journey) -> None:
    with subprocess.Popen(
        shlex.split(MUTATE),
        cwd=journey.folder,
        env=journey.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as stopped:
        assert stopped.stderr is not None
        for line in stopped.stderr:
            if line.startswith("1/3"):
                stopped.send_signal(signal.SIGINT)
                break
        said = stopped.communicate()[1]
    assert stopped.returncode == 130, said
    assert "Traceback" not in said
    assert not (journey.folder / "stopped.json").exists()
    again = subprocess.run(
        shlex.split(MUTATE),
        cwd=journey.folder,
        env=journey.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1/3 repeats:0.2: killed (kept)" in again.stderr
    models = [score["model"] for score in journey.record("stopped.json")["scores"]]
    assert models == ["shop.py:Shop", "shop.py:Bestsellers"]

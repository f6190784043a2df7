"""A clock that goes back, jumps or leaves summer time, and a process that is stopped
for a while, change no verdict.
"""

import os
import signal
import sys
import time

import pytest

from tests.durability.project import CALLS, Counting, Project

CLOCKS = {
    "goes back by 5 s with each look": "told = [0]\ndef now():\n    told[0] += 5\n    return real() - told[0]",
    "jumps by 30 years": "first = real()\ndef now():\n    return real() + 1e9 * (real() - first > 3)",
    "leaves summer time": """
import os
os.environ["TZ"] = "Europe/Berlin"
time.tzset()
first = real()
def now():
    return 1792893598 + real() - first""",
}


@pytest.mark.slow  # nothing but the time that a run says depends on the clock
@pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows has neither tzset nor SIGSTOP",
)
@pytest.mark.parametrize("kind", [*CLOCKS, "is stopped"])
def test_a_run_goes_on(kind: str, project: Project, counting: Counting) -> None:
    _, said = project.run()
    expected = project.found()
    counting.asked.clear()
    other = Project(project.folder / "other" / project.folder.name, counting.server.url)
    if kind in CLOCKS:
        code = f"import time\nreal = time.time\n{CLOCKS[kind]}\ntime.time = now\n"
        (other.folder / "sitecustomize.py").write_text(code)
        other.environment["PYTHONPATH"] = str(other.folder)
    counting.delay = 0.05
    process = other.start()
    while process.poll() is None and counting.asked.total() < CALLS / 2:
        time.sleep(0.01)
    if kind == "is stopped":
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(3)
        os.killpg(process.pid, signal.SIGCONT)
    said, _ = process.communicate(timeout=120)
    assert process.returncode in (0, 1), said
    found = other.found()
    assert found["calls"]["made"] == CALLS
    assert found["time"]["seconds"] >= 0
    own = {"calls": None, "time": None, "drift": None}
    assert {**found, **own} == {**expected, **own}

"""Every test that a usual run leaves out is there, and none of
them is the one that finds a planted fault.
"""

import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SLOW = tomllib.loads((TESTS / "slow.toml").read_text())
PLANTED = (TESTS / "planted.toml").read_text()


def test_they_are_there_and_find_no_planted_fault_alone() -> None:
    for test in (test for tests in SLOW.values() for test in tests):
        file, _, name = test.partition("::")
        function, _, case = re.sub(r"\]$", "", name).partition("[")
        assert f"def {function}(" in (TESTS / file).read_text(), test
        assert test not in PLANTED, test
        assert case or f"::{function}" not in PLANTED, test

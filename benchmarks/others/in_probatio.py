"""probatio-llm: `order_invariant` of 40 cases that pass if the user's five best of the
exact list are in the answer.

Its relation compares whether a case passes before and after a shuffle, not two answers.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from experiment import Shop

SUITE = """
import os
from pathlib import Path
import pytest
from experiment import Shop
from probatio import load_cases, order_invariant

SHOP = Shop(os.environ["KIND"], os.environ["SEED"])
CASES = load_cases(Path(__file__).parent / "cases")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@order_invariant(field="input.candidates")
def test_order(case, probatio):
    def answer(asked):
        listed = SHOP.recommend(asked.input["user"], asked.input["candidates"])
        return " ".join(f"item{item:02}" for item in listed)

    probatio.check(case, sut=answer)
"""


def ask(kind: str, seed: int) -> dict[str, Any]:
    """Violations of the relation and failed cases; no violation fails the build."""
    exact = Shop("exact")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_order.py").write_text(SUITE, encoding="utf-8")
        Path(folder, "cases").mkdir()
        for user in range(40):
            best = exact.recommend(user, exact.offers[user])[:5]
            case = {
                "id": f"user{user:02}", "input": {"user": user, "candidates": exact.offers[user]},
                "assertions": [{"type": "contains", "all": [f"item{item:02}" for item in best]}],
            }  # fmt: skip
            # JSON is YAML.
            Path(folder, "cases", f"{user:02}.yaml").write_text(
                json.dumps(case),
                encoding="utf-8",
            )
        here = str(Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--tb=no", "--runs=5", "-p", "no:cacheprovider", folder],
            env={**os.environ, "KIND": kind, "SEED": str(seed), "PYTHONPATH": here},
            capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
    row = re.search(r"order_invariant +\d+ +\d+ +(\d+)/(\d+) +([\d.]+)", done.stdout)
    if row is None:
        raise RuntimeError(done.stdout + done.stderr)
    failed = re.search(r"(\d+) failed", done.stdout)
    return {
        "relation": {
            "red": False, "violations": int(row[1]), "of": int(row[2]), "failed": int(failed[1]) if failed else 0,
        },
    }  # fmt: skip

"""The metamorphic suite runs on each described format, with a
classical recommender and with a text model.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.datasets import files
from tests.datasets.field_formats import FORMATS, Row

MODEL = '''
import re
from pytest_recsys_mt import Completion

class Copies:
    """Copies the first ten titles that it is offered."""

    deterministic = True

    def complete(self, prompts):
        return [Completion(self.answer(prompt.messages[-1].content)) for prompt in prompts]

    def answer(self, text):
        offered = re.findall(r"^\\d+\\. (.+)$", text, re.MULTILINE)
        return "\\n".join(f"{at}. {title}" for at, title in enumerate(offered[:10], 1))
'''
SUITE = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"
START = 1_500_000_000
ROWS = [
    Row(
        user,
        (user * 7 + step * (1 + user % 5)) % 61,
        1 + (user * step) % 5,
        START + 90_000 * step + user,
    )
    for user in range(70)
    for step in range(12)
]


@pytest.mark.slow  # the reader's own tests read each format
@pytest.mark.parametrize("model", ["itemknn", "copies:Copies"])
@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_suite_runs_on_a_format(
    pytester: pytest.Pytester,
    name: str,
    model: str,
) -> None:
    pytester.makepyfile(copies=MODEL)
    written = FORMATS[name](ROWS)
    folder = files.write(Path(pytester.path) / "data", written)
    pytester.runpytest_subprocess(
        SUITE, f"--recsys-model={model}", "--recsys-json=r.json",
        f"--recsys-data={folder / next(iter(written))}", "--recsys-users=40", "--recsys-effort=quick",
        "-p", "no:cacheprovider", "-q",
    )  # fmt: skip
    rows = json.loads((pytester.path / "r.json").read_text())["results"]
    counts = {
        status: sum(row["status"] == status for row in rows)
        for status in ("error", "holds")
    }
    assert counts["error"] == 0
    assert counts["holds"] > 0
    shuffled = next(row for row in rows if row["relation"] == "shuffle_candidates")
    assert shuffled["status"] == ("holds" if model == "itemknn" else "violated")

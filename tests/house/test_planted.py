"""The faults of tests/planted.toml, which
scripts/plant-faults plants, can still be planted.
"""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAULTS = tomllib.loads((ROOT / "tests" / "planted.toml").read_text(encoding="utf-8"))[
    "fault"
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["why"])
def test_a_planted_fault_is_another_program(fault: dict[str, str]) -> None:
    text = (ROOT / fault["file"]).read_text(encoding="utf-8")
    assert text.count(fault["old"]) == 1
    faulty = text.replace(fault["old"], fault["new"])
    assert ast.dump(ast.parse(faulty)) != ast.dump(ast.parse(text))
    assert (ROOT / fault["tests"]).is_dir()
    file, _, test = fault.get("found_by", "").partition("::")
    if file:
        assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text(
            encoding="utf-8",
        )

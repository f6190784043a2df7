"""`scripts/test --changed` runs the tests of what was
changed, and of what stands on it.
"""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def changed() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "changed",
        ROOT / "scripts" / "changed.py",
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("file", "with_it", "without_it"),
    [
        ("pytest_recsys_mt/datasets/times.py", "tests/datasets", "tests/gate"),
        ("oracles/unmoved.py", "tests/oracles", "tests/datasets"),
        ("pytest_recsys_mt/gate/states.py", "tests/report", "tests/llm"),
        ("suites/metamorphic/test_sizes.py", "tests/suites", "tests/engine"),
        ("pytest_recsys_mt/llm/api/dialect.py", "tests/models", "tests/gate"),
        ("pytest_recsys_mt/cli/arguments.py", "tests/report", "tests/llm"),
        ("docs/gate.md", "tests/guide", "tests/oracles"),
        ("tests/llm/test_forms.py", "tests/llm/test_forms.py", "tests/oracles"),
        ("tests/llm/forms.py", "tests/llm", "tests/oracles"),
    ],
)
def test_a_change_concerns_its_room_and_those_above(
    changed: ModuleType,
    file: str,
    with_it: str,
    without_it: str,
) -> None:
    found = changed.concerned([file])
    assert with_it in found
    assert without_it not in found
    assert "tests/house" in found


def test_no_test_is_collected_twice(changed: ModuleType) -> None:
    found = changed.concerned(["tests/llm/forms.py", "tests/llm/test_forms.py"])
    assert found == ["tests/house", "tests/llm"]


def test_every_room_with_tests_of_its_name_is_known(changed: ModuleType) -> None:
    rooms = {room for room in changed.ROOMS if (ROOT / "tests" / room).is_dir()}
    assert len(rooms) > 12
    assert all(
        (ROOT / "tests" / folder).is_dir()
        for folders in changed.BESIDE.values()
        for folder in folders
    )

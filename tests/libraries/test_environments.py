"""Each library's adapters pass their tests in the environment of that library."""

import os
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "libraries"))
LIBRARIES = SCRIPT["LIBRARIES"]


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_librarys_adapters_pass_in_its_environment(name: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get("RECSYS_LIBRARIES", ROOT / ".libraries"))
    if not (folder / name / "done.json").is_file():
        pytest.skip(f"{folder} has no environment of it: scripts/libraries {name}")
    SCRIPT["check_adapters"](
        name,
        SCRIPT["environment"](name, folder.absolute()),
        tmp_path,
    )


def test_every_adapter_has_an_environment_and_a_line_in_the_docs() -> None:
    files = {file.name for file in (ROOT / "examples" / "libraries").glob("*.py")}
    assert files == {f"{name}_models.py" for name in LIBRARIES}
    page = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
    for name, library in LIBRARIES.items():
        assert f"| `{name}_models.py` |" in page
        package, _, version = library.needs[0].partition("==")
        assert f"{package} {version}" in page.replace("RecTools", "rectools")


def test_each_library_has_models_that_are_compared() -> None:
    from tests.libraries.test_saved_models import CASES as SAVED
    from tests.libraries.test_the_librarys_own_answers import CASES

    assert {case.library for case in CASES} == set(LIBRARIES)
    assert {case.library for case in SAVED} == set(LIBRARIES)

"""Each script of examples/findings shows a defect of a library, and
docs/measured/findings.md tells of it.
"""

import ast
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "findings"))
SCRIPTS = sorted((ROOT / "examples" / "findings").glob("*.py"))
PAGE = (ROOT / "docs" / "measured" / "findings.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_shows_its_defect_in_the_version_that_the_page_names(
    script: Path,
) -> None:
    folder = Path(os.environ.get("RECSYS_LIBRARIES", ROOT / ".libraries")).absolute()
    name = SCRIPT["library_of"](script)
    python = folder / name / "bin" / "python"
    if not python.is_file():
        pytest.skip(f"{folder} has no environment of it: scripts/libraries {name}")
    done = SCRIPT["run"](script, python)
    assert SCRIPT["verdict"](done) == "shows", done.stdout + done.stderr


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_page_tells_of_every_script_and_the_script_is_short(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "it says nothing of what is wrong"
    assert len(text.splitlines()) <= 25
    assert f"`{script.stem}`" in PAGE


def test_every_script_of_the_page_is_there() -> None:
    named = {line.split("`")[1] for line in PAGE.splitlines() if line.startswith("| `")}
    assert named == {script.stem for script in SCRIPTS}


@pytest.mark.parametrize(
    ("code", "said", "expected"),
    [
        (1, "seen: 2", "shows"),
        (0, "seen: 1", "gone"),
        (
            1,
            "",
            "script failed with 1",
        ),  # such as an import that fails: no word of what was seen
        (-11, "seen: 2", "script failed with -11"),
    ],
)
def test_only_a_script_that_saw_the_defect_says_that_it_shows(
    code: int,
    said: str,
    expected: str,
    tmp_path: Path,
) -> None:
    script = tmp_path / "library_thing.py"
    leave = f"sys.exit({code})" if code >= 0 else f"os.kill(os.getpid(), {-code})"
    script.write_text(f"import os, sys\nprint({said!r}, flush=True)\n{leave}\n")
    assert SCRIPT["verdict"](SCRIPT["run"](script, Path(sys.executable))) == expected


def test_an_unknown_library_is_refused_with_those_that_have_findings() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "findings"), "lightfm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert (
        "'lightfm' has no findings; those that have are cornac, implicit" in done.stderr
    )

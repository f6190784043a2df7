"""What a run costs, counted rather than timed: a change that makes it dearer raises a
figure here, on purpose.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MOST_MODULES = 530
"""Modules of ours that a quick run of the suites imports."""

MOST_CALLS = 480_000
"""Calls of our functions that it makes; about 2 % above what was counted."""

COUNTER = """
import cProfile
import json
import os
import pstats
import sys

profile = cProfile.Profile()


def pytest_configure():
    profile.enable()


def pytest_unconfigure():
    profile.disable()
    names = sorted(sys.modules)
    folders = [os.path.realpath(os.path.dirname(sys.modules["pytest_recsys_mt"].__file__))]
    folders += [os.path.realpath(os.path.join(folders[0], each)) for each in ("oracles", "relations", "suites")]
    entries = pstats.Stats(profile).stats
    files = {name: any(os.path.realpath(name).startswith(each) for each in folders) for name, _, _ in entries}
    calls = sum(entry[1] for (name, _, _), entry in entries.items() if files[name])
    with open(os.environ["COUNTED"], "w") as file:
        json.dump({"modules": names, "calls": calls}, file)
"""


def _counted(folder: Path, *arguments: str) -> dict[str, Any]:
    """The modules that a run has imported, and the calls of our functions."""
    (folder / "counter.py").write_text(COUNTER)
    (folder / "pytest.ini").write_text("[pytest]\n")
    own = {
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path[1:]]),
        "COUNTED": str(folder / "counted.json"),
        "PYTHONHASHSEED": "0",
    }
    plain = ("-m", "pytest", "-q", "-p", "counter", "-p", "no:cacheprovider")
    subprocess.run(
        [sys.executable, *plain, f"--recsys-cache={folder / 'answers'}", *arguments],
        cwd=folder,
        env={**os.environ, **own},
        capture_output=True,
        check=True,
    )
    counted: dict[str, Any] = json.loads((folder / "counted.json").read_text())
    return counted


def _packages(modules: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_a_run_without_recommenders_imports_no_library(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    # Kept runs of tests that have recommenders stand beside it.
    (tmp_path / ".recsys" / "runs").mkdir(parents=True)
    modules = _counted(tmp_path, "test_other.py")["modules"]
    assert not _packages(modules) & {"numpy", "scipy", "pandas", "diskcache"}
    assert "pytest_recsys_mt.plugin.earlier" in modules


def test_a_quick_run_costs_what_it_did(tmp_path: Path) -> None:
    counted = _counted(
        tmp_path,
        *("--pyargs", "pytest_recsys_mt.suites", "--recsys-effort=quick"),
        "--recsys-keep=no",
    )
    modules = counted["modules"]
    assert not {"scipy.stats", "scipy.optimize", "scipy.sparse.csgraph"} & {*modules}
    heavy = {"torch", "transformers", "openai", "httpx", "polars"}
    assert not _packages(modules) & heavy
    ours = [name for name in modules if name.startswith("pytest_recsys_mt")]
    assert 100 < len(ours) <= MOST_MODULES, "\n".join(ours)
    assert 0.9 * MOST_CALLS < counted["calls"] <= MOST_CALLS

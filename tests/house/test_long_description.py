"""What a package index shows: the README, with links that lead somewhere from there."""

import re
import shutil
import subprocess
import sys
import tomllib
from email import message_from_string
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
FOLDERS = ("pytest_recsys_mt", "oracles", "relations", "suites")


def test_the_links_of_the_built_metadata_are_absolute_and_lead_to_files(
    tmp_path: Path,
) -> None:
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored, symlinks=True)
    made = "from setuptools.build_meta import prepare_metadata_for_build_wheel as make; make('.')"
    subprocess.run(
        [sys.executable, "-c", made],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    (path,) = tmp_path.glob("*.dist-info/METADATA")
    metadata = message_from_string(path.read_text(encoding="utf-8"))
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = metadata.get_payload()
    assert isinstance(text, str)
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", text)
    assert len(links) > 15
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    home = project["urls"]["Repository"]
    assert f"Repository, {home}" in metadata.get_all("Project-URL", [])
    for mark, target in links:
        assert target.startswith("https://"), target
        place = target.removeprefix(f"{home}/{'raw' if mark else 'blob'}/main/")
        assert place != target, target
        assert (ROOT / place.partition("#")[0]).exists(), target


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 155

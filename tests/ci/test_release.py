"""A rehearsal of the release: its archives are installed by name
from an index, and do what the README says.
"""

import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.pages import FOREIGN, STATUS, Command, Journey, steps_of

ROOT = Path(__file__).resolve().parents[2]
NAME = "pytest-recsys-mt"
VERSION = "999.0.0"
"""No index has this one or a later one, and no section of the changelog is of it."""
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not FOREIGN.fullmatch(name)},
    "PYTHON": sys.executable,
    # Whoever signs commits would be asked for a password.
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{f"GIT_{who}_{what}": "rehearsal" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}  # fmt: skip


def run(folder: Path, *command: str | Path, ends: int = 0, given: bytes = b"") -> str:
    """What a command prints; it has to end with this status."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=ENVIRONMENT, input=given, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
    )  # fmt: skip
    printed = done.stdout.decode()
    assert done.returncode == ends, (
        f"{command} ended with {done.returncode}:\n{printed}"
    )
    return printed


def clone(place: Path) -> Path:
    """A fresh clone with what is changed here, as a commit of
    another version; nothing can be pushed from it.
    """
    run(ROOT, "git", "clone", "-q", "--no-hardlinks", ROOT, place)
    run(place, "git", "remote", "remove", "origin")
    changed = subprocess.run(
        ["git", "diff", "--binary", "HEAD"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    if changed.stdout:
        run(place, "git", "apply", "--index", given=changed.stdout)
    declared = place / "pyproject.toml"
    text = declared.read_text(encoding="utf-8")
    text, count = re.subn('(?m)^version = ".+"$', f'version = "{VERSION}"', text)
    assert count == 1
    declared.write_text(text, encoding="utf-8")
    (place / "changelog.d" / "+rehearsal.new.md").write_text(
        "A rehearsal of a release.\n",
    )
    run(place, "git", "add", "--all")
    run(place, "git", "commit", "-q", "-m", "What is changed here")
    return place


def fragments_of(folder: Path) -> dict[str, str]:
    """The fragments of the changelog, by name."""
    files = (folder / "changelog.d").glob("+*")
    return {file.name: file.read_text(encoding="utf-8") for file in files}


def words(text: str) -> str:
    """A text without its line breaks and indents, which towncrier changes."""
    return " ".join(text.split())


def release(place: Path) -> Path:
    """Do what `scripts/release` says; the folder of what is to be published."""
    fragments = fragments_of(place)
    said = run(place, "scripts/release")
    assert "commit it" in said
    assert fragments_of(place) == {}
    assert not (place / "dist").exists(), (
        "archives without the section could be published"
    )
    sections = (place / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")
    assert sections[1].startswith(f"{VERSION} ("), sections[1][:80]
    section = words(sections[1])
    assert [
        name for name, text in fragments.items() if words(text) not in section
    ] == []
    assert [each for each in sections[2:] if not each[0].isdigit()] == [], (
        "all is released now"
    )
    kinds = re.findall("(?m)^### (.+)$", sections[1])
    assert kinds == [kind for kind in ("New", "Changed", "Fixed") if kind in kinds]

    said = run(place, "scripts/release", ends=1)
    assert f"v{VERSION}" in said, "it names the tag that is missing"
    assert not (place / "dist").exists()
    run(place, "git", "commit", "-q", "-a", "-m", f"Release {VERSION}")
    run(place, "scripts/release", ends=1)
    run(place, "git", "tag", f"v{VERSION}")
    run(place, "scripts/release")
    assert run(place, "git", "status", "--porcelain") == ""
    return place / "dist"


def check_files(made: Path) -> dict[str, str]:
    """The published files with their digests, which are right;
    the parts list names the dependencies.
    """
    run(made, "sha256sum", "--check", "--strict", "SHA256SUMS")
    lines = (made / "SHA256SUMS").read_text().splitlines()
    sums = {
        Path(name).name: digest for digest, name in (line.split() for line in lines)
    }
    stem = NAME.replace("-", "_") + f"-{VERSION}"
    assert set(sums) == {
        f"{stem}.tar.gz",
        f"{stem}-py3-none-any.whl",
        f"{stem}-py3-none-any.cdx.json",
    }
    assert {file.name for file in made.iterdir()} == {*sums, "SHA256SUMS"}
    written = (made / f"{stem}-py3-none-any.cdx.json").read_text(encoding="utf-8")
    parts = json.loads(written)
    subject = parts["metadata"]["component"]
    assert (subject["name"], subject["version"]) == (NAME, VERSION)
    listed = {part["name"].lower() for part in parts["components"]}
    assert {"pytest", "numpy", "diskcache", "rapidfuzz"} <= listed
    assert not {"pip", "setuptools"} & listed
    assert "file:" not in written, "a path of this machine"
    return sums


@contextmanager
def index(folder: Path, made: Path, sums: dict[str, str]) -> Iterator[str]:
    """A package index (PEP 503) with these archives; its address."""
    room = folder / "simple" / NAME
    room.mkdir(parents=True)
    archives = [name for name in sums if name.endswith((".whl", ".tar.gz"))]
    for name in archives:
        (room / name).write_bytes((made / name).read_bytes())
    links = "".join(
        f'<a href="{name}#sha256={sums[name]}">{name}</a>\n' for name in archives
    )
    (room / "index.html").write_text(f"<!DOCTYPE html>\n<body>\n{links}</body>\n")
    handler = partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/simple/"
        finally:
            server.shutdown()
            thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def install(folder: Path, address: str) -> tuple[Path, str]:
    """Install the package by its name: the programs of a new environment, and the
    digest of what was taken.
    """
    run(folder, sys.executable, "-m", "venv", "reader")
    programs = folder / "reader" / "bin"
    run(
        folder, programs / "python", "-m", "pip", "install", "-q", "--extra-index-url", address,
        "--report", "report.json", NAME,
    )  # fmt: skip
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (taken,) = (
        one["download_info"]
        for one in report["install"]
        if one["metadata"]["name"] == NAME
    )
    assert taken["url"].startswith(address), "the package of another index"
    return programs, taken["archive_info"]["hashes"]["sha256"]


def built_from_source(folder: Path, programs: Path, address: str) -> dict[str, bytes]:
    """What is in the wheel that pip makes of the source distribution."""
    run(
        folder, programs / "python", "-m", "pip", "wheel", "-q", "--no-deps", "--no-binary", NAME,
        "--no-cache-dir", "--extra-index-url", address, "-w", "wheels", NAME,
    )  # fmt: skip
    (wheel,) = (folder / "wheels").glob("*.whl")
    return contents(wheel)


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.slow  # two minutes: it builds four times and installs four environments
def test_a_release_can_be_installed_by_name_and_does_what_the_readme_says(
    tmp_path: Path,
) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("a release is made of a git repository")
    before = run(ROOT, "git", "show-ref", "--head")
    made = release(clone(tmp_path / "clone"))
    sums = check_files(made)
    (wheel,) = made.glob("*.whl")
    (tmp_path / "index").mkdir()
    (tmp_path / "elsewhere").mkdir()
    with index(tmp_path / "index", made, sums) as address:
        programs, digest = install(tmp_path, address)
        assert (
            digest == sums[wheel.name] == hashlib.sha256(wheel.read_bytes()).hexdigest()
        )
        assert built_from_source(tmp_path, programs, address) == contents(wheel)
    page = ROOT / "README.md"
    steps = list(steps_of(page))
    commands = [step for step in steps if isinstance(step, Command)]
    assert [each.text for each in commands[1:2]] == [STATUS], (
        "the first shows how it ends"
    )
    journey = Journey(tmp_path / "elsewhere", lambda _: programs)
    journey.take(steps[: steps.index(commands[1]) + 1], page)
    where = journey.run("python -c 'import pytest_recsys_mt as it; print(it.__file__)'")
    assert where.stdout.startswith(f"{tmp_path / 'reader'}{os.sep}"), where.stdout
    assert VERSION in journey.run("recsys-mt --version").stdout
    assert run(ROOT, "git", "show-ref", "--head") == before, (
        "nothing is committed or tagged here"
    )

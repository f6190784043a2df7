"""What Windows and macOS differ in, as far as Linux can show
it: links, modules, file names, new processes.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("pytest_recsys_mt", "oracles", "relations", "suites")
LINKS = ("oracles", "relations", "suites")
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}
POSIX_NAMES = {
    "os": {
        "fork",
        "forkpty",
        "getegid",
        "geteuid",
        "getgid",
        "getuid",
        "killpg",
        "kill",
        "setsid",
    },
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "alarm", "setitimer"},
}
GUARDED = {
    "calls/users_code.py": {"resource"},
    "safety/files.py": {"os.geteuid"},
    "llm/api/transport.py": {"resource"},
    "plugin/interruptions.py": {"os.kill"},
}
"""What Windows lacks, or does something else with, stands
behind a condition in these files alone.
"""


def posix_only(tree: ast.AST) -> set[str]:
    """What a module uses and Windows lacks."""
    used = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names} & POSIX_MODULES
        elif isinstance(node, ast.ImportFrom):
            names = POSIX_NAMES.get(node.module or "", set())
            used |= {
                f"{node.module}.{alias.name}"
                for alias in node.names
                if alias.name in names
            }
            used |= {node.module or ""} & POSIX_MODULES
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            named = f"{node.value.id}.{node.attr}"
            used |= (
                {named} if node.attr in POSIX_NAMES.get(node.value.id, ()) else set()
            )
    return used


def test_what_windows_lacks_is_used_where_it_is_guarded() -> None:
    package = ROOT / "pytest_recsys_mt"
    found = {
        path.relative_to(package).as_posix(): used
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if folder != "pytest_recsys_mt"
        or not any(part.is_symlink() for part in path.parents)
        if (used := posix_only(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == GUARDED


LIKE_WINDOWS = """
import os, signal, sys
for module in ("fcntl", "pty", "resource", "termios", "tty"): sys.modules[module] = None
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "alarm", "setitimer"): delattr(signal, name)
for name in ("fork", "forkpty", "killpg", "setsid"): delattr(os, name)
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
"""Names are taken away. `os.name` and the users stay,
since the standard library follows them.
"""


def test_a_run_needs_nothing_that_windows_lacks(tmp_path: Path) -> None:
    suite = ROOT / "suites" / "metamorphic" / "test_ratings.py"
    shutil.copy(suite, tmp_path / "test_mine.py")
    shutil.copy(suite.with_name("thresholds.toml"), tmp_path)
    command = [sys.executable, "-c", LIKE_WINDOWS, "-q", "-p", "no:cacheprovider", "-p", "no:timeout",
               "test_mine.py", "-k", "scale", "--recsys-model=mostpop", f"--recsys-cache={tmp_path / 'cache'}",
               "--recsys-json=record.json"]  # fmt: skip
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "record.json").is_file()


@pytest.mark.parametrize("link", ["a text file", "missing"])
def test_the_package_imports_from_a_tree_without_links(
    tmp_path: Path,
    link: str,
) -> None:
    """As Windows checks the repository out, and as an unpacked source distribution is."""
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", *LINKS)
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in LINKS:
        if link == "a text file":
            (tmp_path / "pytest_recsys_mt" / name).write_text(
                f"../{name}",
                encoding="utf-8",
            )
    names = ", ".join(f"pytest_recsys_mt.{name}" for name in LINKS)
    code = f"import {names}; print(pytest_recsys_mt.oracles.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)


def test_names_of_files_are_names_everywhere() -> None:
    files = subprocess.run(
        ["git", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if files.returncode:
        pytest.skip("needs the git repository")
    paths = files.stdout.rstrip("\0").split("\0")
    assert len({path.casefold() for path in paths}) == len(paths)
    reserved = {
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{d}{n}" for d in ("com", "lpt") for n in range(10)),
    }
    for path in paths:
        for part in path.split("/"):
            assert part.split(".")[0].casefold() not in reserved, path
            assert not set(part) & set('<>:"|?*\\'), path
            assert not part.endswith((".", " ")), path

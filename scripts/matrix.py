"""Runs tests with every Python that is here, and with the lowest and the newest
packages that are allowed.

    .venv-release/bin/python scripts/matrix.py                 # prints the table
    .venv-release/bin/python scripts/matrix.py --write         # writes it into
    docs/installing.md .venv-release/bin/python scripts/matrix.py --only 3.13-lowest

``uv`` resolves and installs; `scripts/build-dist` makes ``.venv-release``. A Python is
one on the path (``python3.12``) or of pyenv. The lowest packages are, for each
dependency of ``pyproject.toml``, the first version that its lower bound admits and that
has a wheel for this Python: users do not compile. What these need in turn is the
newest. A cell installs the package as a wheel and runs `TESTS`, some of most rooms, and
the suite ``metamorphic``.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "installing.md"
OLDEST = (3, 11)
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
SHOWN = ("numpy", "scipy", "pandas", "pytest", "hypothesis", "openai", "aiohttp")
TOOLS = ("jinja2", "jsonschema", "pytest-timeout", "pytest-xdist", "pyyaml")
SUITES = ("--pyargs", "pytest_recsys_mt.suites.metamorphic")
TESTS = (
    "tests/datasets/test_loading.py",
    "tests/engine/test_cache.py",
    "tests/gate/test_policy.py",
    "tests/llm/test_known_films.py",
    "tests/models/test_openai_endpoint.py",
    "tests/oracles/test_similarities.py",
    "tests/plugin/test_metamorphic.py",
    "tests/recommenders/test_cosines.py",
    "tests/relations/test_ratings.py",
)
COUNTS = re.compile(r"(\d+) (passed|failed|skipped|errors?)")


def pythons() -> dict[str, str]:
    """The interpreters from `OLDEST` on, by minor version."""
    found: dict[tuple[int, int], str] = {}
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted((Path.home() / ".pyenv" / "versions").glob("*/bin"))
    for folder in folders:
        for path in folder.glob("python3.*"):
            if match := re.fullmatch(r"python(3)\.(\d+)(\.exe)?", path.name):
                minor = (int(match[1]), int(match[2]))
                if (
                    minor >= OLDEST
                    and os.access(path, os.X_OK)
                    and ".pyenv/shims" not in str(path)
                ):
                    found.setdefault(minor, str(path))
    return {f"{major}.{minor}": found[major, minor] for major, minor in sorted(found)}


def row(name: str, python: str, resolution: str, place: Path) -> tuple[str, bool]:
    """One cell of the matrix: its row of the table, and whether all tests passed."""
    uv = Path(sys.executable).with_name("uv")
    venv, lock = place / name, place / f"{name}.txt"
    inside = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    wheels = "--only-binary=:all:"

    def call(*command: object) -> None:
        subprocess.run([str(word) for word in command], cwd=ROOT, check=True)

    call(uv, "pip", "compile", "-q", wheels, "--python", python, "--resolution", resolution,
         "pyproject.toml", "-o", lock)  # fmt: skip
    call(uv, "venv", "-q", "--python", python, venv)
    call(
        uv,
        "pip",
        "install",
        "-q",
        wheels,
        "--python",
        inside,
        "-r",
        lock,
        "-c",
        lock,
        *TOOLS,
    )
    call(uv, "pip", "install", "-q", "--no-deps", "--python", inside, ".")
    counts: dict[str, int] = {}
    begin = time.monotonic()
    for tests in (TESTS, SUITES):
        command = [str(inside), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        environment = {
            **os.environ,
            "CI": "true",
            "XDG_CACHE_HOME": str(place / "cache"),
        }
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if (
            done.returncode not in (0, 1)
            or " failed" in done.stdout
            or "error" in done.stdout
        ):
            print(done.stdout[-6000:], done.stderr[-2000:], file=sys.stderr)
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
        for number, what in COUNTS.findall(last) or [("1", "error")]:
            counts[what] = counts.get(what, 0) + int(number)
    took = time.monotonic() - begin
    locked = dict(
        re.findall(r"^([\w-]+)==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE),
    )
    outcome = ", ".join(f"{number} {what}" for what, number in counts.items())
    shutil.rmtree(venv)
    cells = (*name.split("-"), *(locked[package] for package in SHOWN), outcome)
    print(f"{name}: {outcome}, {took:.0f} s", file=sys.stderr)
    return f"| {' | '.join(cells)} |", not set(counts) - {"passed", "skipped"}


def rows(only: str) -> Iterator[tuple[str, bool]]:
    """The rows of the table, one after the other."""
    with tempfile.TemporaryDirectory() as place:
        for version, python in pythons().items():
            for name, resolution in RESOLUTIONS.items():
                if only in ("", f"{version}-{name}"):
                    yield row(f"{version}-{name}", python, resolution, Path(place))


def main() -> int:
    """Run the matrix; 1 if a test failed, 2 if there is no such cell."""
    parser = argparse.ArgumentParser(
        description="Run tests on every Python, lowest and newest.",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="VERSION-NAME",
        help="one cell: 3.13-lowest",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the table into the docs",
    )
    arguments = parser.parse_args()
    made = list(rows(arguments.only))
    if not made:
        names = ", ".join(f"{v}-{name}" for v in pythons() for name in RESOLUTIONS)
        print(f"no cell {arguments.only!r}; there are {names}", file=sys.stderr)
        return 2
    head = ("Python", "packages", *SHOWN, "tests")
    lines = [
        f"| {' | '.join(head)} |",
        "|---" * len(head) + "|",
        *(line for line, _ in made),
    ]
    table = "\n".join(lines)
    print(table)
    if arguments.write:
        text = PAGE.read_text(encoding="utf-8")
        before, begin, rest = text.partition("<!-- matrix -->\n")
        _, end, after = rest.partition("<!-- end of matrix -->")
        PAGE.write_text(
            f"{before}{begin}{table}\n{end}{after}",
            encoding="utf-8",
            newline="\n",
        )
    return 0 if all(passed for _, passed in made) else 1


if __name__ == "__main__":
    sys.exit(main())

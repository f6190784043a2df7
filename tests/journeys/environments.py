"""Environments as readers of pages have them: the package with its core, and what a
page names.

They are made once, of the working tree, and are made anew when what is declared
changes.
"""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv-readers"
WHAT = ("pyproject.toml", "constraints.txt")


def programs_with(needs: Sequence[str] = ()) -> Path:
    """The folder of the programs of an environment.

    Args:
        needs: What is installed beside the core, as `pip` takes it: ``pytest-xdist``,
            ``.[html]``.
    """
    declared = [(ROOT / name).read_bytes() for name in WHAT]
    digest = hashlib.sha256(
        repr((sys.version, declared, sorted(needs))).encode(),
    ).hexdigest()[:12]
    place = PLACE / digest
    PLACE.mkdir(exist_ok=True)
    with FileLock(PLACE / f"{digest}.lock"):
        if not (place / "ready").exists():
            _make(place, needs)
    return place / "bin"


def _make(place: Path, needs: Sequence[str]) -> None:
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    extras = "".join(need.removeprefix(".") for need in needs if need.startswith("."))
    others = [need for need in needs if not need.startswith(".")]
    # No LiteLLM takes the versions of all that is fixed: its readers have what pip
    # finds for them.
    fixed = [] if "litellm" in extras else ["-c", "constraints.txt"]
    # Compiling all that is installed takes longer than what is used of it.
    pip = ("-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check")
    subprocess.run(
        [place / "bin" / "python", *pip, *fixed, "-e", f".{extras}", *others],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (place / "ready").touch()

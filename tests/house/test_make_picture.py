"""The pictures of the README and the guide show what a
command printed, and nothing else.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rich")
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_picture.py"
PRINTED = (
    "collected 1 item\n\x1b[31mVIOLATED\x1b[0m shuffle\nuser 7\nuser 9\n1 failed\n"
)


def draw(
    folder: Path,
    *options: str,
    run: tuple[str, ...] = (),
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SCRIPT), *options, "out.svg", *run]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_saved_output_is_drawn_from_start_to_end(tmp_path: Path) -> None:
    (tmp_path / "printed.ansi").write_text(PRINTED, encoding="utf-8")
    done = draw(
        tmp_path,
        "--start=VIOLATED",
        "--end=1 failed",
        "--most=2",
        "--output=printed.ansi",
    )
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert "VIOLATED" in drawn
    assert "user&#160;7" in drawn
    assert not any(
        hidden in drawn for hidden in ("user&#160;9", "failed", "collected", "http://c")
    )


def test_a_command_is_run_and_is_the_title(tmp_path: Path) -> None:
    done = draw(tmp_path, "--start=VIOLATED", run=("printf", "VIOLATED shuffle"))
    assert done.returncode == 0, done.stderr
    assert "printf&#160;VIOLATED" in (tmp_path / "out.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "run", "said"),
    [
        (("--output=printed.ansi",), ("printf", "x"), "either a command"),
        ((), (), "either a command"),
        (
            ("--start=HOLDS", "--output=printed.ansi"),
            (),
            "no line of the output holds 'HOLDS'",
        ),
    ],
)
def test_a_wrong_call_says_why(
    tmp_path: Path,
    options: tuple[str, ...],
    run: tuple[str, ...],
    said: str,
) -> None:
    (tmp_path / "printed.ansi").write_text(PRINTED, encoding="utf-8")
    done = draw(tmp_path, *options, run=run)
    assert done.returncode
    assert said in done.stderr
    assert not (tmp_path / "out.svg").exists()

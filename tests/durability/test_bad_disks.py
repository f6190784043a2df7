"""A real run on a disk that is damaged, full or read-only."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.durability.project import CALLS, Counting, Project
from tests.durability.test_kills import kept

pytestmark = pytest.mark.skipif(
    sys.platform == "win32",
    reason="limits and modes are of POSIX",
)

SHOP = """
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True
    fingerprint = "1"

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        best = sorted(request.candidates, key=lambda film: film.id)
        return Recommendation(tuple(film.id for film in best[: request.k]))
"""
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({0}, {0}))
"""
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


class Shop(Project):
    """A project whose recommender is in it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, None)
        # Python does not notice what is cut.
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        (folder / "shop.py").write_text(SHOP)

    def ask(
        self,
        *options: str,
        before: tuple[str, ...] = (),
    ) -> tuple[int, str, dict[str, Any]]:
        """The exit status, the output and the record of a run, started behind `before`."""
        self.record.unlink(missing_ok=True)
        done = subprocess.run(
            [
                *before, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q",
                "--recsys-model=shop.py:Shop", "--recsys-users=20", f"--recsys-cache={self.cache}",
                f"--recsys-json={self.record}", *options,
            ],
            cwd=self.folder, env=self.environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        record = json.loads(self.record.read_text()) if self.record.exists() else {}
        return done.returncode, done.stdout, record


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path / "shop")
    _, output, record = made.ask()
    assert record["calls"]["made"] == 60, output
    return made


@pytest.fixture
def read_only(shop: Shop) -> tuple[str, ...]:
    """What a run is started behind, so that it cannot write into the cache folder."""
    if os.geteuid() == 0:
        before = ("unshare", "-m", "bash", "-c", READ_ONLY, str(shop.cache))
        if (
            shutil.which("unshare") is None
            or subprocess.run([*before, "true"], check=False).returncode
        ):
            pytest.skip("root is bound by no permissions, and may mount nothing here")
        return before
    for path in (shop.cache / "answers", shop.cache):
        path.chmod(0o500)
    return ()


@pytest.mark.slow  # three runs; a full disk is the nearest of its kind
def test_a_read_only_cache_is_replayed_and_says_what_it_cannot_take(
    shop: Shop,
    read_only: tuple[str, ...],
) -> None:
    before = {path: path.stat().st_mtime_ns for path in shop.cache.rglob("*")}
    _, output, record = shop.ask("--recsys-mode=replay", before=read_only)
    assert record["calls"]["cached"] == 60, output
    assert {row["status"] for row in record["results"]} <= {"holds", "inconclusive"}
    code, output, record = shop.ask("--recsys-seed=1", before=read_only)
    assert code == 1
    assert "answers cannot be kept" in output
    assert "its folder is read-only; free some space" in output
    assert "name another folder with --recsys-cache" in output
    assert {row["status"] for row in record["results"]} == {"inconclusive"}
    assert before == {path: path.stat().st_mtime_ns for path in shop.cache.rglob("*")}


@pytest.mark.slow  # engine/test_cache_faults flips bits
def test_a_flipped_bit_costs_one_call_and_stops_nothing(shop: Shop) -> None:
    with sqlite3.connect(shop.cache / "answers" / "cache.db") as connection:
        connection.execute(
            "UPDATE Cache SET value = CAST(replace(CAST(value AS BLOB), '{', x'FB') AS TEXT) "
            "WHERE rowid = (SELECT min(rowid) FROM Cache)",
        )
    connection.close()
    code, output, record = shop.ask("--recsys-mode=replay")
    assert code == 1
    assert "1 answers of shop.py:Shop are not recorded" in output
    _, output, record = shop.ask()
    assert (record["calls"]["cached"], record["calls"]["made"]) == (59, 1), output


def test_on_a_full_disk_reports_that_cannot_be_written_are_named(shop: Shop) -> None:
    # The record is begun, and then too large, as the page is.
    (shop.folder / "conftest.py").write_text(LIMITED.format(4_000))
    options = (f"--recsys-html={shop.folder / 'report.html'}",)
    code, output, record = shop.ask(
        "--recsys-mode=replay",
        "--recsys-inconclusive=skip",
        *options,
    )
    assert code == 1
    for option in ("--recsys-json", "--recsys-html"):
        assert f"ERROR: recsys-mt: {option}=" in output
    assert "cannot be written: [Errno 27]" in output
    assert "Traceback" not in output
    assert record["gate"]["incomplete"][0].startswith(
        "the run that writes it has not ended",
    )
    assert "gate: " in output


def test_what_a_full_disk_does_not_take_is_judged_and_no_more_is_paid_for(
    project: Project,
    counting: Counting,
    pytester: pytest.Pytester,
) -> None:
    (project.folder / "conftest.py").write_text(LIMITED.format(400_000))
    code, output = project.run()
    assert code == 1
    assert "answers cannot be kept" in output
    record, on_disk = project.found(), len(kept(project))
    assert 0 < on_disk < record["calls"]["made"] < CALLS
    assert record["gate"]["incomplete"] == ["2 verdicts lack users that were not asked"]
    (project.folder / "conftest.py").unlink()
    code, output = project.run_here(pytester)
    assert code in (0, 1), output
    calls = project.found()["calls"]
    assert calls["cached"] == on_disk
    assert len(counting.asked) == CALLS + calls["again"]


@pytest.mark.skipif(
    not Path("/dev/full").exists(),
    reason="this system has no full device",
)
@pytest.mark.parametrize("command", [["prompts"], ["--version"]])
def test_output_that_no_disk_takes_is_one_line(command: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())", *command],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert (
        done.stderr
        == "recsys-mt: the output cannot be written: No space left on device\n"
    )

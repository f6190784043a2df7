"""A cache on a bad disk: a clear error or a call asked again, never a wrong answer."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pytest_recsys_mt import CacheError
from tests.support.calls import AnswerCache, key_of, write_answers

CALLS = [
    {"messages": [["user", f"film {number}? " + "x" * 300]]} for number in range(60)
]
ANSWERS = {
    key_of(call): {"text": f"{number}. Alien"} for number, call in enumerate(CALLS)
}


def fill(folder: Path) -> Path:
    cache = AnswerCache(folder)
    for call in CALLS:
        cache.put(key_of(call), call, ANSWERS[key_of(call)])
    cache.close()
    database = folder / "answers" / "cache.db"
    assert not database.with_name("cache.db-wal").exists(), "all is in the one file"
    return database


def read_all(folder: Path) -> tuple[int, int]:
    """How many answers are there, and how many reads failed; each other one is missing."""
    try:
        cache = AnswerCache(folder)
    except CacheError:
        return 0, 1
    found = failed = 0
    for key, answer in ANSWERS.items():
        try:
            there = cache.get(key)
        except CacheError:
            failed += 1
            continue
        assert there in (None, answer)
        found += there is not None
    cache.close()
    return found, failed


def test_a_damaged_database_gives_no_wrong_answer(tmp_path: Path) -> None:
    whole = fill(tmp_path / "whole").read_bytes()
    rng = np.random.default_rng(0)
    outcomes = []
    for number in range(40):
        damaged = bytearray(whole)
        for start in rng.integers(0, len(whole), size=rng.integers(1, 9)):
            length = len(damaged[start : start + int(rng.choice([1, 1, 600]))])
            damaged[start : start + length] = rng.integers(
                32,
                127,
                length,
                "uint8",
            ).tobytes()
        folder = tmp_path / str(number)
        folder.mkdir(mode=0o700)
        (folder / "answers").mkdir()
        (folder / "answers" / "cache.db").write_bytes(damaged)
        outcomes.append(read_all(folder))
    assert any(found < len(ANSWERS) and not failed for found, failed in outcomes)
    assert any(failed for _, failed in outcomes)


@pytest.mark.parametrize("replaced", [False, True])
def test_no_answer_goes_into_a_folder_that_is_gone(
    tmp_path: Path,
    replaced: bool,
) -> None:
    fill(tmp_path / "c")
    cache = AnswerCache(tmp_path / "c")
    (tmp_path / "c").rename(tmp_path / "away")
    if replaced:
        fill(tmp_path / "c")
    (key, answer), *_ = ANSWERS.items()
    with pytest.raises(CacheError, match="removed or replaced while this run goes on"):
        cache.put(key, CALLS[0], answer)
    assert "removed or replaced" in cache.unwritable
    cache.close()


def test_a_database_cut_off_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    database = fill(tmp_path)
    os.truncate(database, database.stat().st_size // 2)
    with pytest.raises(CacheError, match=r"malformed.*move the folder away"):  # noqa: PT012
        cache = AnswerCache(tmp_path)
        for key in ANSWERS:
            cache.get(key)


LIMITED = """
import resource, sys
from pathlib import Path
sys.dont_write_bytecode = True  # Python does not notice what is cut
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.safety.errors import CacheError
from tests.engine.test_cache_faults import CALLS, ANSWERS
from pytest_recsys_mt.calls.call import key_of

cache = AnswerCache(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for number, call in enumerate(CALLS):
    try:
        cache.put(key_of(call), call, ANSWERS[key_of(call)])
    except CacheError as error:
        print(number, error)
        break
"""


def run_python(code: str, *arguments: object) -> subprocess.Popen[str]:
    root = Path(__file__).resolve().parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=root, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are of POSIX")
def test_on_a_full_disk_what_was_kept_stays_and_the_rest_is_an_error(
    tmp_path: Path,
) -> None:
    output, _ = run_python(LIMITED, tmp_path).communicate()
    number, _, text = output.partition(" ")
    assert 0 < int(number) < len(CALLS)
    assert "cannot be written" in text
    assert "--recsys-cache" in text
    assert read_all(tmp_path) == (int(number), 0)
    fill(tmp_path)
    assert read_all(tmp_path) == (len(CALLS), 0)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of a user whom permissions bind."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder
        if os.geteuid() != os.getuid():
            os.seteuid(os.getuid())
        for path in (folder / "cache" / "answers", folder / "cache"):
            path.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="modes of folders are of POSIX")
@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_a_read_only_folder_is_read_and_not_written(nobody: Path, killed: bool) -> None:
    folder = nobody / "cache"
    fill(folder)
    if killed:  # what was written last is in the log
        cache = AnswerCache(folder)
        cache.remove([number for number, _ in cache.rows()])
        for call in CALLS:
            cache.put(key_of(call), call, ANSWERS[key_of(call)])
        shutil.copytree(folder, nobody / "copy")
        cache.close()
        shutil.rmtree(folder)
        (nobody / "copy").rename(folder)
        assert (folder / "answers" / "cache.db-wal").stat().st_size > 0
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    if os.geteuid() == 0:
        os.seteuid(65534)
    for write in (False, True):
        cache = AnswerCache(folder, write=write)
        assert all(cache.get(key) == answer for key, answer in ANSWERS.items())
        assert {kept.key for _, kept in cache.rows() if kept is not None} == set(
            ANSWERS,
        )
        with pytest.raises(CacheError, match=r"cannot be written: .*--recsys-cache"):
            cache.put("key", {}, {})
        with pytest.raises(CacheError, match=r"cannot be written: .*--recsys-cache"):
            cache.lock("m").__enter__()
        cache.close()
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with pytest.raises(
        CacheError,
        match=r"cannot be made: Permission denied.*--recsys-cache",
    ):
        AnswerCache(nobody / "below")


def test_what_is_only_read_is_what_a_run_beside_it_has_written(tmp_path: Path) -> None:
    call, other = CALLS[:2]
    writing, reading = AnswerCache(tmp_path), AnswerCache(tmp_path, write=False)
    for _ in range(2):
        for asked in (call, other):
            writing.put(key_of(asked), asked, ANSWERS[key_of(asked)])
            assert reading.get(key_of(asked)) == ANSWERS[key_of(asked)]
        writing.close()
        assert reading.get(key_of(call)) == ANSWERS[key_of(call)]
        reading.close()
        writing = AnswerCache(tmp_path)
        writing.remove([number for number, _ in writing.rows()])
        assert reading.get(key_of(call)) is None
    writing.close()
    reading.close()


def test_what_is_not_there_is_read_as_empty_and_not_made(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "none", write=False)
    assert cache.get("key") is None
    assert not list(cache.rows())
    assert not (tmp_path / "none").exists()


def test_flipped_bits_are_missing_rows_or_an_error_that_says_what_to_do(
    tmp_path: Path,
) -> None:
    whole = bytearray(fill(tmp_path / "whole").read_bytes())
    asked, answer = CALLS[0], ANSWERS[key_of(CALLS[0])]
    rng = np.random.default_rng(0)
    folder, outcomes = tmp_path / "flipped", Counter[str]()
    for number in range(200):
        damaged = bytearray(whole)
        # Every other flip hits the pages of the schema and of the settings.
        for place in rng.integers(
            0,
            len(whole) if number % 2 else 16_384,
            rng.integers(1, 4),
        ):
            damaged[place] ^= 1 << int(rng.integers(8))
        (folder / "answers").mkdir(parents=True)
        folder.chmod(0o700)
        (folder / "answers" / "cache.db").write_bytes(damaged)
        try:
            cache = AnswerCache(folder, write=number % 3 == 0)
            found = [
                cache.get(key) in (None, answer) for key, answer in ANSWERS.items()
            ]
            assert all(found), "no wrong answer"
            held = {
                kept.key: kept.answer for _, kept in cache.rows() if kept is not None
            }
            assert held.items() <= ANSWERS.items()
            write_answers(cache, tmp_path / "export.jsonl")
            if number % 3 == 0:
                cache.put(key_of(asked), asked, answer)
                cache.remove([row for row, kept in cache.rows() if kept is None])
            cache.close()
            outcomes["whole" if len(held) == len(ANSWERS) else "fewer"] += 1
        except CacheError as error:
            outcomes["error" if "--recsys-cache" in str(error) else str(error)] += 1
        shutil.rmtree(folder)
    assert set(outcomes) == {"whole", "fewer", "error"}


WRITING = """
import sys
from pathlib import Path
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import key_of

cache = AnswerCache(Path(sys.argv[1]))
for number in range(1_000_000):
    call = {"messages": [["user", f"film {number}?"]]}
    cache.put(key_of(call), call, {"text": f"{number}. Alien " + "x" * (number * 37 % 9000)})
    print(key_of(call), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_what_was_put_before_a_kill_is_there_and_whole(tmp_path: Path) -> None:
    for wanted in (1, 50, 333):
        process = run_python(WRITING, tmp_path / str(wanted))
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip() for _ in range(wanted)]
        process.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
        cache = AnswerCache(tmp_path / str(wanted))
        rows = [kept for _, kept in cache.rows()]
        cache.close()
        assert None not in rows
        assert set(acknowledged) <= {row.key for row in rows if row is not None}
        assert len(rows) - len(acknowledged) in (0, 1)

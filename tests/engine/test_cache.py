"""The cache keeps answers, and nothing in it can be executed or believed by mistake."""

import hashlib
import json
import os
import pickle
import sqlite3
import stat
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import diskcache
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt import CacheError
from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.support.calls import (
    AnswerCache,
    Budget,
    Executor,
    JSONTextDisk,
    Limits,
    Progress,
    TextSubject,
    canonical,
    database,
    key_of,
    row_of,
    sound_answer,
    sound_row,
    subject,
)

CALL = {"model": {"name": "m"}, "messages": [["user", "which film?"]], "replicate": 0}
KEY = key_of(CALL)
LOCK = hashlib.sha256(b"m").hexdigest()[:16]
ANSWER = {"text": "Alien \ud800 \x1b[31m", "usage": [3, 4]}


class Echo:
    """Says the last message."""

    fingerprint = "echo"

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(prompt.messages[-1].content) for prompt in prompts]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def cache(folder: Path) -> Iterator[AnswerCache]:
    opened = AnswerCache(folder)
    yield opened
    opened.close()


def rows(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "answers" / "cache.db", isolation_level=None)
    connection.create_function("packed", 1, lambda text: zlib.compress(text.encode()))
    connection.create_function(
        "unpacked",
        1,
        lambda value: zlib.decompress(value).decode(),
    )
    return connection


def as_earlier_versions_wrote_it(folder: Path) -> None:
    with rows(folder) as connection:
        connection.execute("UPDATE Cache SET value = unpacked(value)")
    connection.close()


def test_an_answer_comes_back_as_it_was(cache: AnswerCache) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, CALL, ANSWER)
    assert cache.get(KEY) == ANSWER


@pytest.mark.parametrize("empties", ["", "another run"])
def test_a_refusal_is_an_answer_that_is_found_again(folder: Path, empties: str) -> None:
    """A recommender that cannot serve a request said so:
    neither a damaged row nor an empty answer.
    """
    refusal = {"not_applicable": "it knows five stars only", "run": "this run"}
    cache = AnswerCache(folder, empties=empties)
    cache.put(KEY, CALL, refusal)
    assert (cache.get(KEY), cache.refused) == (refusal, 0)
    ((_, kept),) = cache.rows()
    assert kept is not None
    assert kept.answer == refusal
    cache.close()


def test_the_folder_is_its_owners_alone(cache: AnswerCache, folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(CacheError, match="chmod 700"):
        AnswerCache(shared)


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match="--recsys-cache"):
        AnswerCache(tmp_path / "file" / "cache")


def test_a_file_that_is_no_database_says_so(folder: Path) -> None:
    AnswerCache(folder).close()
    (folder / "answers" / "cache.db").write_bytes(b"not a database" * 100)
    with pytest.raises(CacheError, match="cannot be opened"):
        AnswerCache(folder)


class Bomb:
    """Leaves a mark if anybody unpickles it."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.mark),)


TAMPERINGS = {
    "altered text": "UPDATE Cache SET value = packed(replace(unpacked(value), 'Alien', 'Avatar'))",
    "an altered call": "UPDATE Cache SET value = packed(replace(unpacked(value), 'film', 'song'))",
    "no JSON": "UPDATE Cache SET value = packed('Alien')",
    "another row's answer": "UPDATE Cache SET value = packed(:other)",
    "no UTF-8": "UPDATE Cache SET value = :no_text",
    "nothing compressed": "UPDATE Cache SET value = packed('')",
    "cut off": "UPDATE Cache SET value = substr(value, 1, length(value) - 9)",
    "without its last byte": "UPDATE Cache SET value = substr(value, 1, length(value) - 1)",
    "followed by more": "UPDATE Cache SET value = CAST(value || x'00' AS BLOB)",
    "not compressed": "UPDATE Cache SET value = CAST(unpacked(value) AS BLOB)",
    "no bytes": "UPDATE Cache SET value = x''",
    "longer than any text": "UPDATE Cache SET value = packed(unpacked(value) || :spaces)",
}
"""What is done to a row, and to one that an earlier version wrote."""
TAMPERINGS_BEFORE = {
    "pickled value": "UPDATE Cache SET mode = 4, value = :bomb",
    "pickled value in a file": "UPDATE Cache SET mode = 4, value = NULL, filename = :file",
    "value in a text file": "UPDATE Cache SET mode = 3, value = NULL, filename = :file",
    "altered text": "UPDATE Cache SET value = replace(value, 'Alien', 'Avatar')",
    "no JSON": "UPDATE Cache SET value = 'Alien'",
    "another row's answer": "UPDATE Cache SET value = :other",
    "bytes": "UPDATE Cache SET value = :bomb",
    "the same as bytes": "UPDATE Cache SET value = CAST(value AS BLOB)",
    "no UTF-8": "UPDATE Cache SET value = CAST(replace(CAST(value AS BLOB), 'A', x'C1') AS TEXT)",
    "no UTF-8 at the end": "UPDATE Cache SET value = CAST(CAST(value AS BLOB) || x'FF' AS TEXT)",
    "a NUL": "UPDATE Cache SET value = replace(value, 'Alien', CAST(x'00' AS TEXT))",
    "nothing": "UPDATE Cache SET value = NULL",
    "a number": "UPDATE Cache SET value = 1e999",
}


@pytest.mark.parametrize(
    ("earlier", "statement"),
    [(False, each) for each in TAMPERINGS.values()]
    + [(True, each) for each in TAMPERINGS_BEFORE.values()],
    ids=[*TAMPERINGS, *(f"earlier: {name}" for name in TAMPERINGS_BEFORE)],
)
def test_a_tampered_row_is_missing_and_never_executed(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    earlier: bool,
    statement: str,
) -> None:
    monkeypatch.setattr(database, "LONGEST", 300)
    mark = tmp_path / "executed"
    bomb = pickle.dumps(Bomb(mark))
    (tmp_path / "bomb.val").write_bytes(bomb)
    cache = AnswerCache(folder)
    cache.put(KEY, CALL, ANSWER)
    if earlier:
        as_earlier_versions_wrote_it(folder)
    other = {**CALL, "replicate": 1}
    text = {
        "schema": "recsys-mt-answer/1", "call": other, "answer": ANSWER, "sha256": "0" * 64,
    }  # fmt: skip
    parameters = {
        "bomb": bomb, "file": "../../bomb.val", "other": json.dumps(text),
        "no_text": zlib.compress(b"\xff"), "spaces": " " * 300,
    }  # fmt: skip
    with rows(folder) as connection:
        connection.execute(statement, parameters)
    connection.close()
    reading = AnswerCache(folder, write=False)
    for each in (cache, reading):
        assert each.get(KEY) is None
        assert each.refused == 1
        assert [kept for _, kept in each.rows()] == [None]
    reading.close()
    cache.put(KEY, CALL, ANSWER)
    assert cache.get(KEY) == ANSWER
    cache.close()
    assert not mark.exists()
    assert (tmp_path / "bomb.val").exists(), (
        "a file that a row names is not ours to remove"
    )


def test_every_part_of_diskcache_that_unpickles_is_replaced() -> None:
    """A new release of diskcache that unpickles elsewhere fails here."""

    def pickling(place: type) -> set[str]:
        codes = {
            name: getattr(value, "__code__", None)
            for name, value in vars(place).items()
        }
        return {
            name for name, code in codes.items() if code and "pickle" in code.co_names
        }

    assert pickling(diskcache.Disk) == {"put", "get", "store", "fetch"}
    assert pickling(diskcache.Disk) <= set(vars(JSONTextDisk))
    assert not pickling(diskcache.Cache)


def test_planted_settings_of_the_database_are_never_executed(
    folder: Path,
    tmp_path: Path,
) -> None:
    mark = tmp_path / "executed"
    AnswerCache(folder).close()
    with rows(folder) as connection:
        connection.executemany(
            "REPLACE INTO Settings VALUES (?, ?)",
            [
                (name, pickle.dumps(Bomb(mark)))
                for name in ("disk_pickle_protocol", "extra")
            ],
        )
    connection.close()
    cache = AnswerCache(folder)
    cache.put(KEY, CALL, ANSWER)
    assert cache.get(KEY) == ANSWER
    cache.close()
    assert not mark.exists()


def test_a_pickled_key_is_never_executed(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    cache = AnswerCache(folder)
    cache.put(KEY, CALL, ANSWER)
    with rows(folder) as connection:
        connection.execute(
            "UPDATE Cache SET key = ?, raw = 0",
            (pickle.dumps(Bomb(mark)),),
        )
    connection.close()
    assert cache.get(KEY) is None
    with pytest.raises(Exception, match="not text"):
        list(cache._rows)
    cache.close()
    assert not mark.exists()


def test_a_key_that_is_no_text_is_missing(cache: AnswerCache, folder: Path) -> None:
    cache.put(KEY, CALL, ANSWER)
    with rows(folder) as connection:
        connection.execute(
            "UPDATE Cache SET key = CAST(x'FF' || CAST(key AS BLOB) AS TEXT)",
        )
    connection.close()
    assert cache.get(KEY) is None
    assert [kept for _, kept in cache.rows()] == [None]
    cache.remove([number for number, _ in cache.rows()])
    assert not list(cache.rows())


OURS = [
    "answers", "answers/cache.db", "answers/cache.db-wal", "answers/cache.db-shm", f"{LOCK}.lock", "spent.json",
]  # fmt: skip
"""What a run believes or writes in a cache folder."""


def use(folder: Path) -> None:
    """Do with a cache folder what a run does."""
    cache = AnswerCache(folder)
    try:
        with cache.lock("m"):
            Budget(Limits(calls=1), folder / "spent.json").open()
    finally:
        cache.close()


@pytest.mark.skipif(sys.platform == "win32", reason="links and owners are of POSIX")
@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("to", ["a file", "nothing"])
def test_a_link_in_the_place_of_a_file_is_refused(
    folder: Path,
    tmp_path: Path,
    name: str,
    to: str,
) -> None:
    use(folder)
    place, elsewhere = folder / name, tmp_path / "elsewhere"
    if place.exists():
        place.rename(tmp_path / "moved")
    if to == "a file":
        elsewhere.write_text("precious")
    place.symlink_to(elsewhere)
    with pytest.raises(
        CacheError,
        match=f"{name}' is a link, .*remove it, .*or .*--recsys-cache",
    ):
        use(folder)
    assert not elsewhere.exists() or elsewhere.read_text() == "precious"


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0,
    reason="only root gives files away",
)
@pytest.mark.parametrize("name", ["", *OURS])
def test_what_belongs_to_somebody_else_is_refused(folder: Path, name: str) -> None:
    use(folder)
    place = folder / name
    place.touch()
    os.chown(place, 4711, -1)
    with pytest.raises(
        CacheError,
        match=r"belongs to user 4711, .*chown -R 0 .*--recsys-cache",
    ):
        use(folder)


@pytest.mark.parametrize("write", [True, False])
def test_rows_of_earlier_versions_are_read_beside_new_ones(
    folder: Path,
    write: bool,
) -> None:
    cache, calls = (
        AnswerCache(folder),
        [{**CALL, "replicate": number} for number in range(4)],
    )
    for number, call in enumerate(calls):
        cache.put(key_of(call), call, {**ANSWER, "usage": [number, 1]})
        if number == 1:
            as_earlier_versions_wrote_it(folder)
    cache.close()
    with rows(folder) as connection:
        kinds = connection.execute(
            "SELECT typeof(value) FROM Cache ORDER BY rowid",
        ).fetchall()
    connection.close()
    assert kinds == [("text",), ("text",), ("blob",), ("blob",)]
    cache = AnswerCache(folder, write=write)
    wanted = {key_of(call): {**ANSWER, "usage": [n, 1]} for n, call in enumerate(calls)}
    assert cache.answers([*wanted, "none"]) == wanted
    assert {key: cache.get(key) for key in wanted} == wanted
    assert {row.key: row.answer for _, row in cache.rows() if row is not None} == wanted
    cache.close()


def test_many_answers_are_found_at_once(cache: AnswerCache) -> None:
    calls = {key_of(call): call for call in ({"replicate": n} for n in range(1200))}
    with cache.together():
        for key, call in calls.items():
            cache.put(key, call, {"text": f"{call['replicate']}"})
    found = cache.answers([*calls, "0" * 64])
    assert {key: answer.get("text") for key, answer in found.items()} == {
        key: str(call["replicate"]) for key, call in calls.items()
    }


def test_a_compressed_row_takes_less_room(cache: AnswerCache, folder: Path) -> None:
    call = {
        "messages": [
            ["user", ", ".join(f"Film {n} ({1950 + n}) 4/5" for n in range(60))],
        ],
    }
    cache.put(key_of(call), call, ANSWER)
    with rows(folder) as connection:
        ((size, text),) = connection.execute(
            "SELECT length(value), unpacked(value) FROM Cache",
        )
    connection.close()
    assert text == canonical(row_of(call, ANSWER))
    assert size < len(text) / 2


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text() | st.sampled_from(['","call":', ',"call":{}', '"}', "\ud800"]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(
    call=st.dictionaries(st.text() | st.just("call"), PLAIN, max_size=4),
    answer=st.dictionaries(
        st.sampled_from(["text", "usage", "call", "run"]),
        PLAIN,
        max_size=3,
    ),
    text=st.text(),
    cut=st.tuples(st.integers(0, 400), st.integers(0, 3), st.text(max_size=3)),
)
def test_a_row_checked_as_text_is_one_that_is_sound(
    call: dict[str, object],
    answer: dict[str, object],
    text: str,
    cut: tuple[int, int, str],
) -> None:
    """Rows as they are written, and damaged ones: against
    the check that reads all of a row.
    """
    place, length, put = cut
    whole, key = canonical(row_of(call, {"text": text, **answer})), key_of(call)
    for row in (whole, whole[:place] + put + whole[place + length :]):
        try:
            wanted = sound_row(row, key)["answer"]
        except ValueError:
            wanted = None
        try:
            assert sound_answer(row, key) == wanted
        except ValueError:
            assert wanted is None


def test_long_answers_stay_in_the_database(cache: AnswerCache, folder: Path) -> None:
    cache.put(KEY, CALL, {"text": "x" * 2_000_000})
    assert cache.get(KEY) == {"text": "x" * 2_000_000}
    assert not list(folder.rglob("*.val"))


def test_nothing_is_evicted(cache: AnswerCache, folder: Path) -> None:
    with rows(folder) as connection:
        settings = dict(connection.execute("SELECT key, value FROM Settings"))
    connection.close()
    assert settings["eviction_policy"] == "none"
    assert settings["cull_limit"] == 0


def test_what_was_put_together_is_there_together(folder: Path) -> None:
    cache, other = AnswerCache(folder), AnswerCache(folder)
    seen: list[object] = []

    def look() -> None:
        seen.append(other.get(KEY))
        other.close()

    with cache.together():
        cache.put(KEY, CALL, ANSWER)
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    look()
    cache.close()
    assert seen == [None, ANSWER]


def test_a_disk_that_fills_up_within_a_batch_keeps_what_it_can(
    cache: AnswerCache,
    folder: Path,
) -> None:
    with rows(folder) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON Cache WHEN (SELECT COUNT(*) FROM Cache) > 1 BEGIN "
            "SELECT RAISE(ABORT, 'database or disk is full'); END",
        )
    connection.close()
    asked = subject(Echo(), "echo", "person")
    assert isinstance(asked, TextSubject)
    calls = [asked.prompt_call(Prompt((Message("user", str(n)),)), 0) for n in range(4)]
    with pytest.warns(
        UserWarning,
        match="2 answers of echo are kept for this run only",
    ):
        Executor(cache, "auto", "run").execute(asked, calls)
    assert [cache.get(call.key) is not None for call in calls] == [
        True,
        True,
        False,
        False,
    ]


class Slowly(Echo):
    """Says when it is asked, and answers when it may."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.begun = threading.Event()
        self.may_answer = threading.Event()

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.asked.append(len(prompts))
        self.begun.set()
        assert self.may_answer.wait(10)
        return super().complete(prompts)


def test_who_waited_at_the_lock_asks_nothing_that_was_answered_meanwhile(
    folder: Path,
) -> None:
    model = Slowly()

    def ask(done: list[str], progress: Progress) -> None:
        cache = AnswerCache(folder)
        asked = subject(model, "slowly", "person")
        assert isinstance(asked, TextSubject)
        calls = [
            asked.prompt_call(Prompt((Message("user", str(n)),)), 0) for n in range(4)
        ]
        executor = Executor(cache, "auto", "run", progress=progress)
        done += [str(each.get("text")) for each in executor.execute(asked, calls)]
        cache.close()

    progresses = [Progress(), Progress()]
    answers: list[list[str]] = [[], []]
    first, second = (
        threading.Thread(target=ask, args=each)
        for each in zip(answers, progresses, strict=True)
    )
    first.start()
    assert model.begun.wait(10)
    second.start()
    second.join(0.5)  # it has looked for answers, and waits at the lock
    standing = progresses[1].standing
    assert standing is not None
    assert standing.name == "waits for another process that asks slowly"
    model.may_answer.set()
    first.join(10)
    second.join(10)
    assert answers == [["0", "1", "2", "3"]] * 2
    assert sum(model.asked) == 4


def test_a_worker_whose_run_was_killed_sends_nothing_more(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    model, cache = Slowly(), AnswerCache(folder)
    asked = subject(model, "slowly", "person")
    assert isinstance(asked, TextSubject)
    executor = Executor(cache, "auto", "run")
    monkeypatch.setattr("os.getppid", lambda: 1)
    call = asked.prompt_call(Prompt((Message("user", "1"),)), 0)
    (answer,) = executor.execute(asked, [call])
    assert answer == {"unasked": "the process that started this worker has ended"}
    assert not sum(model.asked)
    cache.close()


def test_a_database_that_stays_locked_ends_the_writing(folder: Path) -> None:
    """diskcache would try again without end, also where the
    files of the database were closed.
    """
    cache = AnswerCache(folder)
    assert cache._rows is not None
    cache._rows._timeout = 0.05  # of the connection that is opened after a fault
    cache._rows._con.execute("PRAGMA busy_timeout = 50")
    with rows(folder) as connection:
        connection.execute("BEGIN IMMEDIATE")
        held = pytest.raises(
            CacheError,
            match=r"cannot be written: another process holds it",
        )
        with held:
            cache.put(KEY, CALL, ANSWER)
        with held, cache.together():
            pass
        connection.rollback()
    connection.close()
    cache.put(KEY, CALL, ANSWER)
    cache.close()


def test_a_read_only_database_says_what_to_do(folder: Path) -> None:
    cache = AnswerCache(folder)
    with rows(folder) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON Cache BEGIN "
            "SELECT RAISE(ABORT, 'database or disk is full'); END",
        )
    connection.close()
    with pytest.raises(CacheError, match=r"cannot be written.*full.*--recsys-cache"):
        cache.put(KEY, CALL, ANSWER)
    cache.close()

"""Answers that the disk does not take: they are held,
and no worker of the run pays for more.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import diskcache
import pytest

from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.support.calls import (
    AnswerCache,
    Call,
    Database,
    Executor,
    Keeping,
    TextSubject,
    leaves_stuck,
    subject,
)
from tests.support.cli import main

FULL = """
CREATE TRIGGER full BEFORE INSERT ON Cache WHEN (SELECT COUNT(*) FROM Cache) > 1
BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END
"""


class Counted:
    """Says the last message, and counts what it was asked."""

    fingerprint = "counted"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.asked += len(prompts)
        return [Completion(prompt.messages[-1].content) for prompt in prompts]


def calls_of(model: Counted, *texts: str) -> tuple[TextSubject, list[Call]]:
    asked = subject(model, "counted", "person")
    assert isinstance(asked, TextSubject)
    return asked, [
        asked.prompt_call(Prompt((Message("user", text),)), 0) for text in texts
    ]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[AnswerCache]:
    opened = AnswerCache(tmp_path / "cache")
    yield opened
    opened.close()


def sql(cache: AnswerCache, text: str) -> None:
    with closing(
        sqlite3.connect(cache.directory / "answers" / "cache.db"),
    ) as connection:
        connection.executescript(text)


def test_a_database_that_once_could_only_be_opened_for_reading_is_opened_again(
    cache: AnswerCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # SQLite falls back to reading where the file cannot be opened for writing, and says
    # nothing until a write.
    connect, uri = (
        sqlite3.connect,
        f"{(cache.directory / 'answers' / 'cache.db').as_uri()}?mode=ro",
    )
    monkeypatch.setattr(
        sqlite3,
        "connect",
        lambda path, **how: connect(uri, uri=True, **how),
    )
    cache.close()  # so that the next write opens the database
    asked, calls = calls_of(Counted(), "1")
    executor = Executor(cache, "auto", "run")
    with pytest.warns(
        UserWarning,
        match="1 answer of counted is kept for this run only: .*readonly",
    ):
        executor.execute(asked, calls)
    monkeypatch.undo()
    assert (
        executor.keep_rest()
        == "1 answer that the disk did not take at first is stored now"
    )
    assert cache.get(calls[0].key) is not None


def test_they_are_written_at_the_end_if_there_is_room_again(cache: AnswerCache) -> None:
    sql(cache, FULL)
    asked, calls = calls_of(Counted(), "1", "2", "3", "4")
    executor = Executor(cache, "auto", "run")
    with pytest.warns(
        UserWarning,
        match="2 answers of counted are kept for this run only: .*full",
    ):
        executor.execute(asked, calls)
    assert not executor.replayable
    assert executor.keep_rest().startswith(
        "2 answers are not stored, and the next run asks",
    )
    sql(cache, "DROP TRIGGER full")
    assert (
        executor.keep_rest()
        == "2 answers that the disk did not take at first are stored now"
    )
    assert all(cache.get(call.key) is not None for call in calls)
    assert executor.keep_rest() == ""


def test_no_worker_of_the_run_pays_for_more(
    cache: AnswerCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    sql(cache, FULL)
    model = Counted()
    asked, calls = calls_of(model, "1", "2", "3")
    first, second, another = (
        Executor(cache, "auto", run) for run in ("run", "run", "another")
    )
    second.execute(asked, calls[:1])
    with pytest.warns(UserWarning, match="1 answer of counted"):
        first.execute(asked, calls)
    assert model.asked == 3
    _, more = calls_of(model, "5", "6")
    cache.unwritable = ""  # each worker has its own
    said = [answer.get("unasked", "") for answer in second.execute(asked, more)]
    assert model.asked == 3
    assert all("another worker of this run failed to" in each for each in said)
    with pytest.warns(UserWarning, match="2 answers of counted"):
        another.execute(asked, more)
    assert model.asked == 5


def test_a_write_that_fails_once_costs_nothing(
    cache: AnswerCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put, failures = cache.put, [MemoryError()]

    def once(*given: object) -> None:
        if failures:
            raise failures.pop()
        put(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(cache, "put", once)
    asked, calls = calls_of(Counted(), "1", "2")
    executor = Executor(cache, "auto", "run")
    executor.execute(asked, calls)
    assert executor.replayable
    assert all(cache.get(call.key) is not None for call in calls)
    assert executor.keep_rest() == ""


def test_a_database_that_was_only_begun_holds_nothing(
    cache: AnswerCache,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sql(cache, "DROP TABLE Cache")
    with closing(AnswerCache(cache.directory, write=False)) as reading:
        assert reading.get("key") is None
        assert list(reading.rows()) == []
    assert main(["cache", "stats", "--cache", str(cache.directory)]) == 0
    assert "damaged" not in capsys.readouterr().out


def test_answers_that_memory_is_too_short_to_write_are_paid_once(
    cache: AnswerCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write, tried = Keeping.write, []

    def short(self: Keeping, *given: object) -> str:
        tried.append(given)
        if len(tried) == 1:
            raise MemoryError
        return write(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Keeping, "write", short)
    model = Counted()
    asked, calls = calls_of(model, "1", "2")
    executor = Executor(cache, "auto", "run")
    with pytest.warns(UserWarning, match="2 answers of counted .*: memory is short"):
        executor.execute(asked, calls)
    executor.keep_rest()
    Executor(AnswerCache(cache.directory), "auto", "next run").execute(asked, calls)
    assert model.asked == 2


def _sqlite_error(folder: Path, *, full: bool) -> sqlite3.Error:
    """A real error of SQLite: of a full database, or of a file that it cannot open."""
    path = folder / "full.db" if full else folder / "none" / "none.db"
    statements = "PRAGMA max_page_count = 1; CREATE TABLE full (text)"
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(statements)
    except sqlite3.Error as error:
        return error
    raise AssertionError(f"{path} took {statements}")


def test_what_a_database_recovers_from_only_if_it_is_opened_again(
    tmp_path: Path,
) -> None:
    assert leaves_stuck(diskcache.Timeout())
    assert leaves_stuck(_sqlite_error(tmp_path, full=False))
    # An open database goes on when there is space again; to open it anew would write
    # its log into the database.
    assert not leaves_stuck(_sqlite_error(tmp_path, full=True))
    assert not leaves_stuck(OSError("it was removed"))


def test_answers_are_written_though_no_transaction_could_begin_at_first(
    cache: AnswerCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def begins_nothing(*_: object, **__: object) -> NoReturn:
        raise diskcache.Timeout

    def close(database: Database) -> None:
        monkeypatch.undo()
        database.close()

    # As a connection whose log could not be opened, until it is closed.
    monkeypatch.setattr(Database, "transact", begins_nothing)
    monkeypatch.setattr(Database, "close", close)
    asked, calls = calls_of(Counted(), "1")
    executor = Executor(cache, "auto", "run")
    executor.execute(asked, calls)
    assert not cache.unwritable
    assert cache.get(calls[0].key) is not None
    assert executor.keep_rest() == ""

"""The disk cache of answers: compressed JSON text in diskcache, and nothing that can be
executed.

A stock diskcache unpickles whatever its database says is a pickle (CVE-2025-69872),
opens and removes the files it names, and evicts the oldest rows beyond a gigabyte.
`JSONTextDisk` refuses the first two; the settings of `AnswerCache` switch off the
third. The checksum detects damage; it does not prove who wrote a row, so the folder is
readable and writable by its owner alone.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_recsys_mt.calls import database
from pytest_recsys_mt.calls.answer import Answer, is_empty
from pytest_recsys_mt.calls.cached_rows import (
    row_of,
    sha256_of,
    sound_answer,
    sound_row,
)
from pytest_recsys_mt.calls.call import canonical
from pytest_recsys_mt.safety.errors import CacheError
from pytest_recsys_mt.safety.files import require_own, require_private

Mode = Literal["auto", "replay", "refresh"]
"""The handling of a call without a cached answer: it is
sent, or is an error; or all are sent.
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer with its question.

    Attributes:
        key: The key of the call.
        call: The content of the call.
        answer: The answer.
        size: In characters of the row.
    """

    key: str
    call: Mapping[str, Any]
    answer: Mapping[str, Any]
    size: int


class AnswerCache:
    """Answers by the key of their call, durable as soon as `put` returns.

    Args:
        directory: The folder of the cache, which is made if answers may be written.
        write: Whether answers may be written; if False, nothing in the folder changes.
        empties: The run whose empty answers are found, others are sent again; empty for
            any.

    Attributes:
        directory: The folder of the cache.
        refused: Rows that are damaged or foreign; they count as missing.
        unwritable: Why no answer can be written although answers can be read; empty if
            answers can be written.
    """

    def __init__(
        self,
        directory: Path,
        *,
        write: bool = True,
        empties: str = "",
    ) -> None:
        self.directory = directory
        self.refused = 0
        self.unwritable = ""
        self._is_stuck = False  # until the database is opened again
        if not write:
            self.unwritable = str(self._broken("written", "it is open for reading"))
        self._empties = empties
        self._database = directory / "answers" / "cache.db"
        self._reader = database.Reader(self._database)
        # The open database of diskcache; None if it can only be read.
        self._rows: Any = None
        self._prepare_folder(write)
        if write:
            self._open()

    def _prepare_folder(self, write: bool) -> None:
        """Make the folder, if answers may be written, and check that nobody else can
        read or replace its files.
        """
        try:
            if write:
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.directory.exists():
                require_private(self.directory)
            log = self._database.with_name("cache.db-wal")
            log_index = self._database.with_name("cache.db-shm")
            require_own(self._database.parent, self._database, log, log_index)
        except OSError as error:
            verb = "made" if write else "read"
            raise CacheError(
                f"the cache folder {str(self.directory)!r} cannot be {verb}: {error.strerror}; name another "
                f"one with --recsys-cache",
            ) from error

    def _open(self) -> None:
        """Open the database for writing, or note why it can only be read."""
        try:
            self._rows = database.Database(
                str(self._database.parent),
                disk=database.JSONTextDisk,
                eviction_policy="none",
                cull_limit=0,
                size_limit=2**62,
                statistics=0,
                tag_index=0,
            )
        except Exception as error:
            # diskcache reads its settings from the database: a damaged one can raise
            # anything.
            is_read_only = not os.access(self._database.parent, os.W_OK)
            reason = "its folder is read-only" if is_read_only else error
            self.unwritable = str(self._broken("written", reason))
            if not self._is_readable():
                is_locked = "locked" in str(error)
                first = (
                    "end the process that holds it" if is_locked else "free some space"
                )
                raise CacheError(
                    f"the answer database in {str(self.directory)!r} cannot be opened: {error}; {first}, "
                    f"or move the folder away, or name another one with --recsys-cache",
                ) from error
        else:
            self._inode = self._database.stat().st_ino

    def _is_readable(self) -> bool:
        try:
            self.get("")
        except CacheError:
            return False
        return self._database.exists()

    def get(self, key: str) -> Answer | None:
        """The answer stored under `key`, or None if there
        is no answer that can be trusted.
        """
        return self.answers([key]).get(key)

    def answers(self, keys: Sequence[str]) -> dict[str, Answer]:
        """The answers stored under `keys`, without those that cannot be trusted."""
        answers: dict[str, Answer] = {}
        try:
            # Not `or`: the length of the database, which says whether it is true, is a
            # query.
            source = self._reader if self._rows is None else self._rows
            for key, mode, filename, value in source.rows(keys):
                try:
                    text = database.sound_value(mode, filename, value)
                    answer = sound_answer(text, key)
                except (database.RefusedError, ValueError):
                    self.refused += 1
                    continue
                if not self._is_ignored(answer):
                    answers[key] = answer
        except database.FAULTS as error:
            raise self._broken("read", error) from error
        return answers

    def _is_ignored(self, answer: Answer) -> bool:
        """Whether an answer is empty and of another run than
        the one whose empty answers count.
        """
        if not self._empties or not is_empty(answer):
            return False
        return answer.get("run") != self._empties

    def put(self, key: str, call: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Store `answer` permanently."""
        text = canonical(row_of(call, answer))
        with self._writing() as rows:
            rows.set(key, text)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Combine the `put`s inside into one transaction: for
        answers that arrived together.
        """
        with self._writing() as rows, rows.transact():
            yield

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Any]:
        """The database, to write to; a `CacheError` says why it takes no answer."""
        if self._rows is None:
            raise CacheError(self.unwritable)
        if self._is_stuck:
            self._rows.reopen()
        try:
            if (
                not self._database.exists()
                or self._database.stat().st_ino != self._inode
            ):
                raise OSError("it was removed or replaced while this run goes on")
            yield self._rows
            self.unwritable = ""
            self._is_stuck = False
        except database.FAULTS as error:
            if isinstance(error.__context__, CacheError):
                # SQLite has rolled back by itself, so that diskcache cannot: the
                # earlier error says why.
                raise error.__context__ from error
            broken = self._broken("written", error)
            self.unwritable = str(broken)
            self._is_stuck = database.leaves_stuck(error)
            raise broken from error

    def rows(self) -> Iterator[tuple[int, Kept | None]]:
        """All rows by number, in the order of their keys; None for a refused row."""
        # Not diskcache's own iteration, which stops at the first row that its disk
        # refuses.
        query = (
            "SELECT rowid, key, raw, mode, filename, value FROM Cache ORDER BY key, raw"
        )
        if not self._database.exists():
            return
        try:
            with contextlib.closing(self._connection()) as connection:
                if not database.has_rows(connection):
                    return
                for number, *row in connection.execute(query):
                    yield number, _kept(*row)
        except database.FAULTS as error:
            raise self._broken("read", error) from error

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove rows, by the numbers that `rows` gave them; all of them or none."""
        parameters = [(number,) for number in numbers]
        with (
            self._writing(),
            contextlib.closing(self._connection()) as connection,
            connection,
        ):
            connection.executemany("DELETE FROM Cache WHERE rowid = ?", parameters)

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold the lock `name` against other processes; a
        process that dies releases it.
        """
        from filelock import FileLock

        path = self.directory / f"{sha256_of(name)[:16]}.lock"
        require_own(path)
        if self._rows is None:
            raise CacheError(self.unwritable)
        lock = FileLock(path, mode=0o600)
        try:
            lock.acquire()
        except OSError as error:
            raise self._broken("written", error) from error
        try:
            yield
        finally:
            lock.release()

    def close(self) -> None:
        """Close the database."""
        self._reader.close()
        if self._rows is not None:
            self._rows.close()

    def _connection(self) -> sqlite3.Connection:
        if self._rows is None:
            return self._reader.connect()
        return database.as_read(sqlite3.connect(self._database, timeout=60))

    def _broken(self, what: str, error: Exception | str) -> CacheError:
        reason = (
            str(error)
            or "another process holds it for a minute, or its files were closed"
        )
        return CacheError(
            f"the answer database in {str(self.directory)!r} cannot be {what}: {reason}; free some "
            f"space, fix the folder's permissions, or, if it is damaged, move the folder away; or "
            f"name another folder with --recsys-cache",
        )


def _kept(key: Any, raw: Any, mode: Any, filename: Any, value: Any) -> Kept | None:
    """The answer in a row of the database; None if the row is refused."""
    try:
        text = database.sound_value(mode, filename, value)
        row = sound_row(text, database.sound_key(key, raw))
    except (database.RefusedError, ValueError):
        return None
    return Kept(key, row["call"], row["answer"], len(text))

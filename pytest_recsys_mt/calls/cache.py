"""The disk cache of answers: compressed JSON text in diskcache, and nothing that can be executed.

A stock diskcache unpickles whatever its database says is a pickle (CVE-2025-69872), opens and
removes the files it names, and evicts the oldest rows beyond a gigabyte. `JSONTextDisk` refuses the
first two; the settings of `AnswerCache` switch off the third. The checksum detects damage; it does
not prove who wrote a row, so the folder is readable and writable by its owner alone.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pytest_recsys_mt.calls import database
from pytest_recsys_mt.calls.answer import Answer, is_empty
from pytest_recsys_mt.calls.call import canonical, key_of
from pytest_recsys_mt.errors import CacheError
from pytest_recsys_mt.requests import MOST_TOKENS, Usage
from pytest_recsys_mt.safety.files import require_own, require_private

Mode = Literal["auto", "replay", "refresh"]
"""What happens to a call without a cached answer: it is sent, or is an error; or all are sent."""

SCHEMA = "recsys-mt-answer/1"

_BEGIN, _THEN_CALL, _THEN_SCHEMA = '{"answer":', ',"call":', f',"schema":"{SCHEMA}","sha256":"'
"""What stands around the answer, the call and the checksum in the canonical text of a row."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer with its question; its size is in characters of its row."""

    key: str
    call: Mapping[str, Any]
    answer: Mapping[str, Any]
    size: int


class AnswerCache:
    """Answers by the key of their call, durable as soon as `put` returns.

    Args:
        write: Whether answers may be written; if False, nothing in the folder changes.
        empties: The run whose empty answers are found, others are asked for again; empty for any.

    Attributes:
        refused: Rows that are damaged or foreign; they count as missing.
        unwritable: Why no answer can be written although answers can be read; empty if answers can be written.
    """

    def __init__(self, directory: Path, *, write: bool = True, empties: str = "") -> None:
        self.directory, self._empties = directory, empties
        self.refused = 0
        self.unwritable = "" if write else str(self._broken("written", "it is open for reading"))
        self._database = directory / "answers" / "cache.db"
        self._reader = database.Reader(self._database)
        self._rows: Any = None
        try:
            if write:
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if directory.exists():
                require_private(directory)
            beside = [self._database.with_name(f"cache.db-{name}") for name in ("wal", "shm")]
            require_own(self._database.parent, self._database, *beside)
        except OSError as error:
            verb = "made" if write else "read"
            raise CacheError(
                f"the cache folder {str(directory)!r} cannot be {verb}: {error.strerror}; name another "
                f"one with --recsys-cache"
            ) from error
        if write:
            self._open()

    def _open(self) -> None:
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
            # diskcache reads its settings from the database: a damaged one can raise anything.
            read_only = not os.access(self._database.parent, os.W_OK)
            why = "its folder is read-only" if read_only else error
            self.unwritable = str(self._broken("written", why))
            readable = False
            with contextlib.suppress(CacheError):
                self.get("")
                readable = self._database.exists()
            if not readable:
                held = "locked" in str(error)
                first = "end the process that holds it" if held else "free some space"
                raise CacheError(
                    f"the answer database in {str(self.directory)!r} cannot be opened: {error}; {first}, "
                    f"or move the folder away, or name another one with --recsys-cache"
                ) from error

        else:
            self._inode = self._database.stat().st_ino

    def get(self, key: str) -> Answer | None:
        """The answer stored under `key`, or None if there is no answer that can be trusted."""
        return self.answers([key]).get(key)

    def answers(self, keys: Sequence[str]) -> dict[str, Answer]:
        """The answers stored under `keys`, without those that cannot be trusted."""
        found: dict[str, Answer] = {}
        try:
            # Not `or`: the length of the database, which says whether it is true, is a query.
            source = self._reader if self._rows is None else self._rows
            for key, mode, filename, value in source.rows(keys):
                try:
                    answer = sound_answer(database.sound_value(mode, filename, value), key)
                    if not is_empty(answer) or self._empties in ("", answer.get("run")):
                        found[key] = answer
                except (database.RefusedError, ValueError):
                    self.refused += 1
        except database.FAULTS as error:
            raise self._broken("read", error) from error
        return found

    def put(self, key: str, call: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Store `answer` permanently."""
        text = canonical(row_of(call, answer))
        with self._writing() as rows:
            rows.set(key, text)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Put the `put`s inside into one transaction: for answers that arrived together."""
        with self._writing() as rows, rows.transact():
            yield

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Any]:
        if self._rows is None:
            raise CacheError(self.unwritable)
        try:
            if not self._database.exists() or self._database.stat().st_ino != self._inode:
                raise OSError("it was removed or replaced while this run goes on")
            yield self._rows
            self.unwritable = ""
        except database.FAULTS as error:
            if isinstance(error.__context__, CacheError):
                # SQLite has rolled back by itself, so that diskcache cannot: what came before says why.
                raise error.__context__ from error
            broken = self._broken("written", error)
            self.unwritable = str(broken)
            raise broken from error

    def rows(self) -> Iterator[tuple[int, Kept | None]]:
        """All rows by number, in the order of their keys; None for a refused row."""
        # Not diskcache's own iteration, which stops at the first row that its disk refuses.
        query = "SELECT rowid, key, raw, mode, filename, value FROM Cache ORDER BY key, raw"
        if not self._database.exists():
            return
        try:
            with contextlib.closing(self._connection()) as connection:
                if not database.has_rows(connection):
                    return
                for number, key, raw, mode, filename, value in connection.execute(query):
                    try:
                        text = database.sound_value(mode, filename, value)
                        row = sound_row(text, database.sound_key(key, raw))
                        kept = Kept(key, row["call"], row["answer"], len(text))
                    except (database.RefusedError, ValueError):
                        kept = None
                    yield number, kept
        except database.FAULTS as error:
            raise self._broken("read", error) from error

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove rows, by the numbers that `rows` gave them; all of them or none."""
        with self._writing(), contextlib.closing(self._connection()) as connection, connection:
            connection.executemany(
                "DELETE FROM Cache WHERE rowid = ?", ((number,) for number in numbers)
            )

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold the lock `name` against other processes; a process that dies releases it."""
        from filelock import FileLock

        path = self.directory / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"
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
        error = str(error) or "another process holds it for a minute, or its files were closed"
        return CacheError(
            f"the answer database in {str(self.directory)!r} cannot be {what}: {error}; free some "
            f"space, fix the folder's permissions, or, if it is damaged, move the folder away; or "
            f"name another folder with --recsys-cache"
        )


def row_of(call: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """The stored form of one answer."""
    return {
        "schema": SCHEMA,
        "call": dict(call),
        "answer": dict(answer),
        "sha256": _checksum(answer),
    }


def sound_answer(text: str, key: str) -> Answer:
    """The answer in the row `text`, if it is intact and answers the call of `key`.

    A row that stands there as `AnswerCache.put` wrote it is checked as text, its call is not read.
    """
    # No string of a canonical text holds an unescaped quote, and no answer has a `call` of its own.
    answer, found, rest = text.removeprefix(_BEGIN).partition(_THEN_CALL)
    call, checksum = rest[: -len(_THEN_SCHEMA) - 66], rest[-66:-2]
    if (
        found
        and _sha256(call) == key
        and _sha256(answer) == checksum
        and text == f'{_BEGIN}{answer}{_THEN_CALL}{call}{_THEN_SCHEMA}{checksum}"}}'
    ):
        with contextlib.suppress(ValueError, RecursionError):
            read: Answer = json.loads(answer)
            if isinstance(read, dict) and _is_answer(read):
                return read
    sound: Answer = sound_row(text, key)["answer"]
    return sound


def sound_row(text: str, key: str) -> dict[str, Any]:
    """The row in `text`, if it is intact and answers the call of `key`; a `ValueError` says what is wrong."""
    try:
        text.encode()
        row = json.loads(text)
    except UnicodeEncodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    if not isinstance(row, dict) or row.get("schema") != SCHEMA:
        schema = row.get("schema") if isinstance(row, dict) else None
        raise ValueError(f"its schema is {schema!r}, and {SCHEMA!r} is read here")
    call, answer = row.get("call"), row.get("answer")
    try:
        if not isinstance(call, dict) or key_of(call) != key:
            raise ValueError("its key is not the hash of its call: it was altered or damaged")
        if not isinstance(answer, dict) or _checksum(answer) != row.get("sha256"):
            raise ValueError("its checksum is not that of its answer: it was altered or damaged")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not _is_answer(answer):
        raise ValueError(
            "its answer holds no text, items or refusal in the form they are kept in, or its usage is not of two or four "
            f"numbers up to {MOST_TOKENS:,}, parts no larger than their wholes"
        )
    return row


def _is_answer(answer: Mapping[str, Any]) -> bool:
    text, items = answer.get("text"), answer.get("items", [])
    entries, usage = answer.get("entries", []), answer.get("usage")
    return (
        "error" not in answer
        and (text is None or isinstance(text, str))
        and isinstance(items, list)
        and all(isinstance(item, str) for item in items)
        and isinstance(entries, list)
        and all(isinstance(entry, list) and len(entry) == 3 for entry in entries)
        and (usage is None or (isinstance(usage, list) and len(usage) in (2, 4)))
        and (usage is None or Usage.said(*usage) == Usage(*usage))
        and isinstance(answer.get("seconds") or 0, int | float)
        and isinstance(answer.get("not_applicable", ""), str)
        and ("items" in answer or "not_applicable" in answer or isinstance(text, str))
    )


def _checksum(answer: Mapping[str, Any]) -> str:
    return _sha256(canonical(answer))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

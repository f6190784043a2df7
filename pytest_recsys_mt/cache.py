"""The disk cache of answers: JSON text in diskcache, and nothing that could be executed.

A stock diskcache unpickles whatever its database says is a pickle (CVE-2025-69872), opens and
removes the files it names, and evicts the oldest rows beyond a gigabyte. `JSONTextDisk` refuses the
first two; the settings of `AnswerCache` switch off the third. The checksum detects damage; it does
not prove who wrote a row, so the folder is readable and writable by its owner alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_RAW

from pytest_recsys_mt.calls import canonical, key_of
from pytest_recsys_mt.errors import CacheError

SCHEMA = "recsys-mt-answer/1"


class _RefusedError(Exception):
    """A row that this package has not written."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One answer, with what was asked.

    Attributes:
        key: SHA-256 of `call`.
        call: What was asked, as plain data.
        answer: Plain data.
        size: Characters of its row.
    """

    key: str
    call: Mapping[str, Any]
    answer: Mapping[str, Any]
    size: int


class JSONTextDisk(diskcache.Disk):  # type: ignore[misc]
    """A diskcache `Disk` for text keys and text values inside the database, and nothing else."""

    # diskcache is not typed; what pyright infers of its methods is what they happen to return.
    def put(self, key: Any) -> tuple[str, bool]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Check a key on its way in.

        Raises:
            CacheError: If it is not text.
        """
        if type(key) is not str:
            raise CacheError(f"a cache key is text, got {key!r}")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        """Check a key on its way out; a pickled one is refused unread."""
        if not raw or type(key) is not str:
            raise _RefusedError("its key is not text")
        return key

    def store(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, value: Any, read: bool, key: Any = None
    ) -> tuple[int, int, None, str]:
        """Check a value on its way in; it stays inside the database, however long.

        Raises:
            CacheError: If it is not text.
        """
        if read or type(value) is not str:
            raise CacheError(f"a cached value is JSON text, got {type(value).__name__}")
        return 0, MODE_RAW, None, value

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> str:
        """Check a value on its way out; pickles and files are refused unread."""
        if mode != MODE_RAW or filename is not None or read or type(value) is not str:
            raise _RefusedError("its value is not JSON text")
        return value

    def remove(self, file_path: str) -> None:
        """Do nothing: we own no files, and a path in a row may have been planted."""


class AnswerCache:
    """Answers by the key of their call, durable as soon as `put` returns.

    Args:
        directory: Made if it is missing, for its owner alone.

    Attributes:
        refused: Rows that were damaged or not ours; they count as missing.

    Raises:
        CacheError: If the folder cannot be used, or others may write to it.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.refused = 0
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            mode = directory.stat().st_mode
        except OSError as error:
            raise CacheError(
                f"the cache folder {str(directory)!r} cannot be made: {error.strerror}; name another "
                f"one with --recsys-cache"
            ) from error
        if os.name == "posix" and mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise CacheError(
                f"the cache folder {str(directory)!r} can be written by others, who could plant "
                f"answers in it; run: chmod 700 {str(directory)!r}"
            )
        try:
            self._rows: Any = diskcache.Cache(
                str(directory / "answers"),
                disk=JSONTextDisk,
                eviction_policy="none",
                cull_limit=0,
                size_limit=2**62,
                statistics=0,
                tag_index=0,
            )
        except (sqlite3.Error, OSError, TypeError) as error:
            raise CacheError(
                f"the answer database in {str(directory)!r} cannot be opened: {error}; move the "
                f"folder away, or name another one with --recsys-cache"
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """The answer kept under `key`, or None if there is none that can be trusted.

        Raises:
            CacheError: If the database cannot be read.
        """
        try:
            text = self._rows.get(key, default=None, retry=True)
        except _RefusedError:
            self.refused += 1
            return None
        except sqlite3.Error as error:
            raise self._broken("read", error) from error
        if text is None:
            return None
        try:
            return dict(sound_row(text, key)["answer"])
        except ValueError:
            self.refused += 1
            return None

    def put(self, key: str, call: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Keep `answer` for good.

        Args:
            key: Of `call`.
            call: What was asked, as plain data.
            answer: Plain data.

        Raises:
            CacheError: If it cannot be written; nothing that was there before is lost.
        """
        try:
            self._rows.set(key, canonical(row_of(call, answer)), retry=True)
        except (sqlite3.Error, OSError) as error:
            raise self._broken("written", error) from error

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make the `put`s inside one transaction: for answers that arrived together."""
        try:
            with self._rows.transact(retry=True):
                yield
        except sqlite3.Error as error:
            raise self._broken("written", error) from error

    def rows(self) -> Iterator[tuple[int, Kept | None]]:
        """All rows by their number, in the order of their keys; None for one that is refused.

        Raises:
            CacheError: If the database cannot be read.
        """
        # Not diskcache's own iteration, which ends at the first row that its disk refuses.
        query = "SELECT rowid, key, raw, mode, filename, value FROM Cache ORDER BY key, raw"
        disk = self._rows.disk
        try:
            with contextlib.closing(self._connection()) as connection:
                for number, key, raw, mode, filename, value in connection.execute(query):
                    try:
                        text = disk.fetch(mode, filename, value, read=False)
                        row = sound_row(text, disk.get(key, raw))
                        kept = Kept(key, row["call"], row["answer"], len(text))
                    except (_RefusedError, ValueError):
                        kept = None
                    yield number, kept
        except sqlite3.Error as error:
            raise self._broken("read", error) from error

    def remove(self, numbers: Iterable[int]) -> None:
        """Forget rows, by the numbers that `rows` gave them; all of them or none.

        Raises:
            CacheError: If the database cannot be written.
        """
        try:
            with contextlib.closing(self._connection()) as connection, connection:
                connection.executemany(
                    "DELETE FROM Cache WHERE rowid = ?", ((number,) for number in numbers)
                )
        except sqlite3.Error as error:
            raise self._broken("written", error) from error

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold the lock `name` against other processes; a process that dies lets go of it."""
        from filelock import FileLock

        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        with FileLock(self.directory / f"{digest}.lock", mode=0o600):
            yield

    def close(self) -> None:
        """Close the database."""
        self._rows.close()

    def _connection(self) -> sqlite3.Connection:
        return sqlite3.connect(self.directory / "answers" / "cache.db", timeout=60)

    def _broken(self, what: str, error: Exception) -> CacheError:
        return CacheError(
            f"the answer database in {str(self.directory)!r} cannot be {what}: {error}; free some "
            f"space, mend the folder's permissions, or, if it is damaged, move the folder away; or "
            f"name another folder with --recsys-cache"
        )


def row_of(call: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of one answer."""
    return {
        "schema": SCHEMA,
        "call": dict(call),
        "answer": dict(answer),
        "sha256": _checksum(answer),
    }


def sound_row(text: str, key: str) -> dict[str, Any]:
    """The row that `text` writes down, if it is whole and answers the call of `key`.

    Raises:
        ValueError: If it is not; the text says what is wrong.
    """
    try:
        row = json.loads(text)
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
        raise ValueError("its answer holds neither a text nor items in the form they are kept in")
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
        and (usage is None or _is_usage(usage))
        and bool(items or text)
    )


def _is_usage(usage: Any) -> bool:
    return (
        isinstance(usage, list) and len(usage) == 2 and all(type(count) is int for count in usage)
    )


def _checksum(answer: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(answer).encode()).hexdigest()

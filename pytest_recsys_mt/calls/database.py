"""The database of answers: diskcache writes it, without anything that can be executed.

A database that can only be read (by choice, by permissions or because the disk is full)
is read without diskcache, which writes whenever it opens a database.
"""

import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_RAW

from pytest_recsys_mt.safety.errors import CacheError

FAULTS = (sqlite3.Error, diskcache.Timeout, OSError, UnicodeError, MemoryError)
"""Errors of a damaged, locked or unreadable database, and of SQLite where memory is
short; its own message may be damaged text too.
"""

LONGEST = 2**24
"""Characters of a text that is compressed, or read from a compressed row: a few bytes
of a tampered one may stand for gigabytes. A longer text is stored as it is.
"""

AT_ONCE = 500
"""Keys of one query; SQLite takes 999 at least."""

_MADE_BEFORE = {"Settings", "sqlite_autoindex_Settings_1"}
"""The tables that diskcache makes before that of the answers."""

Row = tuple[Any, Any, Any, Any]
"""Key, mode, filename and value, as they stand in the database."""


_STICKING = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
"""Errors of SQLite after which a connection may fail for as long
as it is open, also if the disk works again.
"""


def leaves_stuck(error: BaseException) -> bool:
    """Whether a database must be opened again before it can be written, if it can at
    all.

    A full disk is no such error: the open database goes on when there is space. Where a
    transaction cannot begin, diskcache raises its own error in place of SQLite's.
    """
    if isinstance(error, diskcache.Timeout):
        return True
    code = getattr(
        error,
        "sqlite_errorcode",
        None,
    )  # an extended code, whose last byte is the primary one
    return code is not None and code & 0xFF in _STICKING


class RefusedError(Exception):
    """A row that this package has not written."""


class JSONTextDisk(diskcache.Disk):  # type: ignore[misc]
    """A diskcache `Disk` only for text keys and text values inside the database."""

    # diskcache is not typed: pyright infers the types of its methods from their code.
    def put(self, key: Any) -> tuple[str, bool]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Check a key before it is written."""
        if type(key) is not str:
            raise CacheError(f"a cache key is text, got {key!r}")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        return sound_key(key, raw)

    def store(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        value: Any,
        read: bool,
        key: Any = None,
    ) -> tuple[int, int, None, str | bytes]:
        """Check a value and compress it, unless it is very long;
        any length stays inside the database.
        """
        if read or type(value) is not str:
            raise CacheError(f"a cached value is JSON text, got {type(value).__name__}")
        stored: str | bytes = value
        if len(value) <= LONGEST:
            stored = zlib.compress(value.encode())
        return 0, MODE_RAW, None, stored

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> str:
        return sound_value(mode, filename, value)

    def remove(self, file_path: str) -> None:
        """Do nothing: the cache owns no files, and a path
        in a row may have been planted.
        """


class Database(diskcache.Cache):  # type: ignore[misc]
    """A diskcache `Cache` that continues after damaged text."""

    @property
    def _con(self) -> sqlite3.Connection:
        return as_read(super()._con)

    def reopen(self) -> None:
        """Let the next use open the database again, unless a transaction goes on.

        SQLite opens for reading what it cannot open for writing, and leaves it so for
        as long as it is open. After a fault while the log of the database was
        opened, a connection may begin no transaction any more either.
        """
        if not self._con.in_transaction:
            self.close()

    def rows(self, keys: Sequence[str]) -> Iterator[Row]:
        """The rows of `keys`, many with one query;
        diskcache itself would read one by one.
        """
        return rows_of(self._con, keys)


def sound_key(key: Any, raw: Any) -> str:
    """A key of a row; a foreign one is refused."""
    if not raw or type(key) is not str:
        raise RefusedError("its key is not text")
    return key


def sound_value(mode: Any, filename: Any, value: Any) -> str:
    """The value of a row; a foreign one is refused."""
    if mode != MODE_RAW or filename is not None:
        raise RefusedError("its value is not in its row")
    if type(value) is bytes:
        return _expanded(value)
    if type(value) is not str:
        raise RefusedError("its value is not JSON text")
    return value  # as earlier versions wrote it


def _expanded(value: bytes) -> str:
    """Compressed text, of which no more than `LONGEST` bytes are ever expanded."""
    decompressor = zlib.decompressobj()
    try:
        text = decompressor.decompress(value, LONGEST).decode()
    except (zlib.error, UnicodeDecodeError):
        raise RefusedError("its value is not compressed text") from None
    if not decompressor.eof or decompressor.unused_data:
        raise RefusedError(
            "its compressed text is cut off, too long, or followed by more",
        )
    return text


def rows_of(connection: sqlite3.Connection, keys: Sequence[str]) -> Iterator[Row]:
    """The rows of `keys`, in no order; none for a key without a row."""
    for start in range(0, len(keys), AT_ONCE):
        queried = keys[start : start + AT_ONCE]
        placeholders = ",".join("?" * len(queried))
        query = f"SELECT key, mode, filename, value FROM Cache WHERE raw = 1 AND key IN ({placeholders})"
        yield from connection.execute(query, queried)


def has_rows(connection: sqlite3.Connection) -> bool:
    """Whether a database has its table of answers; the run
    that made it may have failed before that.
    """
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return "Cache" in names or not names <= _MADE_BEFORE


class Reader:
    """Reads a database, which may appear later, without changing its folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._connected_state: tuple[object, ...] = ()

    def rows(self, keys: Sequence[str]) -> list[Row]:
        """The rows of `keys`, in no order; none for a key without a row."""
        with self._lock:
            state = self._state()
            if not state:
                return []
            if self._connection is None or state != self._connected_state:
                self._close()
                self._connection = self.connect()
                self._connected_state = state
            if not has_rows(self._connection):
                return []
            return list(rows_of(self._connection, keys))

    def connect(self) -> sqlite3.Connection:
        """A connection that writes nothing."""
        # Without a log there is no writer, and SQLite needs no files other than the
        # database.
        query = "mode=ro" if self._is_logged() else "mode=ro&immutable=1"
        uri = f"{self._path.resolve().as_uri()}?{query}"
        return as_read(
            sqlite3.connect(uri, uri=True, timeout=60, check_same_thread=False),
        )

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _state(self) -> tuple[object, ...]:
        """Changes when a new connection is needed; empty while there is no database."""
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return ()
        # A connection sees what a log adds, but not what becomes of a file that it
        # holds for immutable.
        if self._is_logged():
            return (status.st_ino,)
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _is_logged(self) -> bool:
        """Whether there is a log with the last writes: a run writes, or died."""
        if not self._log.exists():
            return False
        return self._log.stat().st_size > 0


def as_read(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A connection that continues after damaged text.

    Text that is not UTF-8 gets lone surrogates; its readers refuse it.
    """
    connection.text_factory = lambda raw: raw.decode(errors="surrogateescape")
    return connection

"""Files: ours, written completely or not at all, those that a user names, and
texts of unknown origin.

A run trusts its stored answers and trained weights, so a user who can write them
controls the verdicts. A link in the place of such a file would redirect a write to
another file.
"""

import contextlib
import difflib
import errno
import gzip
import os
import re
import stat
import sys
import tempfile
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import platformdirs

from pytest_recsys_mt.safety.errors import CacheError, RecsysError

ROOT = 0

TEMPORARY = Path(
    tempfile.gettempdir(),
    f"pytest-recsys-mt-{getattr(os, 'getuid', int)()}",
)
"""Where a user's answers are kept who has no home to write to."""

RUNS = Path(".recsys", "runs")
"""Where runs are kept, in the root folder."""

RECORD = "record.json.gz"
"""The record of a kept run, in the folder of its number."""

MOST_TEXT = 1 << 20
"""The most bytes of a file that a person writes, such as a policy."""

MOST_DATA = 1 << 28
"""The most bytes of a file that a run writes and a
later one reads whole, such as a record.
"""

MOST_DEEP = 32
"""The most levels of tables and lists in such a text."""

# `tomllib` takes time that grows with the square of the parts of a dotted key.
_LONG_KEY = re.compile(
    rf"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MOST_DEEP}}}""",
)
_OPEN_ALREADY = {"/dev/stdout": 1, "/dev/stderr": 2}
_NOT_FOR_FILES = re.compile("/(?:dev/(?!shm/)|proc/|sys/)")  # /dev/shm holds files


@contextlib.contextmanager
def written_whole(path: Path, mode: int = 0o600) -> Iterator[TextIO]:
    """A stream that replaces the file at `path` if the block succeeds; else nothing
    changes.

    Only the owner can read the file unless `mode` says otherwise: most of these files
    hold users' profiles.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def is_replaced(path: Path) -> bool:
    """Whether a path that a user names is a file to replace, or a new one; else it is
    written to, like a device.

    Raises:
        OSError: If no file can be there: it is a folder, or below one whose name looks
            mistyped.
    """
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        _require_parent(path)
        return True
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    # Output of the shell to a file has its place there, which a new file would lose.
    return stat.S_ISREG(kind) and not _NOT_FOR_FILES.match(str(path.absolute()))


def _require_parent(path: Path) -> None:
    real = Path(os.path.realpath(path))
    if _NOT_FOR_FILES.match(str(real)):
        raise FileNotFoundError(errno.ENOENT, "there is no such device")
    missing = [folder for folder in real.parents if not folder.exists()]
    if not missing:
        return
    top = missing[-1]
    for name in os.listdir(top.parent):
        if _mistyped(top.name, name) and (top.parent / name).is_dir():
            raise FileNotFoundError(
                errno.ENOENT,
                f"there is no folder {str(top)!r}; did you mean {name!r}? If not, make it: mkdir -p {str(real.parent)!r}",
            )


def _mistyped(given: str, name: str) -> bool:
    """Whether two names differ by a letter more or by the order or case of letters;
    `run-1` and `run-2` do not.
    """
    short, long = sorted((given.casefold(), name.casefold()), key=len)
    if len(short) == len(long):
        return len(short) > 3 and sorted(short) == sorted(long) and not short.isdigit()
    return len(short) > 3 and any(
        long[:at] + long[at + 1 :] == short and long[at].isalpha()
        for at in range(len(long))
    )


@contextlib.contextmanager
def written_to(path: Path, mode: int = 0o600) -> Iterator[TextIO]:
    """A stream into a path that a user names: a file is replaced as by `written_whole`,
    also through a link; a device, a pipe and an open stream such as ``/dev/stdout`` are
    written to; ``-`` is standard output.

    Raises:
        OSError: As `is_replaced`, or if it cannot be written.
    """
    if str(path) == "-":
        yield sys.stdout
        return
    if is_replaced(path):
        with written_whole(Path(os.path.realpath(path)), mode) as stream:
            yield stream
        return
    name = str(path.absolute())
    numbered = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", name)
    number = int(numbered[1]) if numbered else _OPEN_ALREADY.get(name)
    sys.stdout.flush()  # earlier output comes first
    with open(
        _opened(path) if number is None else os.dup(number),
        "w",
        encoding="utf-8",
    ) as stream:
        yield stream


def appended_to(path: Path) -> TextIO:
    """A stream to the end of a file that the environment names, or into a pipe that
    somebody reads.

    Raises:
        OSError: If it cannot be written.
    """
    return open(_opened(path, os.O_APPEND | os.O_CREAT), "a", encoding="utf-8")


def _opened(path: Path, flags: int = 0) -> int:
    # Without waiting: a pipe without a reader would hold the run for ever.
    handle = os.open(path, os.O_WRONLY | flags | getattr(os, "O_NONBLOCK", 0), 0o666)
    if os.name == "posix":
        os.set_blocking(handle, True)
    return handle


@contextlib.contextmanager
def written_or(
    kind: type[RecsysError],
    path: Path,
    mode: int = 0o600,
) -> Iterator[TextIO]:
    """As `written_to`; that the file cannot be written is an error of this kind."""
    with (
        failing_as(kind, f"{str(path)!r} cannot be written"),
        written_to(path, mode) as stream,
    ):
        yield stream


@contextlib.contextmanager
def failing_as(kind: type[RecsysError], what: str, remedy: str = "") -> Iterator[None]:
    """An `OSError` within becomes an error of this kind, which
    names the failure, its cause, and the fix.
    """
    try:
        yield
    except OSError as error:
        next_step = f"; {remedy}" if remedy else ""
        raise kind(f"{what}: {error.strerror or error}{next_step}") from error


def look_alike(path: Path) -> str:
    """The file next to a missing one whose name is nearest, as ``did you mean
    'prices.toml'? ``; empty if none is near.
    """
    with contextlib.suppress(OSError):
        near = difflib.get_close_matches(
            path.name,
            os.listdir(path.parent),
            n=1,
            cutoff=0.7,
        )
        if near and not path.exists():
            return f"did you mean {str(path.with_name(near[0]))!r}? "
    return ""


def content_of(path: Path, most: int = MOST_TEXT) -> bytes:
    """The content of a file that anybody may have made: also a device without an end is
    no danger.

    Raises:
        OSError: If it cannot be read, is larger than `most` bytes, or is a pipe or a
            device that is not named as one: a link in a repository to ``/dev/stdin``
            would be waited for without end.
    """
    kind = path.stat().st_mode
    if not (
        stat.S_ISREG(kind)
        or stat.S_ISDIR(kind)
        or _NOT_FOR_FILES.match(str(path.absolute()))
    ):
        raise OSError(errno.EINVAL, "it is a pipe or a device, no file")
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        try:
            content = stream.read(most + 1)
        except (EOFError, zlib.error) as error:
            raise OSError(errno.EIO, "it is damaged") from error
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB")
    return content


def toml_of(content: bytes) -> dict[str, Any]:
    """The content of a text in TOML of unknown origin; a byte-order mark is skipped.

    Raises:
        ValueError: If it is not TOML in UTF-8, or nests deeper than `MOST_DEEP` levels.
    """
    too_deep = f"it nests deeper than {MOST_DEEP} levels"
    text = content.decode("utf-8-sig")
    if _LONG_KEY.search(text):
        raise ValueError(too_deep)
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ValueError(too_deep) from None
    level: list[Any] = [tables]
    for _ in range(MOST_DEEP):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    if level:
        raise ValueError(too_deep)
    return tables


def expanded(path: str | Path) -> Path:
    """A path that a user names, with the home in place of ``~``; where there is no
    home, `Path.expanduser` raises.
    """
    return Path(os.path.expanduser(path))


def cache_folder() -> Path:
    """The folder of this package next to the user's other caches, as the platform has
    it.

    A container that runs as any user often has no home, or one that cannot be written
    to. Then it is a folder of this user in the one for temporary files.

    Raises:
        CacheError: If others can write to that.
    """
    with contextlib.suppress(RuntimeError):  # from platformdirs, without a home
        usual = platformdirs.user_cache_path("pytest-recsys-mt", appauthor=False)
        there = next(folder for folder in (usual, *usual.parents) if folder.exists())
        if there == usual or os.access(there, os.W_OK):
            return usual
    TEMPORARY.mkdir(mode=0o700, exist_ok=True)
    require_private(TEMPORARY)
    return TEMPORARY


def cache_folder_for(name: str) -> Path:
    """A folder in `cache_folder`, made for its owner alone."""
    folder = cache_folder() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def require_private(folder: Path) -> None:
    """Check that only its owner, this user, can write into a folder."""
    status = folder.stat()
    _require_owner(folder, status)
    if os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheError(
            f"the cache folder {str(folder)!r} can be written by others, who could plant "
            f"answers in it; run: chmod 700 {str(folder)!r}",
        )


def require_own(*paths: Path) -> None:
    """Check that the existing ones of these files and folders belong to this user."""
    for path in paths:
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            kind = "a link" if stat.S_ISLNK(status.st_mode) else "no plain file"
            raise CacheError(
                f"{str(path)!r} is {kind}, and what is written there could go elsewhere; see where it "
                f"leads, then remove it, not what it leads to, or name another folder with --recsys-cache",
            )
        _require_owner(path, status)


def _require_owner(path: Path, status: os.stat_result) -> None:
    # Root can plant answers anyway, and root often owns a cache that is part of an
    # image.
    if os.name == "posix" and status.st_uid not in (os.geteuid(), ROOT):
        raise CacheError(
            f"{str(path)!r} belongs to user {status.st_uid}, who could plant answers in it, and this is "
            f"user {os.geteuid()}; if you trust what is there, run: chown -R {os.geteuid()} "
            f"{str(path)!r}; else name another folder with --recsys-cache",
        )

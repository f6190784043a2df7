"""Packed files: one alone (``.gz``, ``.bz2``, ``.xz``, ``.zst``, or a ``.zip`` with one
member) is read as it is, and an untrusted zip archive is unpacked, where an unsafe part
in it is refused by name.
"""

import bz2
import gzip
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any

from pytest_recsys_mt.safety.errors import DataError


@dataclass(frozen=True)
class Limits:
    """The limits on an unpacked archive."""

    total: int = (
        8 << 30
    )  # bytes of all members; the largest official set has about 3 GB
    ratio: float = 200.0  # unpacked per packed byte, of a member and of the whole; text has about 5
    grace: int = (
        1 << 20
    )  # bytes below which no ratio applies: repeated text packs very well
    members: int = 10_000

    def most(self, packed: int) -> int:
        """The most bytes that so many may unpack to; more is
        an attack on the memory or the disk.
        """
        return min(self.total, self.grace + int(self.ratio * packed))


LIMITS = Limits()
_DAMAGE = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    RuntimeError,
)


def extract(archive: Path, target: Path, limits: Limits = LIMITS) -> None:
    """Unpack a zip file into an empty folder.

    Raises:
        DataError: If the archive is unsafe, encrypted, truncated or of another format;
            the text names the member. Members unpacked before stay in `target`.
    """
    at = ""
    try:
        with zipfile.ZipFile(archive) as content:
            _require_safe(archive, content.infolist(), limits)
            for info in content.infolist():
                at = f", member {info.filename!r}"
                content.extract(info, target)
    except (*_DAMAGE, struct.error, LookupError, ValueError) as problem:
        raise DataError(
            f"archive {str(archive)!r}{at} is no sound zip file, or cut off ({problem}); delete it and get "
            f"it again",
        ) from problem


def _require_safe(
    archive: Path,
    members: list[zipfile.ZipInfo],
    limits: Limits,
) -> None:
    """Refuse the first member that is unsafe, or that makes the whole too large."""
    total = 0
    seen: set[str] = set()
    most = limits.most(archive.stat().st_size)
    for number, info in enumerate(members, 1):
        total += info.file_size
        reason = _unsafe(info, limits)
        if number > limits.members:
            reason = f"the archive has more than {limits.members} members"
        elif info.filename in seen:
            reason = "the archive holds that path twice"
        elif total > limits.total:
            reason = f"the archive unpacks to more than {limits.total:,} bytes"
        elif total > most:
            reason = "the archive unpacks to more than its size allows: a zip bomb"
        if reason:
            raise DataError(
                f"archive {str(archive)!r}, member {info.filename!r}: {reason}",
            )
        seen.add(info.filename)


def _unsafe(info: zipfile.ZipInfo, limits: Limits) -> str:
    """Why a member must not be unpacked; empty if it may be."""
    name = info.orig_filename
    path = PurePosixPath(name)
    windows = PureWindowsPath(name)
    if not path.parts:
        return "it has no name"
    if path.is_absolute() or windows.drive or windows.root:
        return "its path is absolute"
    if ".." in path.parts or "\\" in name or "\0" in name:
        return "its path leaves the folder or has a backslash"
    unix_mode = info.external_attr >> 16
    if stat.S_IFMT(unix_mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is a link or a special file"
    if info.flag_bits & 0x1:
        return "it is encrypted"
    # One that is larger than `limits.total` is refused by `_require_safe`.
    if limits.most(info.compress_size) < info.file_size <= limits.total:
        return f"it unpacks to {info.file_size:,} bytes from {info.compress_size:,}: a zip bomb"
    return ""


def _zip_member(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    members = [info for info in archive.infolist() if not info.is_dir()]
    if len(members) != 1:
        names = ", ".join(repr(info.filename) for info in members[:5])
        raise DataError(
            f"{str(path)!r} holds {len(members)} files ({names}) where one is needed; unpack it and give "
            f"the path of the folder",
        )
    reason = _unsafe(members[0], LIMITS)
    if reason:
        raise DataError(
            f"archive {str(path)!r}, member {members[0].filename!r}: {reason}",
        )
    return archive.open(members[0])


def _zstandard(path: Path) -> IO[bytes]:
    try:  # the standard library has it from Python 3.14 on
        from pyarrow import CompressedInputStream, OSFile  # type: ignore[import-untyped]
    except ImportError as error:
        raise DataError(
            f"{str(path)!r}: Zstandard needs pyarrow: pip install 'pytest-recsys-mt[parquet]', or unpack the "
            f"file with: zstd -d {path.name}",
        ) from error
    return io.BufferedReader(CompressedInputStream(OSFile(str(path)), "zstd"))


_OPEN: Mapping[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _zip_member,
    ".zst": _zstandard,
}


def suffix(path: Path) -> str:
    """The ending of a file's name in lower case, without that
    of its packing: ``.csv`` of ``a.csv.gz``.
    """
    if path.suffix.lower() not in _OPEN:
        return path.suffix.lower()
    return path.with_suffix("").suffix.lower() or ".csv"


def stem(path: Path) -> str:
    """The name of a file without its ending and that of its packing."""
    if path.suffix.lower() in _OPEN:
        return path.with_suffix("").stem
    return path.stem


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The content of a file, unpacked; DataError if it
    cannot be read, or is damaged or cut off.
    """
    if not path.is_file():
        why = "it is a pipe or a device" if path.exists() else "there is no such file"
        raise DataError(f"{str(path)!r} cannot be read: {why}")
    unpack = _OPEN.get(path.suffix.lower())
    try:
        with unpack(path) if unpack else path.open("rb") as stream:
            yield stream
    except _DAMAGE as problem:
        raise DataError(
            f"{str(path)!r}: the file is damaged or cut off ({problem}); get it again",
        ) from problem


def most(path: Path) -> int:
    """The most bytes that a file may unpack to; more is an attack on the memory."""
    packed = path.stat().st_size
    if path.suffix.lower() in _OPEN:
        return LIMITS.most(packed)
    return max(packed, LIMITS.total)

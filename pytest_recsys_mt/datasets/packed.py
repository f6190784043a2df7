"""Files as they are or packed (``.gz``, ``.bz2``, ``.xz``, or a ``.zip`` with one member)."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pytest_recsys_mt.datasets.archives import LIMITS
from pytest_recsys_mt.errors import DataError

_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError)


def _zip_member(path: Path) -> IO[bytes]:
    archive = zipfile.ZipFile(path)
    members = [info for info in archive.infolist() if not info.is_dir()]
    if len(members) != 1:
        names = ", ".join(repr(info.filename) for info in members[:5])
        raise DataError(
            f"{str(path)!r} holds {len(members)} files ({names}) where one is needed; unpack it and give "
            f"the path of the folder"
        )
    return archive.open(members[0])


_OPEN: Mapping[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _zip_member,
}


def suffix(path: Path) -> str:
    """The ending of a file's name in lower case, without that of its packing: ``.csv`` of ``a.csv.gz``."""
    if path.suffix.lower() not in _OPEN:
        return path.suffix.lower()
    return path.with_suffix("").suffix.lower() or ".csv"


def stem(path: Path) -> str:
    """The name of a file without its ending and that of its packing."""
    return (path.with_suffix("") if path.suffix.lower() in _OPEN else path).stem


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The content of a file, unpacked; DataError if it cannot be read, or is damaged or cut off."""
    if not path.is_file():
        raise DataError(f"{str(path)!r} cannot be read: there is no such file")
    unpack = _OPEN.get(path.suffix.lower())
    try:
        with unpack(path) if unpack else path.open("rb") as stream:
            yield stream
    except _DAMAGE as problem:
        raise DataError(
            f"{str(path)!r}: the file is damaged or cut off ({problem}); get it again"
        ) from problem


def most(path: Path) -> int:
    """The most bytes that a file may unpack to; more is an attack on the memory."""
    packed = path.stat().st_size
    return LIMITS.most(packed) if path.suffix.lower() in _OPEN else max(packed, LIMITS.total)

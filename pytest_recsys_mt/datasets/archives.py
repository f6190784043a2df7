"""Unpacks untrusted zip and tar.gz archives, and refuses what is unsafe in them by name."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from pytest_recsys_mt.errors import DataError

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What an archive may unpack to, declared and actually."""

    total: int = 8 << 30  # bytes of all members; the largest official set has about 3 GB
    ratio: float = 200.0  # unpacked per packed byte, of a member and of the whole; text has about 5
    grace: int = 1 << 20  # bytes below which no ratio applies: repeated text packs very well
    members: int = 10_000


LIMITS = Limits()


@dataclass
class _Budget:
    archive: Path
    limits: Limits
    total: int = 0
    members: int = 0

    @property
    def most(self) -> int:
        packed = self.archive.stat().st_size
        return min(self.limits.total, self.limits.grace + int(self.limits.ratio * packed))

    def admit(self, name: str, *, folder: bool) -> PurePosixPath:
        """Count a member and return its path, checked to stay in the target."""
        self.members += 1
        if self.members > self.limits.members:
            raise self.error(name, f"the archive has more than {self.limits.members} members")
        path = PurePosixPath(name)
        if not path.parts and not (folder and name):  # "." is the target, a folder
            raise self.error(name, "it has no name")
        windows = PureWindowsPath(name)
        if path.is_absolute() or windows.drive or windows.root:
            raise self.error(name, "its path is absolute")
        if ".." in path.parts or "\\" in name or "\0" in name:
            raise self.error(name, "its path leaves the folder or has a backslash")
        return path

    def check(self, name: str, size: int, packed: int | None) -> None:
        """Refuse a member of `size` bytes, declared or written, packed into `packed` bytes."""
        if self.total + size > self.limits.total:
            raise self.error(name, f"the archive unpacks to more than {self.limits.total:,} bytes")
        if self.total + size > self.most:
            raise self.bomb(name)
        if packed is not None and size > self.limits.grace + self.limits.ratio * packed:
            raise self.error(
                name, f"it unpacks to {size:,} bytes or more, from {packed:,}: a zip bomb"
            )

    def copy(self, source: IO[bytes], target: Path, name: str, packed: int | None) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        written = 0
        try:
            with target.open("xb") as sink:
                while chunk := source.read(_CHUNK):
                    written += len(chunk)
                    self.check(name, written, packed)
                    sink.write(chunk)
        except FileExistsError as problem:
            raise self.error(name, "the archive holds that path twice") from problem
        self.total += written

    def bomb(self, name: str) -> DataError:
        return self.error(name, "the archive unpacks to more than its size allows: a zip bomb")

    def error(self, name: str, reason: str) -> DataError:
        return DataError(f"archive {str(self.archive)!r}, member {name!r}: {reason}")


def extract(archive: Path, target: Path, limits: Limits = LIMITS) -> None:
    """Unpack a zip or tar.gz file, as its content says, into an empty folder.

    Raises:
        DataError: If the archive is unsafe, encrypted, truncated or of another format; the text
            names the member. Members unpacked before stay in `target`.
    """
    budget = _Budget(archive, limits)
    with archive.open("rb") as stream:
        magic = stream.read(4)
    if magic[:2] == b"\x1f\x8b":
        _extract_tar(archive, target, budget)
    elif magic[:2] == b"PK":
        _extract_zip(archive, target, budget)
    else:
        raise DataError(
            f"archive {str(archive)!r} is neither a zip nor a tar.gz file "
            f"(it starts with {magic!r}); delete it and get it again"
        )


@contextmanager
def _damage_named(archive: Path, member: list[str]) -> Iterator[None]:
    """Turn the libraries' errors for damaged archives into a DataError of the last member."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        LookupError,
        struct.error,
    ) as problem:
        at = f", member {member[-1]!r}" if member else ""
        raise DataError(
            f"archive {str(archive)!r}{at} is damaged or cut off ({problem}); delete it and get it "
            f"again"
        ) from problem


def _extract_zip(archive: Path, target: Path, budget: _Budget) -> None:
    names: list[str] = []
    with _damage_named(archive, names), zipfile.ZipFile(archive) as content:
        for info in content.infolist():
            names.append(info.filename)
            folder = info.filename.endswith("/")  # `is_dir` takes no empty name
            path = target / budget.admit(info.filename, folder=folder)
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise budget.error(info.filename, "it is a link or a special file")
            if info.flag_bits & 0x1:
                raise budget.error(info.filename, "it is encrypted")
            if folder:
                path.mkdir(parents=True, exist_ok=True)
                continue
            budget.check(info.filename, info.file_size, info.compress_size)
            with content.open(info) as source:
                budget.copy(source, path, info.filename, info.compress_size)


def _extract_tar(archive: Path, target: Path, budget: _Budget) -> None:
    # Headers and padding come in addition to the members.
    most = budget.limits.grace + budget.most
    names: list[str] = []
    with (
        _damage_named(archive, names),
        gzip.open(archive, "rb") as unpacked,
        tarfile.open(fileobj=_Capped(unpacked, most, budget, names), mode="r|") as content,
    ):
        for info in content:
            names.append(info.name)
            path = target / budget.admit(info.name, folder=info.isdir())
            if info.isdir():
                path.mkdir(parents=True, exist_ok=True)
                continue
            if not info.isreg() or info.issparse():
                raise budget.error(info.name, "it is a link or a special file")
            budget.check(info.name, info.size, None)
            source = content.extractfile(info)
            if source is not None:
                budget.copy(source, path, info.name, None)


class _Capped(io.RawIOBase):
    """The content of a gzip file, with an error after `most` bytes: headers unpack like members."""

    def __init__(self, stream: gzip.GzipFile, most: int, budget: _Budget, names: list[str]) -> None:
        self._stream = stream
        self._left = most
        self._budget = budget
        self._names = names

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._left + 1 if size < 0 else min(size, self._left + 1)
        chunk = self._stream.read(wanted)
        self._left -= len(chunk)
        if self._left < 0:
            member = self._names[-1] if self._names else ""
            raise self._budget.bomb(member)
        return chunk

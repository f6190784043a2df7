"""The plugin's files: written completely or not at all, in folders that only the user can write.

A run trusts its stored answers and trained weights, so whoever can write them controls the
verdicts. A link in the place of such a file would redirect a write to another file.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import platformdirs

from pytest_recsys_mt.errors import CacheError, RecsysError

ROOT = 0


@contextlib.contextmanager
def written_whole(path: Path, mode: int = 0o600) -> Iterator[TextIO]:
    """A stream that replaces the file at `path` if the block succeeds; else nothing changes.

    Only the owner can read the file unless `mode` says otherwise: most of these files hold users'
    profiles.
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


@contextlib.contextmanager
def written_or(kind: type[RecsysError], path: Path, mode: int = 0o600) -> Iterator[TextIO]:
    """As `written_whole`; that the file cannot be written is an error of this kind."""
    try:
        with written_whole(path, mode) as stream:
            yield stream
    except OSError as error:
        raise kind(f"{str(path)!r} cannot be written: {error.strerror or error}") from error


def cache_folder() -> Path:
    """The folder of ours beside the user's other caches, as the platform has it."""
    return platformdirs.user_cache_path("pytest-recsys-mt", appauthor=False)


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
            f"answers in it; run: chmod 700 {str(folder)!r}"
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
                f"leads, then remove it, or name another folder with --recsys-cache"
            )
        _require_owner(path, status)


def _require_owner(path: Path, status: os.stat_result) -> None:
    # Root can plant answers anyway, and root often owns a cache that is part of an image.
    if os.name == "posix" and status.st_uid not in (os.geteuid(), ROOT):
        raise CacheError(
            f"{str(path)!r} belongs to user {status.st_uid}, who could plant answers in it, and this is "
            f"user {os.geteuid()}; if you trust what is there, run: chown -R {os.geteuid()} "
            f"{str(path)!r}; else name another folder with --recsys-cache"
        )

"""Files of ours: written whole or not at all, in folders that are nobody else's.

Answers and trained weights are believed, so whoever can write them decides what a run says. And a link in the
place of a file of ours would have us write to a file elsewhere.
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

from pytest_recsys_mt.errors import CacheError

ROOT = 0


@contextlib.contextmanager
def written_whole(path: Path, mode: int = 0o600) -> Iterator[TextIO]:
    """A stream that becomes the file at `path` once the block ends well; else nothing changes.

    The file is its owner's alone unless `mode` says otherwise: most of what goes through here holds
    users' profiles.

    Raises:
        OSError: If it cannot be written.
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


def cache_folder() -> Path:
    """The folder of ours beside the user's other caches, as the platform has it."""
    return platformdirs.user_cache_path("pytest-recsys-mt", appauthor=False)


def cache_folder_for(name: str) -> Path:
    """A folder in `cache_folder`, made for its owner alone."""
    folder = cache_folder() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def require_private(folder: Path) -> None:
    """See that nobody else can write into a folder.

    Args:
        folder: There already; a link to a folder is one.

    Raises:
        CacheError: If somebody else can, or owns it.
    """
    status = folder.stat()
    _require_owner(folder, status)
    if os.name == "posix" and status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheError(
            f"the cache folder {str(folder)!r} can be written by others, who could plant "
            f"answers in it; run: chmod 700 {str(folder)!r}"
        )


def require_own(*paths: Path) -> None:
    """See that files and folders below a folder of ours are ours, where they are there.

    Raises:
        CacheError: If one belongs to somebody else, or is anything but a file or a folder.
    """
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
    # Root can plant what it likes anyhow; a cache that is part of an image is often root's.
    if os.name == "posix" and status.st_uid not in (os.geteuid(), ROOT):
        raise CacheError(
            f"{str(path)!r} belongs to user {status.st_uid}, who could plant answers in it, and this is "
            f"user {os.geteuid()}; if you trust what is there, run: chown -R {os.geteuid()} "
            f"{str(path)!r}; else name another folder with --recsys-cache"
        )

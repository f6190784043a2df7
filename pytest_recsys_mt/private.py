"""A folder of ours, and what is in it: nobody else's, and leading nowhere else.

Answers and trained weights are believed, so whoever can write them decides what a run says. And a link in the
place of a file of ours would have us write to a file elsewhere.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pytest_recsys_mt.errors import CacheError

ROOT = 0


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

"""`load`: a dataset by name, or from a folder in a known format, recorded answers or a table."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_recsys_mt.datasets.sources import BY_HAND, SOURCES
from pytest_recsys_mt.errors import DataError

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets.dataset import Dataset

NAMES = ("mini", *SOURCES, *BY_HAND)
"""The names that `load` takes, besides paths."""
Repeats = Literal["latest", "count", "refuse"]
"""What becomes of rows of a table that repeat a user and an item: the latest is kept; or their number is the
rating, where there is none; or they are an error."""


@dataclass(frozen=True)
class Format:
    """A folder format."""

    name: str  # in errors
    files: tuple[str, ...]  # names, glob patterns, and alternatives of them between ``|``
    load: Callable[[Path, str], Dataset]  # a folder, as a dataset of that name


@cache
def formats() -> Sequence[Format]:
    """Every format: what the modules of this folder declare in ``FORMATS``."""
    modules = (
        importlib.import_module(f"{__package__}.{found.name}")
        for found in pkgutil.iter_modules([str(Path(__file__).parent)])
    )
    return [form for module in modules for form in getattr(module, "FORMATS", ())]


def load(
    source: str | Path,
    *,
    cache_dir: Path | None = None,
    repeats: Repeats = "latest",
    told: Callable[[str], None] = lambda _: None,
) -> Dataset:
    """Load a dataset.

    Args:
        source: One of `NAMES`, or a path to a folder or a table. A `Path` is never a name.
        cache_dir: The folder of named datasets; by default that of `download.data_directory`.
        repeats: What becomes of rows of a table that repeat a user and an item.
        told: Told in a sentence if there are such rows.

    Raises:
        DataError: If there is no such dataset, it cannot be downloaded, or a file of it is missing,
            malformed or unsafe; the text names the file and the line.
    """
    if isinstance(source, str) and source in NAMES:
        folder = obtained(source, cache_dir)
        if folder is None:
            from pytest_recsys_mt.datasets.mini import load_mini

            return load_mini()
        return _folder(folder, source)
    path = Path(source).expanduser()
    if path.is_dir():
        return _folder(path, path.resolve().name)
    if path.is_file():
        from pytest_recsys_mt.datasets import recordings, table

        if path.suffix.lower() == recordings.SUFFIX:
            return recordings.load(path, path.stem)
        return table.load(path, path.stem, repeats, told)
    raise DataError(unknown(source))


def obtained(name: str, cache_dir: Path | None = None) -> Path | None:
    """The folder of a dataset of `NAMES`, downloaded if missing; None for the embedded one.

    Raises:
        DataError: If it cannot be downloaded, or must be obtained by hand.
    """
    if name == "mini":
        return None
    from pytest_recsys_mt.datasets import download

    directory = cache_dir or download.data_directory()
    if name in BY_HAND:
        folder = directory / name
        if not folder.is_dir():
            raise DataError(
                f"dataset {name!r} is not downloaded for you: get its files from {BY_HAND[name]} and "
                f"put them into {str(folder)!r}, or give the path of their folder"
            )
        return folder
    return download.obtain(name, directory)


def _folder(folder: Path, name: str) -> Dataset:
    present = {form: sum(_has(folder, file) for file in form.files) for form in formats()}
    best = max(present, key=lambda form: present[form] / len(form.files))
    missing = [file for file in best.files if not _has(folder, file)]
    if missing and present[best]:
        raise DataError(
            f"folder {str(folder)!r} looks like {best.name}, but lacks {', '.join(missing)}"
        )
    if missing:
        known = "; ".join(f"{form.name} ({', '.join(form.files)})" for form in present)
        raise DataError(
            f"folder {str(folder)!r} is in no known format; known are: {known}. For a table of your "
            f"own, give the path of the file"
        )
    return best.load(folder, name)


def _has(folder: Path, file: str) -> bool:
    return any(
        path.is_file() for pattern in file.split("|") for path in islice(folder.glob(pattern), 1)
    )


def unknown(source: str | Path) -> str:
    """The error text if `source` is neither a name nor a path."""
    if isinstance(source, Path) or "/" in source or "\\" in source or Path(source).suffix:
        return f"no file or folder {str(source)!r}; give a path or one of {', '.join(NAMES)}"
    nearest = difflib.get_close_matches(source.lower(), NAMES, n=1)
    guess = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return (
        f"no dataset {source!r}.{guess} Known are {', '.join(NAMES)}; the path of a folder or of a "
        f"CSV, TSV or Parquet table also works"
    )

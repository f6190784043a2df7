"""The files of a folder, found by the names and patterns of a format."""

from collections.abc import Sequence
from pathlib import Path


def found(folder: Path, file: str) -> list[Path]:
    """The files of a folder that have one of the names or patterns between ``|``."""
    files: list[Path] = []
    for pattern in file.split("|"):
        files += [path for path in folder.glob(pattern) if not path.is_dir()]
    return sorted(files)


def missing(folder: Path, names: Sequence[str]) -> list[str]:
    """Those of the names or patterns that no file of a folder has."""
    return [file for file in names if not found(folder, file)]

"""Margins and thresholds in a file next to the tests that use them."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from pytest_recsys_mt.safety.files import content_of, toml_of


class Thresholds(dict[str, float]):
    """Numbers by name; an unknown name is an error that lists the known names."""

    def __init__(self, path: Path, numbers: Mapping[str, float]) -> None:
        super().__init__(numbers)
        self._path = path

    def __missing__(self, name: str) -> float:
        raise KeyError(
            f"{self._path.name} has no threshold {name!r}; it has {sorted(self)!r}",
        )


def thresholds(test_file: str, table: str) -> Thresholds:
    """The numbers of one table of the ``thresholds.toml`` next to a test file.

    Args:
        test_file: The ``__file__`` of the test module.
        table: Name of the table.

    Raises:
        FileNotFoundError: If there is no such file.
        KeyError: If it has no such table.
        ValueError: If the file is not TOML.
        TypeError: If `test_file` is no path.
    """
    if not isinstance(test_file, str | PathLike):
        raise TypeError(
            f"thresholds takes the __file__ of the test module and the name of a table, as in "
            f"thresholds(__file__, 'margin'), got {test_file!r}",
        )
    path = Path(test_file).with_name("thresholds.toml")
    try:
        tables = toml_of(content_of(path))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"there is no {str(path)!r}; write the numbers of this folder's tests in it, under [{table}]",
        ) from None
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not TOML: {error}") from error
    if table not in tables:
        raise KeyError(f"{path.name} has no table {table!r}; it has {sorted(tables)!r}")
    return Thresholds(path, tables[table])

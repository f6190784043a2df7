"""Functions that the commands on records share: for the
records they read and the files they write.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from pytest_recsys_mt.gate.baseline import record_in
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.safety.errors import DataError, PolicyError
from pytest_recsys_mt.safety.files import written_or
from pytest_recsys_mt.safety.sanitize import clean, one_line


def record_at(path: Path, without: Collection[str] = ()) -> Document:
    """The record in a file, harmless to show; `without` as `gate.reading.parsed` takes
    it.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        return cast("Document", clean(record_in(path, without)))
    except PolicyError as error:
        raise DataError(f"{str(path)!r}: {error}") from error


@contextmanager
def raised_as_data_error(what: str, *further: type[Exception]) -> Iterator[None]:
    """Turn an error that a damaged record causes inside into
    a `DataError` that begins with `what`.
    """
    kinds: tuple[type[Exception], ...] = (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        *further,
    )
    try:
        yield
    except kinds as error:
        raise DataError(
            f"{what}: {type(error).__name__}: {one_line(str(error))[:200]}",
        ) from error


def require_output(
    output: Path | None,
    endings: Collection[str],
    records: Sequence[Path],
) -> None:
    """Check a file before anything is made for it; None is standard output.

    Raises:
        DataError: If its ending says no format, or it is a record.
    """
    if output is not None and output.suffix not in endings:
        raise DataError(
            f"{str(output)!r} has no known ending; give -o a file that ends in {', '.join(endings)}",
        )
    if output is not None and os.path.realpath(output) in map(
        os.path.realpath,
        records,
    ):
        raise DataError(f"{str(output)!r} is a record; name another file with -o")
    if (
        output is not None
        and output.suffix in (".html", ".htm")
        and os.path.isfile(output)
    ):
        with output.open("rb") as stream:
            if not re.match(
                rb"\s*(?:<!doctype html|$)",
                stream.read(200),
                re.IGNORECASE,
            ):
                raise DataError(
                    f"{str(output)!r} is no page, and would be replaced; name another file with -o",
                )


def write_out(text: str, output: Path | None, what: str) -> None:
    """Print a text, or write it to a file, completely or not at all, and say so.

    Raises:
        DataError: If the file cannot be written.
    """
    if output is None:
        print(text, end="")
        return
    with written_or(DataError, output, 0o644) as stream:
        stream.write(text)
    print(f"{what} written to {output}")

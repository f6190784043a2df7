"""Files with one record a line, read line by line."""

import gzip
import re
import zlib
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any

from pytest_recsys_mt.errors import DataError

LONGEST = 4 << 20
"""Most characters of a record. The longest published ones have some hundred thousand."""


def records(
    path: Path,
    parse: Callable[[str], Any],
    key: re.Pattern[str] | None = None,
    wanted: Container[str] = (),
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a file, one a line, with the numbers of the lines; gzip if its name says so.

    `parse` raises ValueError for an invalid line. One whose `key` is not `wanted` is not parsed.

    Raises:
        DataError: If the file is damaged, or a line is too long or not a record; the text names the
            file and the line.
    """
    number = 0
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as stream:
            while line := stream.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise DataError(
                        f"{str(path)!r}, line {number}: longer than {LONGEST:,} characters"
                    )
                named = key.search(line) if key else None
                if not line.strip() or (named and named[1] not in wanted):
                    continue
                try:
                    record = parse(line)
                except ValueError as problem:
                    raise DataError(
                        f"{str(path)!r}, line {number}: {line[:80]!r} is not a record ({problem})"
                    ) from problem
                if not isinstance(record, dict):
                    raise DataError(f"{str(path)!r}, line {number}: {line[:80]!r} is not a record")
                yield number, record
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as problem:
        raise DataError(
            f"{str(path)!r}, behind line {number}: the file is damaged or cut off ({problem}); get "
            f"it again"
        ) from problem

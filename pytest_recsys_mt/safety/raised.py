"""Errors of users' own code, as without the plugin: file, line and code."""

import importlib
import os
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from pytest_recsys_mt.safety.errors import RecsysError
from pytest_recsys_mt.safety.redaction import redact

HERE = Path(__file__).resolve().parents[1]
FOLDERS = (
    HERE,
    *(Path(HERE, name).resolve() for name in ("relations", "oracles", "suites")),
)
NOT_OWN = (
    *(f"{folder}{os.sep}" for folder in FOLDERS),
    f"{Path(str(importlib.__file__)).parent}{os.sep}",
    "<frozen importlib",
    threading.__file__,
)
"""Beginnings of the file names of frames that are not the user's code."""

MOST_LINES = 60
MOST_COLUMNS = 500


def traceback_of(error: BaseException) -> str:
    """The traceback of `error` and of its causes, without the plugin's frames, locals
    and keys.

    Empty for an error that the plugin raises without a line of the user's code.
    """
    summary = traceback.TracebackException.from_exception(error, compact=True)
    own = [_strip(each) for each in _chain(summary)]
    if not any(own) and isinstance(error, RecsysError):
        return ""
    if not any(own) and not isinstance(
        error,
        SyntaxError,
    ):  # then the plugin's code failed
        summary = traceback.TracebackException.from_exception(error, compact=True)
    lines = [
        line[:MOST_COLUMNS] for line in redact("".join(summary.format())).splitlines()
    ]
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines[half:-half] = ["  ..."]
    return "\n".join(lines)


def with_traceback(text: str, error: BaseException) -> str:
    """`text` with the exception, and below it the traceback."""
    raised = redact(f"{text} {type(error).__name__}: {error}")
    return f"{raised}\n{traceback_of(error)}".rstrip()


def _chain(
    summary: traceback.TracebackException,
) -> Iterator[traceback.TracebackException]:
    yield summary
    for each in (summary.__cause__, summary.__context__):
        if each is not None:
            yield from _chain(each)


def _strip(summary: traceback.TracebackException) -> bool:
    here = f"{Path.cwd()}{os.sep}"
    own = [frame for frame in summary.stack if not frame.filename.startswith(NOT_OWN)]
    for frame in own:
        frame.filename = frame.filename.removeprefix(here)
    # Without a stack, a traceback is written without its heading.
    summary.stack = traceback.StackSummary.from_list(own) if own else None  # type: ignore[assignment]
    return bool(own)

"""The command `recsys-mt`: first files of a project, answers, batches, reports,
comments, nights, questions, faults.

A command imports heavy modules only when it runs.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO, cast

from pytest_recsys_mt.cli.arguments import Command, read_arguments

UNREAD = 141
"""The status of a program that SIGPIPE ended."""

INTERRUPTED = 130
"""The status of a program that Ctrl-C ended, as a shell reports it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 for success, 1 if lines of a file were refused or a promise broke, 2 if the
        command could not run, 130 if Ctrl-C ended it, 141 if its output is not read to the end, as of a shell.
    """
    if sys.stdout is None:  # closed by `>&-`
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("recsys-mt: interrupted", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            print(
                f"recsys-mt: {str(error.filename)!r}: {error.strerror}",
                file=sys.stderr,
            )
            return 2
        # The interpreter flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return UNREAD
        print(
            f"recsys-mt: the output cannot be written: {error.strerror}",
            file=sys.stderr,
        )
        return 2


def _run(arguments: Sequence[str] | None) -> int:
    given = read_arguments(arguments)
    from pytest_recsys_mt.safety.errors import RecsysError
    from pytest_recsys_mt.safety.redaction import redact
    from pytest_recsys_mt.safety.sanitize import Safe

    command: Command | None = getattr(given, "command", None)
    if command is None:  # of a package of others
        print(
            "recsys-mt: this command says nothing of what it does; its package should call "
            "parser.set_defaults(command=...) with a function of the arguments",
            file=sys.stderr,
        )
        return 2
    out, err = (cast(TextIO, Safe(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            return command(given) or 0
        except RecsysError as error:
            print(f"recsys-mt: {redact(str(error))}", file=sys.stderr)
            return 2

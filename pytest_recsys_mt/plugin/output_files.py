"""Checks, before the run, that its files can be written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.safety.files import RUNS, is_replaced

OURS = {
    "--recsys-json": rb'\s*\{\s*"schema":\s*"recsys-mt',
    "--recsys-html": rb"\s*<!doctype html",
}
"""How the files begin that an earlier run wrote with an option."""


def check_outputs(settings: Settings, junit: str | None) -> None:
    """Check, before the run rather than at its end, that files can be written, and that
    none replaces another.

    If a run that fails the comparison replaced its baseline, the same run would pass
    the next time.

    Args:
        settings: The settings of the run.
        junit: The path of pytest's JUnit file.

    Raises:
        pytest.UsageError: A file cannot be written, or would replace another one.
    """
    option_of_file: dict[str, str] = {}
    if settings.baseline is not None:
        option_of_file[os.path.realpath(settings.baseline)] = "--recsys-baseline"
    if junit is not None:
        option_of_file[os.path.realpath(junit)] = "--junitxml"
    is_same_file = len(option_of_file) < 2
    if junit and settings.baseline and is_same_file:
        raise pytest.UsageError(
            f"--junitxml={junit!r}: it is the file of --recsys-baseline, which would be lost; name another",
        )
    for option, path in (
        ("--recsys-json", settings.json),
        ("--recsys-html", settings.html),
    ):
        if path is None:
            continue
        try:
            reason = _obstacle(path, option, option_of_file)
        except OSError as error:
            reason = error.strerror or str(error)
        if reason:
            raise pytest.UsageError(
                f"{option}={str(path)!r}: {reason}; name a file to write",
            )
        option_of_file[os.path.realpath(path)] = option


def _obstacle(path: Path, option: str, option_of_file: Mapping[str, str]) -> str:
    """Why an option must not or cannot write a file; empty if it can. Makes its folder.

    Args:
        path: The file.
        option: The option.
        option_of_file: The options that use other files, by the real paths of these.
    """
    if path.name.startswith("-"):
        return "that is an option, or standard output, which is pytest's"
    if path.suffix == ".toml":
        return "that is the name of a policy or of another file of settings"
    if str(RUNS) in os.path.dirname(os.path.realpath(path)):
        return "it would be one of the kept runs' own files"
    if not is_replaced(path):  # a device or a pipe
        return "" if os.access(path, os.W_OK) else "it cannot be written to"
    real = os.path.realpath(path)
    if real in option_of_file:
        return f"it is the file of {option_of_file[real]}, which would be lost"
    if path.is_file():
        with path.open("rb") as stream:
            beginning = stream.read(200)
        if beginning and not re.match(OURS[option], beginning, re.IGNORECASE):
            return f"there is a file that {option} did not write, and would replace"
    folder = Path(real).parent
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        return f"{str(folder)!r} cannot be written to"
    return ""

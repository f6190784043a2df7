"""What the command line names is looked for before any test is collected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.settings import Settings


def check_writable(option: str, path: Path) -> None:
    """See that a file can be written at `path`, now rather than at the end of the run.

    Raises:
        pytest.UsageError: If it cannot.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        reason = "it is a folder" if path.is_dir() else ""
        if not reason and not os.access(path.parent, os.W_OK):
            reason = "the folder cannot be written to"
    except OSError as error:
        reason = str(error.strerror)
    if reason:
        raise pytest.UsageError(f"{option}={str(path)!r}: {reason}; name a file to write")


def check_named(config: pytest.Config, settings: Settings) -> None:
    """See that the recommenders, the dataset and the prompt named on the command line exist.

    What the ini file names is left to the tests that use it: other runs in the same project need
    not pay for it.

    Raises:
        pytest.UsageError: If one does not.
    """
    if settings.models_given:
        from pytest_recsys_mt.recommenders import resolve

        for spec in settings.models:
            try:
                resolve(spec)
            except RecsysError as error:
                raise pytest.UsageError(f"--recsys-model={spec!r}: {error}") from error
    if config.getoption("recsys_data") is not None:
        from pytest_recsys_mt.datasets import NAMES, unknown

        if settings.data not in NAMES and not Path(settings.data).expanduser().exists():
            raise pytest.UsageError(f"--recsys-data={settings.data!r}: {unknown(settings.data)}")
    if config.getoption("recsys_prompt") is not None and settings.prompt is not None:
        from pytest_recsys_mt.llm.prompts import template

        try:
            template(settings.prompt)
        except RecsysError as error:
            raise pytest.UsageError(f"--recsys-prompt={settings.prompt!r}: {error}") from error

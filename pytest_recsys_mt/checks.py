"""What the command line names is looked for before any test is collected."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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


def check_html(path: Path) -> None:
    """See that what draws the HTML report is installed.

    Raises:
        pytest.UsageError: If it is not.
    """
    from pytest_recsys_mt.report.html import require_html

    try:
        require_html()
    except RecsysError as error:
        raise pytest.UsageError(f"--recsys-html={str(path)!r}: {error}") from error


def check_baseline(path: Path) -> Mapping[str, Any]:
    """The record to compare with, read now rather than at the end of the run.

    Raises:
        pytest.UsageError: If it is none, or that of a partial run.
    """
    from pytest_recsys_mt.gate.baseline import read

    try:
        return read(path)
    except RecsysError as error:
        raise pytest.UsageError(f"--recsys-baseline={str(path)!r}: {error}") from error


def check_prices(settings: Settings) -> None:
    """See that the price file can be read, and that a limit on the cost can be kept.

    Raises:
        pytest.UsageError: If it cannot, or the cost is limited and a price is not known.
    """
    from pytest_recsys_mt.prices import Prices
    from pytest_recsys_mt.recommenders import resolve

    try:
        prices = Prices.load(settings.prices)
    except RecsysError as error:
        raise pytest.UsageError(f"--recsys-prices={str(settings.prices)!r}: {error}") from error
    if settings.limits.usd is None or settings.plan or settings.list:
        return
    for spec in settings.models:
        if spec.startswith("hf:"):
            continue  # free, and its files need not be read for that
        try:
            found = resolve(spec)
            identity = getattr(found, "identity", None)
        except RecsysError:
            continue  # told where the recommender is looked for
        known = identity if isinstance(identity, Mapping) else {"recommender": spec}
        if prices.of(spec, known) is None:
            raise pytest.UsageError(
                f"--recsys-max-usd={settings.limits.usd}: what {spec!r} costs is not known; name "
                f"its price in a file, --recsys-prices=FILE"
            )


def check_executor(settings: Settings) -> None:
    """See that what puts the calls is installed.

    Raises:
        pytest.UsageError: If it is not.
    """
    from pytest_recsys_mt.remote import require_ray

    try:
        require_ray()
    except RecsysError as error:
        raise pytest.UsageError(f"--recsys-executor={settings.executor}: {error}") from error


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
                resolve(spec, exact=settings.exact)
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

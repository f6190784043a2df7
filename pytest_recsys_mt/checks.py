"""What can be checked of the settings before any test is collected."""

from __future__ import annotations

import pytest

from pytest_recsys_mt.errors import RecsysError
from pytest_recsys_mt.settings import Settings


def check_named(settings: Settings) -> None:
    """See that the recommenders named on the command line exist.

    Raises:
        pytest.UsageError: If one does not.
    """
    from pytest_recsys_mt.recommenders import resolve

    for spec in settings.models:
        try:
            resolve(spec)
        except RecsysError as error:
            raise pytest.UsageError(f"--recsys-model={spec!r}: {error}") from error

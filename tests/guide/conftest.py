from pathlib import Path

import pytest

from tests.journeys.pages import Journey


@pytest.fixture
def journey(tmp_path: Path) -> Journey:
    """An empty folder of a reader who has just installed the package."""
    return Journey(tmp_path)

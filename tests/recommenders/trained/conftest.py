from pathlib import Path

import pytest

from tests.extras import need

need("torch", "safetensors")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded that another test trained."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

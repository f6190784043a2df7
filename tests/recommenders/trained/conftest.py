from pathlib import Path

import pytest

from tests.extras import need

need("torch", "safetensors")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is loaded that another test trained."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def on_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks stay where numpy can read their weights, on a machine with a GPU too."""
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)

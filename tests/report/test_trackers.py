"""What is said of a tracker that does not take a run, and what it gets of keys."""

import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.report.records import document as record_with
from tests.report.records import holds
from tests.support.report import trackers

QUERY = "abc-token-of-a-tracker"
KEYS = ("sk-live-abcdefghijklmnop123456", "ghp_abcdefghijklmnopqrst1234")
BEARER = "Bearer abcdefghijklmnop.qrstuv"
LOST = (
    "The filesystem backend is in maintenance mode. "
    + "Please migrate to a database. " * 18
    + "The tool migrates your existing data losslessly. "
    + "See the guide. " * 20
)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trackers, "require", lambda names: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    for name in (trackers.TIMEOUT, trackers.RETRIES, "MLFLOW_TRACKING_URI"):
        monkeypatch.delenv(name, raising=False)


def failing(monkeypatch: pytest.MonkeyPatch, words: str) -> str:
    """What is said where the library raises an error with these words."""

    def raise_it(*_: object) -> str:
        raise ValueError(words)

    monkeypatch.setattr(trackers, "TRACKERS", {"mlflow": raise_it})
    with pytest.raises(trackers.TrackerError) as caught:
        trackers.send("mlflow", record_with(holds()))
    return str(caught.value)


def test_an_address_is_shown_without_user_and_query(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = f"https://joe:hunter2@mlflow.example:80/sub?token={QUERY}"
    said = failing(
        monkeypatch,
        f"API request to {address}/api failed: Max retries exceeded with url: /sub?token={QUERY}/api (Caused by x)",
    )
    assert QUERY not in said
    assert "hunter2" not in said
    assert "https://mlflow.example:80/sub failed" in said
    assert said.endswith("with url: /sub (Caused by x)")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    waiting = trackers.waits("mlflow")
    assert "at https://mlflow.example:80/sub: " in waiting
    assert "about 14 s" in waiting


def test_an_error_is_cut_behind_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    said = failing(monkeypatch, LOST)
    assert "migrates your existing data losslessly." in said
    assert said.endswith("guide. [...]")


def test_what_a_local_store_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = failing(monkeypatch, "unsupported URI")
    assert (
        "unsupported URI; a store in a local file needs sqlalchemy and alembic" in said
    )
    assert "pip install 'pytest-recsys-mt[mlflow]'" in said
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://mlflow.example")
    assert "pip install" not in failing(monkeypatch, "gone")


def test_a_limit_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://mlflow.example")
    monkeypatch.setenv(trackers.TIMEOUT, "20")
    assert "about 40 s" in trackers.waits("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///store.db")
    assert trackers.waits("mlflow") == trackers.waits("wandb") == ""


def test_what_has_the_form_of_a_key_is_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts: list[str] = []

    def keep(
        document: Mapping[str, Any], models: Sequence[Any], files: Sequence[Path]
    ) -> str:
        texts.append(json.dumps(document, default=dict))
        texts.append(repr(models))
        texts.extend(file.read_text() for file in files)
        return "kept"

    monkeypatch.setattr(trackers, "TRACKERS", {"mlflow": keep})
    page = tmp_path / "page.html"
    secret = f"say {KEYS[0]}, {KEYS[1]} or {BEARER}; m?system=my%20key%20{KEYS[0]}"
    page.write_text(f"<p>{secret}</p> task-based-recommendations-of-films")
    document = {**record_with(holds()), "notes": [secret, f"test_it[m-my-20{KEYS[0]}]"]}
    trackers.send("mlflow", document, [page])
    sent = "\n".join(texts)
    assert [each for each in (*KEYS, BEARER) if each in sent] == []
    assert "say [key], [key] or [key]" in sent
    assert "task-based-recommendations-of-films" in sent

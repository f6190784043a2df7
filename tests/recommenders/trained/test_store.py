from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt import CacheError
from tests.recommenders.trained.rings import fitted, request, ring
from tests.support.recommenders_trained_extras import BPRMF, base, trainer

ASKED = [request(1, 2, 3), request(7)]


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one with each training."""
    seen: list[object] = []

    def counted(*args: Any) -> Any:
        seen.append(args)
        return trainer.train(*args)

    monkeypatch.setattr(base, "train", counted)
    return seen


def model(folder: Path, **changes: Any) -> BPRMF:
    made = BPRMF(**{"dim": 4, "epochs": 2, "batch": 64, **changes})
    made.folder = folder
    return made


def test_a_second_run_loads_what_the_first_trained(
    tmp_path: Path,
    trainings: list[object],
) -> None:
    first, second = (fitted(model(tmp_path)) for _ in range(2))
    assert len(trainings) == 1
    assert np.array_equal(first.score(ASKED), second.score(ASKED))
    assert isinstance(first, BPRMF)
    assert isinstance(second, BPRMF)
    assert first.report == second.report
    assert first.fingerprint == second.fingerprint
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} == {
        ".json", ".lock", ".safetensors",
    }  # fmt: skip


def test_whatever_the_weights_follow_from_makes_another_model(
    tmp_path: Path,
    trainings: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fitted(model(tmp_path))
    fitted(model(tmp_path, rate=0.1))
    fitted(model(tmp_path), seed=1)
    fitted(model(tmp_path), ring(steps=5))
    assert len(trainings) == 4
    fitted(model(tmp_path, device="cpu"))
    assert len(trainings) == 4
    monkeypatch.setattr("torch.__version__", "99.0")
    fitted(model(tmp_path))
    assert len(trainings) == 5


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def _rename(path: Path) -> None:
    told = json.loads(path.read_text())
    told["identity"]["seed"] = 99
    path.write_text(json.dumps(told))


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("weights.safetensors", _cut),
        ("weights.safetensors", _flip),
        ("weights.safetensors", Path.unlink),
        ("model.json", _cut),
        ("model.json", _rename),
        ("model.json", Path.unlink),
    ],
)
def test_what_is_damaged_is_trained_anew_and_replaced(
    tmp_path: Path,
    trainings: list[object],
    file: str,
    damage: Callable[[Path], None],
) -> None:
    expected = fitted(model(tmp_path)).score(ASKED)
    (path,) = tmp_path.rglob(file)
    damage(path)
    for _ in range(2):
        assert np.array_equal(fitted(model(tmp_path)).score(ASKED), expected)
    assert len(trainings) == 2


def test_two_processes_train_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This one trains, and until it is done the other one,
    which wants the same model, waits.
    """
    code = f"""
from pathlib import Path
from pytest_recsys_mt.recommenders.trained import base
from tests.recommenders.trained.test_store import ASKED, fitted, model
train = base.train
base.train = lambda *args: print("trained") or train(*args)
print("begins", flush=True)
print(fitted(model(Path({str(tmp_path)!r}), epochs=5)).score(ASKED).tobytes().hex())
"""
    root = Path(__file__).resolve().parents[3]
    began: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        output = other.stdout

        def slowly(*args: Any) -> Any:
            began.append(output.readline())
            time.sleep(0.5)
            return trainer.train(*args)

        monkeypatch.setattr(base, "train", slowly)
        here = fitted(model(tmp_path, epochs=5)).score(ASKED).tobytes().hex()
        told = other.communicate(timeout=120)[0].split()
    assert began == ["begins\n"]
    assert told == [here]


def test_a_training_that_fails_leaves_nothing_and_holds_nobody_up(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(base, "train", broken)
        with pytest.raises(KeyboardInterrupt):
            fitted(model(tmp_path))
    assert not list(tmp_path.rglob("*.json"))
    fitted(model(tmp_path))


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CacheError, match=r"cannot be kept in .*file.*--recsys-cache"):
        fitted(model(tmp_path / "file"))


def test_without_a_folder_models_are_kept_among_the_user_s_caches(
    tmp_path: Path,
) -> None:
    fitted(BPRMF(dim=4, epochs=1))
    assert list((tmp_path / "cache").rglob("model.json"))


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are of POSIX")
def test_only_a_folder_of_ones_own_is_believed(
    tmp_path: Path,
    trainings: list[object],
) -> None:
    fitted(model(tmp_path))
    (weights,) = tmp_path.rglob("weights.safetensors")
    weights.rename(tmp_path / "elsewhere")
    weights.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CacheError, match="is a link"):
        fitted(model(tmp_path))
    tmp_path.chmod(0o777)
    with pytest.raises(CacheError, match="can be written by others"):
        fitted(model(tmp_path))
    assert len(trainings) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are of POSIX")
def test_what_is_there_needs_no_folder_that_can_be_written(
    tmp_path: Path,
    trainings: list[object],
) -> None:
    fitted(model(tmp_path))
    for path in [*tmp_path.rglob("*.lock")]:
        path.unlink()
    before = sorted(tmp_path.rglob("*"))
    fitted(model(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
    assert len(trainings) == 1

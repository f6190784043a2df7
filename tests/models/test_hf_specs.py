import json
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import MissingExtraError, RecommenderError
from tests.support.llm_local import HFModel, hf_source
from tests.support.recommenders import resolve
from tests.support.safety import cache_folder_for


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model from afar."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("hf:none.gguf", "does not exist"),
        ("hf:./none", "does not exist"),
        ("hf:/none/at/all", "does not exist"),
        ("hf:~/none/at/all", "does not exist"),
        ("hf:../none", "does not exist"),
        ("hf:", "must be a folder"),
        (f"hf:{__file__}", "neither a folder nor a .gguf file"),
        ("hf:org/name?max_token=3", "did you mean 'max_tokens'"),
        ("hf:org/name?dtype=int8", "dtype='int8' is not one of 'auto', 'float32'"),
        (
            "hf:org/name?trust_remote_code=1",
            "'main' may be other code tomorrow.*full hash",
        ),
        ("hf:org/name@0123abc?trust_remote_code=1", "'0123abc' may be other code"),
        (
            "hf:org/name?exact=1&dtype=bfloat16",
            "dtype must be float32 for exact answers, got 'bfloat16'",
        ),
        (
            "hf:org/name?exact=1&batch=4",
            "batch must be 1 where answers are exact, got 4",
        ),
        (
            "hf:org/name?device=cpu&device_map=auto",
            "device must be left out beside device_map, got 'cpu'",
        ),
        ("hf:org/name?device_map=all", "device_map='all' is not"),
        (
            "hf:org/name?answer=choice",
            "answer='choice' is not one of 'generate', 'choices'",
        ),
        (
            "hf:org/name?answer=json",
            "answer='json' is not one of 'generate', 'choices'",
        ),
        ("hf:org/name?temperature=-1", "temperature must be at least 0, got -1.0"),
        ("hf:org/name?temperature=nan", "temperature must be .*, got nan"),
        ("hf:org/name?max_tokens=0", "max_tokens must be .*, got 0"),
        ("hf:org/name?top_p=1.5", "top_p must be .*, got 1.5"),
        ("hf:org/name?batch=0", "batch must be .*, got 0"),
    ],
)
def test_a_bad_spec_says_what_is_allowed(spec: str, says: str) -> None:
    with pytest.raises(RecommenderError, match=says):
        HFModel.from_spec(spec)


@pytest.mark.parametrize(
    "name",
    ["gpt2", "org/name", "org/name@v1.0", "org/name@0123abc"],
)
def test_a_name_of_the_hub_is_looked_up_only_when_it_is_needed(name: str) -> None:
    assert HFModel.from_spec(f"hf:{name}?batch=2").name == f"hf:{name}"


def test_a_missing_package_says_how_to_install_it(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import importlib

    real = importlib.import_module

    def without_torch(name: str, package: str | None = None) -> Any:
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without_torch)
    with pytest.raises(
        MissingExtraError,
        match=r"PyTorch first.*'pytest-recsys-mt\[hf\]'",
    ):
        _ = HFModel(str(folder)).identity


def test_the_digest_of_a_folder_is_that_of_its_content(
    folder: Path,
    tmp_path: Path,
) -> None:
    first = hf_source.digest(folder)
    (folder / "README.md").write_text("Says nothing to the model.")
    assert hf_source.digest(folder) == first
    assert hf_source.digest(folder.rename(tmp_path / "moved")) == first
    (tmp_path / "moved" / "config.json").write_text('{"a": 1}')
    changed = hf_source.digest(tmp_path / "moved")
    (tmp_path / "moved" / "config.json").rename(
        tmp_path / "moved" / "generation_config.json",
    )
    assert len({first, changed, hf_source.digest(tmp_path / "moved")}) == 3


def test_a_large_file_is_read_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hf_source, "_REMEMBERED", 4)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"one weights")
    first = hf_source.digest(file)
    with monkeypatch.context() as unread:
        unread.delattr(hf_source, "_digest_file")
        assert hf_source.digest(file) == first
    file.write_bytes(b"other weights")
    assert hf_source.digest(file) != first


@pytest.mark.parametrize("damage", ["", "[]", "null", '{"a": 1}', "[1, 2, 3, 4]"])
def test_a_damaged_memory_of_digests_is_made_anew(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: str,
) -> None:
    monkeypatch.setattr(hf_source, "_REMEMBERED", 4)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"weights")
    first = hf_source.digest(file)
    (memo,) = cache_folder_for("digests").iterdir()
    memo.write_text(damage)
    assert hf_source.digest(file) == first
    assert json.loads(memo.read_text())[-1] == first


def test_the_option_makes_models_exact_unless_the_spec_says_otherwise() -> None:
    assert not HFModel.from_spec("hf:org/name").exact
    for exact in (
        resolve("hf:org/name", exact=True),
        HFModel.from_spec("hf:org/name?exact=true"),
    ):
        assert isinstance(exact, HFModel)
        assert (exact.exact, exact.batch, exact.deterministic) == (True, 1, True)
    drawn = HFModel.from_spec("hf:org/name?temperature=1", exact=True)
    assert (drawn.exact, drawn.deterministic) == (True, False)
    assert not HFModel.from_spec("hf:org/name?exact=false", exact=True).exact

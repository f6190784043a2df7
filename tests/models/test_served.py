"""Runs of pytest against the servers of docs/serving.md, as users start them."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.models import servers, tiny
from tests.plugin.conftest import record_of

pytestmark = [pytest.mark.model, pytest.mark.slow]
TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history

@metamorphic(reorder_history)
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.3)
"""
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
SMALL = (
    "--recsys-users=2",
    "--recsys-k=3",
    "--recsys-candidates=5",
    "--recsys-history=5",
)
Ask = Callable[[str, str], dict[str, Any]]


@pytest.fixture
def ask(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run a relation on a model behind an address; gives the
    record, whose calls were all answered.
    """
    pytester.makepyfile(test_wire=TEST)

    def run(url: str, model: str) -> dict[str, Any]:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        spec = f"--recsys-model=openai:{model}?temperature=0&max_tokens=16&timeout=300"
        common = ("-p", "no:cacheprovider", "--recsys-json=record.json")
        result = pytester.runpytest_subprocess(*common, *SMALL, spec)
        record = record_of(pytester.path / "record.json")
        assert (record["calls"]["made"], record["calls"]["failed"]) == (8, 0), (
            result.stdout.str()
        )
        assert 0 < record["calls"]["completion_tokens"] <= 8 * 16
        return record

    return run


def readings(record: dict[str, Any]) -> dict[str, Any]:
    (found,) = record["readings"].values()
    return dict(found)


def test_llamacpp(ask: Ask, llamacpp_url: str) -> None:
    assert readings(ask(llamacpp_url, "smollm2"))["answers"] == 8


def test_transformers_serve_with_random_weights(ask: Ask, tmp_path: Path) -> None:
    folder = tiny.save(tmp_path / "tiny")
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    with servers.transformers_server(folder) as (url, name):
        ask(url, name)


@contextmanager
def litellm_proxy(behind: str, folder: Path) -> Iterator[str]:
    """A LiteLLM proxy whose model `local` is the one behind an address."""
    program = shutil.which("litellm")
    if program is None:
        pytest.skip("needs litellm on the PATH: pip install 'litellm[proxy]', in an environment of its own")  # fmt: skip
    model = {"model": "openai/smollm2", "api_base": behind, "api_key": "none"}
    listed = {"model_list": [{"model_name": "local", "litellm_params": model}]}
    (folder / "litellm.yaml").write_text(json.dumps(listed), encoding="utf-8")
    port = servers.free_port()
    command = [
        program,
        "--config",
        str(folder / "litellm.yaml"),
        "--host",
        "127.0.0.1",
        "--port",
    ]
    ready = f"http://127.0.0.1:{port}/health/liveliness"
    with servers.started([*command, str(port)], ready):
        yield f"http://127.0.0.1:{port}/v1"


def test_litellm_in_front_of_llamacpp(
    ask: Ask,
    llamacpp_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LITELLM_MASTER_KEY", "sk-of-the-proxy")
    monkeypatch.setenv("NO_PROXY", "*")
    with litellm_proxy(llamacpp_url, tmp_path) as url:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-proxy")
        assert readings(ask(url, "local"))["answers"] == 8


def test_vllm_with_random_weights(ask: Ask, tmp_path: Path) -> None:
    program = shutil.which("vllm")
    if program is None:
        pytest.skip("needs vllm on the PATH, in an environment of its own; it wants a GPU or a build for CPUs")  # fmt: skip
    folder = tiny.save(tmp_path / "tiny", head_dim=32, hidden_size=128)
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    port = servers.free_port()
    command = [
        program,
        "serve",
        str(folder),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    command += ["--max-model-len", "2048", "--dtype", "float32", "--enforce-eager"]
    with servers.started(command, f"http://127.0.0.1:{port}/health", patience=400):
        ask(f"http://127.0.0.1:{port}/v1", str(folder))

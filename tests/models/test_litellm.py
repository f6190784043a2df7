"""Models behind the APIs of Anthropic, Gemini and Bedrock, which LiteLLM speaks to
servers of these dialects.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.extras import need
from tests.models.dialects import KEYS, Provider, provider
from tests.plugin.conftest import record_of
from tests.support.gate import Store

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("litellm") is None,
    reason="needs LiteLLM, in an environment of its own: pip install '.[litellm]' pytest-timeout",
)

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates


@metamorphic(shuffle_candidates)
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.1)
"""


@pytest.fixture
def server() -> Iterator[tuple[type[Provider], str]]:
    with provider() as made:
        yield made


def run(folder: Path, address: str, model: str, *options: str) -> tuple[int, str]:
    places = dict.fromkeys(
        ("ANTHROPIC_API_BASE", "GEMINI_API_BASE", "AWS_BEDROCK_RUNTIME_ENDPOINT"),
        address,
    )
    (folder / "test_it.py").write_text(TEST, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", f"--recsys-model={model}",
         "--recsys-users=60", "--recsys-json=record.json", "--recsys-html=page.html", *options],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **KEYS, **places, "AWS_REGION_NAME": "us-east-1", "HOME": str(folder),
             "XDG_CACHE_HOME": str(folder / "cache")},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "anthropic/claude-sonnet-4-5",
        "gemini/gemini-2.5-flash",
        "bedrock/converse/anthropic.claude-3-haiku-20240307-v1:0",
    ],
)
def test_a_run_is_counted_kept_and_replayed(
    server: tuple[type[Provider], str],
    tmp_path: Path,
    name: str,
) -> None:
    provider, address = server
    model = f"litellm:{name}?temperature=0"
    status, said = run(tmp_path, address, model, "--recsys-max-calls=70")
    calls = record_of(tmp_path / "record.json")["calls"]
    assert (status, calls["made"]) == (1, 70), said  # the limit, to the call
    assert provider.answered == 70
    assert calls["prompt_tokens"] == 70 * 100
    assert calls["completion_tokens"] == 70 * 50

    status, said = run(tmp_path, address, model)
    record = record_of(tmp_path / "record.json")
    assert (status, record["results"][0]["status"]) == (0, "holds"), said
    assert record["calls"]["cached"] == 70
    assert provider.answered == 70 + record["calls"]["made"] + record["calls"]["again"]
    asked = provider.asked
    status, said = run(tmp_path, address, model, "--recsys-mode=replay")
    assert (status, provider.asked) == (0, asked), said
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        assert not [
            key for key in KEYS.values() if key.encode() in path.read_bytes()
        ], path


def test_workers_reruns_and_the_gate(
    server: tuple[type[Provider], str],
    tmp_path: Path,
) -> None:
    need("xdist", "pytest_rerunfailures")
    provider, address = server
    model = "litellm:anthropic/claude-sonnet-4-5?temperature=0"
    workers = ("-n", "2", "--reruns=1", "--recsys-keep=baseline")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # the root, where runs are kept
    status, said = run(tmp_path, address, model, *workers)
    calls = record_of(tmp_path / "record.json")["calls"]
    assert status == 0, said
    assert provider.answered == calls["made"] + calls["again"]
    Store.of(tmp_path).accept()
    asked, provider.biased = provider.asked, True
    status, said = run(
        tmp_path,
        address,
        model,
        *workers,
        "--recsys-baseline",
        "--recsys-mode=refresh",
    )
    record = record_of(tmp_path / "record.json")
    assert (status, record["gate"]["status"]) == (1, "failed"), said
    assert "against litellm:anthropic/claude-sonnet-4-5" in " ".join(said.split())
    assert "REGRESSED" in said
    assert provider.asked > asked


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("claude", "must have the form litellm:PROVIDER/NAME"),
        ("anthropic/claude?api=responses", "takes no api"),
        ("nobody/claude", "the provider 'nobody', which LiteLLM does not know"),
        ("mistral/large", "needs a key: set MISTRAL_API_KEY"),
    ],
)
def test_what_cannot_be_asked_is_said_before_a_test(
    tmp_path: Path,
    model: str,
    why: str,
) -> None:
    status, said = run(tmp_path, "http://127.0.0.1:1", f"litellm:{model}")
    assert (status, why in " ".join(said.split())) == (4, True), said


def test_a_server_that_is_gone_is_an_error_of_its_calls(tmp_path: Path) -> None:
    model = "litellm:anthropic/claude-sonnet-4-5"
    status, said = run(tmp_path, "http://127.0.0.1:1", model, "-orecsys_max_wait=1")
    assert (status, "Cannot connect to host 127.0.0.1:1" in " ".join(said.split())) == (
        1,
        True,
    ), said


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("https://me:hunter2pass@127.0.0.1:1", "is not the address of a server"),
        (
            "http://api.example.org",
            "a key would go unencrypted to http://api.example.org",
        ),
    ],
)
def test_an_address_that_gives_a_key_away_is_refused(
    tmp_path: Path,
    address: str,
    why: str,
) -> None:
    status, said = run(tmp_path, address, "litellm:anthropic/claude-sonnet-4-5")
    assert (status, why in said, "hunter2pass" in said) == (4, True, False), said

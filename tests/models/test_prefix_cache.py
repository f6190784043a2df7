"""What a run asks lets a server's prefix cache serve most
of it: by a real llama.cpp, in tokens.
"""

import pytest

from tests.extras import need

need("transformers", "torch")

from benchmarks.prefixes import processed
from tests.plugin.conftest import record_of

pytestmark = pytest.mark.model

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_set
from pytest_recsys_mt.relations import shuffle_candidates

@metamorphic(shuffle_candidates)
def test_order(source, followup):
    same_set(source, followup, margin=0.3)
"""


@pytest.mark.slow  # measures what test_hf_model shows
def test_most_of_the_prompts_of_a_run_come_from_the_cache(
    llamacpp_url: str,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", llamacpp_url)
    pytester.makepyfile(TEST)
    server = llamacpp_url.removesuffix("/v1")
    before = processed(server)
    pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-users=2", "--recsys-history=5",
        "--recsys-candidates=8", "--recsys-k=2", "--recsys-json=record.json",
        "--recsys-model=openai:smollm2?max_tokens=4&concurrency=1&timeout=600",
    )  # fmt: skip
    calls = record_of(pytester.path / "record.json")["calls"]
    assert (calls["made"], calls["failed"]) == (8, 0)
    assert processed(server) - before < 0.6 * calls["prompt_tokens"]

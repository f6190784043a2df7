"""The benchmark of local models runs, on models of random
weights; nothing is said of its times.
"""

from pathlib import Path

import pytest

from tests.extras import need
from tests.models import tiny

need("transformers", "torch")

from benchmarks import local_llm, local_llm_ways
from tests.support.llm_local import HFModel


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_every_way_answers_alike(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    temperature: float,
) -> None:
    folder = tiny.save(tmp_path, max_position_embeddings=8192)
    prompts = local_llm.planned(users=2, k=3)
    assert len(prompts) == 16
    assert len({prompt.messages for prompt in prompts}) == 8
    few = prompts[:3]
    model = HFModel(str(folder), max_tokens=4, temperature=temperature, device="cpu")
    ways = {
        "HFModel": lambda: [answer.text or "" for answer in model.complete(few)],
        "generate, padded": local_llm_ways.padded_generate(model, few),
    }
    if not temperature:
        ways["generate_batch"] = local_llm_ways.continuous_batching(model, few)
    medians = local_llm.compare(ways, rounds=1)
    assert all(seconds > 0 for seconds in medians.values())
    assert capsys.readouterr().out.count("3 of 3") == len(ways)


def test_the_card_is_measured_on_whatever_there_is() -> None:
    sizes = {
        **local_llm.LLAMA_3_8B,
        "vocab_size": 300,
        "hidden_size": 64,
        "intermediate_size": 128,
    }
    sizes |= {
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    figures = local_llm.card(6, 2, sizes, read=30, product=64)
    assert {
        "peak TFLOP/s",
        "read, in batches",
        "answered, one at a time",
    } <= figures.keys()
    assert all(value > 0 for value in figures.values())

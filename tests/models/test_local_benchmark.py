"""The benchmark of local models runs, on models of random weights; nothing is said of its times."""

from pathlib import Path

import pytest

from tests.extras import need
from tests.models import tiny

need("transformers", "torch")

from benchmarks import local_llm
from pytest_recsys_mt.llm.local.hf_model import HFModel


def test_both_ways_answer_the_same_prompts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tiny.save(tmp_path, max_position_embeddings=8192)
    prompts = local_llm.planned(users=2, k=3)
    assert len(prompts) == 16
    assert len({prompt.messages for prompt in prompts}) == 8
    model = HFModel(str(folder), max_tokens=4, device="cpu")
    assert local_llm.small(model, prompts[:4], alone=2) > 0
    assert "one generate a prompt (2)" in capsys.readouterr().out


def test_the_card_is_measured_on_whatever_there_is() -> None:
    sizes = {**local_llm.LLAMA_3_8B, "vocab_size": 300, "hidden_size": 64, "intermediate_size": 128}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    figures = local_llm.card(6, 2, sizes, read=30, product=64)
    assert {"peak TFLOP/s", "read, in batches", "answered, one at a time"} <= figures.keys()
    assert all(value > 0 for value in figures.values())

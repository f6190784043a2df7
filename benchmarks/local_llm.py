"""How fast local models answer: in batches as `HFModel` asks, and in the ways of other
libraries.

    python -m benchmarks.local_llm [--users 2] [--k 5] [--max-tokens 64] [--temperature
    0] [--rounds 3] python -m benchmarks.local_llm --card [--prompts 2000]
    [--one-at-a-time 20]

The first asks what the first look of a suite asks: for each user the question, twice,
and three changes of it, twice. The ways take turns; the processor time of each is the
median of the rounds, with its threads. The model is SmolLM2-135M-Instruct in float32
(llama.cpp reads the same numbers), or that of `--model`. All but `generate_batch`,
which knows no stopping criteria, end an answer with its k-th line.

The second measures prompts of about 600 tokens, 8 to 64 out, on a model of the shape of
Llama 3 8B with random weights in bfloat16, against the matrix products that the card
does in the same run.
"""

import argparse
import importlib.metadata
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.local_llm_ways import (
    Way,
    continuous_batching,
    llamacpp,
    padded_generate,
)
from pytest_recsys_mt.llm.local import batches, decoding
from pytest_recsys_mt.llm.local.decoding import Writing
from pytest_recsys_mt.llm.local.hf_model import BATCH_TOKENS, HFModel
from pytest_recsys_mt.requests import Completion, Prompt

LLAMA_3_8B: dict[str, Any] = {
    "vocab_size": 128_256,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
}


def planned(users: int, k: int, template: str = "person") -> list[Prompt]:
    """The prompts of a first look: a question and three
    changes of it for each user, each twice.
    """
    from pytest_recsys_mt.datasets import load
    from pytest_recsys_mt.engine.cases import Split
    from pytest_recsys_mt.llm.recommender import LLMRecommender
    from pytest_recsys_mt.relations import (
        paraphrase_task,
        random_words,
        shuffle_candidates,
    )
    from pytest_recsys_mt.requests.design import Design, generator

    split = Split(load("mini"), 0)
    cases = split.cases(Design(users=users, k=k))
    world = split.world(cases)
    recommender = LLMRecommender(_Silent(), template)
    recommender.fit(split.training, 0)
    prompts: list[Prompt] = []
    for number, change in enumerate(
        (None, shuffle_candidates, random_words(), paraphrase_task),
    ):
        for replicate in range(2):
            for case in cases:
                request = case.request.replace(replicate=2 * number + replicate)
                if change is not None:
                    request = change(
                        request,
                        generator(0, case.request.user, str(number)),
                        world,
                    )
                prompts.append(replace(recommender.render(request), seed=len(prompts)))
    return prompts


class _Silent:
    """A text model that is never asked."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(None, error="never asked") for _ in prompts]


def compare(ways: Mapping[str, Way], rounds: int) -> dict[str, float]:
    """Answer in each way in turn; gives the median of its processor time in seconds."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    texts: dict[str, list[str]] = {}
    for _ in range(rounds):
        for name, way in ways.items():
            started = time.process_time()
            texts[name] = way()
            spent[name].append(time.process_time() - started)
            print(f"  {name:<28}{spent[name][-1]:>9.1f} s", flush=True)
    medians = {name: statistics.median(seconds) for name, seconds in spent.items()}
    first = next(iter(ways))
    print(
        f"{'':<30}{'seconds':>9}{'prompts/s':>11}{'times ours':>12}{'same texts':>12}",
    )
    for name, seconds in medians.items():
        pairs = zip(texts[name], texts[first], strict=True)
        # One that stops later goes on after the same text.
        same = sum(a.strip().startswith(b.strip()) for a, b in pairs)
        count = len(texts[name])
        print(
            f"{name:<30}{seconds:>9.1f}{count / seconds:>11.3f}{seconds / medians[first]:>12.2f}"
            f"{same:>9} of {count}",
        )
    return medians


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of wall clock, and the result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def peak(device: str, dtype: Any, size: int) -> float:
    """Floating-point operations a second of a plain matrix product, the best of some."""
    import torch

    left, right = (
        torch.randn(size, size, device=device, dtype=dtype) for _ in range(2)
    )
    best = float("inf")
    for _ in range(10):
        _wait(device)
        seconds, _ = timed(lambda: _multiply(left, right))
        best = min(best, seconds)
    return 2 * size**3 / best


def _multiply(left: Any, right: Any) -> None:
    _ = left @ right
    _wait(left.device.type)


def _wait(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


@dataclass(frozen=True)
class Lengths(Writing):
    """Answers of given lengths: `k` is the number of tokens."""

    def is_over(self, answer: Sequence[int], k: int | None) -> bool:
        """Whether an answer is as long as it is to be."""
        return len(answer) >= (k or self.max_tokens)


def card(
    prompts: int,
    alone: int,
    sizes: dict[str, Any],
    read: int,
    product: int,
) -> dict[str, float]:
    """Measure reading and writing on random weights; gives rates by name.

    Args:
        prompts: To answer.
        alone: Of them, those that are also answered one at a time.
        sizes: Of the model.
        read: About as many tokens a prompt.
        product: Rows of the square matrices whose product is the card's peak.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    device = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = torch.bfloat16
    limit = peak(device, dtype, product)
    torch.manual_seed(0)
    with torch.device(device):
        make: Any = LlamaForCausalLM._from_config
        network = make(LlamaConfig(**sizes), dtype=dtype).eval()
    rng = random.Random(0)
    vocabulary = sizes["vocab_size"]
    asked = [
        tuple(
            rng.randrange(3, vocabulary)
            for _ in range(rng.randint(read * 5 // 6, read * 7 // 6))
        )
        for _ in range(prompts)
    ]
    most = [rng.randint(8, 64) for _ in asked]
    weights = (
        sum(p.numel() for p in network.parameters()) - vocabulary * sizes["hidden_size"]
    )
    tokens = sum(map(len, asked))
    how = Lengths(64, frozenset(), str)

    def answering(
        of: Sequence[tuple[int, ...]],
        rows: int | None,
        lengths: Sequence[int],
    ) -> int:
        written = 0
        plan = batches.plan(of, 64, tokens=BATCH_TOKENS[device], most=rows, apart=False)
        with torch.inference_mode():
            for batch in plan:
                ends = [lengths[place] for place in batch]
                some = [of[place] for place in batch]
                answers = decoding.write(network, some, [0] * len(batch), ends, how)
                written += sum(map(len, answers))
            _wait(device)
        return written

    ones = [1] * len(asked)
    answering(asked[:4], None, ones)
    figures: dict[str, float] = {"peak TFLOP/s": limit / 1e12}
    print(
        f"{device}: {limit / 1e12:.2f} TFLOP/s in {dtype}; {weights / 1e6:.1f} million weights a token",
    )
    few = asked[:alone]
    for name, of, rows in (("in batches", asked, None), ("one at a time", few, 1)):
        count = sum(map(len, of))
        seconds, _ = timed(lambda of=of, rows=rows: answering(of, rows, ones))  # type: ignore[misc]
        share = 2 * weights * count / seconds / limit
        figures[f"read, {name}"] = count / seconds
        figures[f"share of the peak, {name}"] = share
        print(
            f"read, {name:<16}{count / seconds:>12.0f} tokens/s{share:>8.1%} of the peak",
            flush=True,
        )
        seconds, written = timed(lambda of=of, rows=rows: answering(of, rows, most))  # type: ignore[misc]
        figures[f"answered, {name}"] = len(of) / seconds
        print(
            f"answered, {name:<12}{len(of) / seconds:>12.2f} prompts/s{written / seconds:>10.1f} written/s",
            flush=True,
        )
    if device == "cuda":
        figures["peak memory, GiB"] = torch.cuda.max_memory_allocated() / 2**30
        print(
            f"{torch.cuda.get_device_name()}, {figures['peak memory, GiB']:.1f} GiB at most",
        )
    print(f"{prompts} prompts, {tokens} tokens")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--card", action="store_true")
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--one-at-a-time", type=int, default=20)
    parser.add_argument("--users", type=int, default=2)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--max-tokens", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--model",
        help="a folder; without it SmolLM2, and llama.cpp too",
    )
    given = parser.parse_args()
    if given.card:
        card(given.prompts, given.one_at_a_time, LLAMA_3_8B, read=600, product=8192)
        return
    from tests.models.servers import smollm_folder, smollm_gguf

    model = HFModel(
        given.model or str(smollm_folder()),
        max_tokens=given.max_tokens,
        temperature=given.temperature,
        device="cpu",
    )
    prompts = planned(given.users, given.k)
    version = importlib.metadata.version
    print(
        f"{len(prompts)} prompts; transformers {version('transformers')}, torch {version('torch')}",
    )
    ways = {
        "HFModel": lambda: [answer.text or "" for answer in model.complete(prompts)],
        "generate, padded": padded_generate(model, prompts),
    }
    model.complete(prompts[:1])
    if not given.temperature:
        ways["generate_batch"] = continuous_batching(model, prompts)
    if given.model:
        compare(ways, given.rounds)
        return
    with llamacpp(smollm_gguf(), model, prompts, slots=4) as way:
        ways[f"llama.cpp {version('xllamacpp')}, 4 slots"] = way
        compare(ways, given.rounds)


if __name__ == "__main__":
    main()

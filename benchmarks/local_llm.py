"""How fast local models answer: in batches as `HFModel` asks, and one ``generate`` a prompt.

    python -m benchmarks.local_llm [--users 12] [--k 10] [--max-tokens 160] [--model FOLDER|FILE.gguf]
    python -m benchmarks.local_llm --card [--prompts 2000] [--one-at-a-time 20]

The first asks what the first look of a suite asks: for each user the question, twice, and three
changes of it, twice; answers end as they do in a run. Both ways stop where the model stops, the
papers' way (on some of the same prompts) also where the k-th line ends, so that the gain is not that
of stopping early; without that, the papers' way is shown as well.

The second measures prompts of about 600 tokens, 8 to 64 out, on a model of the shape of Llama 3 8B
with random weights in bfloat16, against the matrix products that the card does in the same run.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_recsys_mt.llm.local import batches, decoding
from pytest_recsys_mt.llm.local.decoding import Over, Writing
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
    """The prompts of a first look: a question and three changes of it for each user, each twice."""
    from pytest_recsys_mt.datasets import load
    from pytest_recsys_mt.design import Design
    from pytest_recsys_mt.engine.cases import Split
    from pytest_recsys_mt.llm import LLMRecommender
    from pytest_recsys_mt.relations import paraphrase_task, random_words, shuffle_candidates
    from pytest_recsys_mt.seeds import generator

    split = Split(load("mini"), 0)
    cases = split.cases(Design(users=users, k=k))
    world = split.world(cases)
    recommender = LLMRecommender(_Silent(), template)
    recommender.fit(split.training, 0)
    prompts = []
    for number, change in enumerate((None, shuffle_candidates, random_words(), paraphrase_task)):
        for replicate in range(2):
            for case in cases:
                request = case.request.replace(replicate=2 * number + replicate)
                if change is not None:
                    request = change(request, generator(0, case.request.user, str(number)), world)
                prompts.append(recommender.render(request))
    return prompts


class _Silent:
    """A text model that is never asked."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        return [Completion(None, error="never asked") for _ in prompts]


def one_by_one(model: HFModel, prompts: Sequence[Prompt], *, stop: bool) -> list[list[int]]:
    """The papers' way: one ``generate`` a prompt, by the library alone."""
    import torch
    from transformers import StoppingCriteriaList

    local = model._local
    how = Writing(model.max_tokens, local.ends, local.decode)
    answers = []
    with torch.inference_mode():
        for prompt in prompts:
            tokens = torch.tensor([local.encode(prompt.messages)], device=local.network.device)
            length = tokens.shape[1]
            criteria = [Over(length, [prompt.k], how)] if stop else []
            output = local.network.generate(
                input_ids=tokens,
                attention_mask=torch.ones_like(tokens),
                max_new_tokens=model.max_tokens,
                stopping_criteria=StoppingCriteriaList(criteria),
            )
            answers.append(output[0, length:].tolist())
    return answers


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of wall clock, and the result."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def row(name: str, seconds: float, prompts: int, read: int, written: int) -> float:
    """Print one line of the table; gives tokens written a second."""
    print(
        f"{name:<34}{seconds:>9.1f} s{prompts / seconds:>9.2f} prompts/s"
        f"{(read + written) / seconds:>9.0f} tokens/s{written / seconds:>9.1f} written/s",
        flush=True,
    )
    return (read + written) / seconds


def small(model: HFModel, prompts: Sequence[Prompt], alone: int) -> float:
    """Compare both ways on the same prompts; gives how many times as many tokens a second."""
    lengths = [len(model._local.encode(prompt.messages)) for prompt in prompts]
    model.complete(prompts[:1])
    print(f"{len(prompts)} prompts of {min(lengths)} to {max(lengths)} tokens")
    seconds, answers = timed(lambda: model.complete(prompts))
    errors = [answer.error for answer in answers if answer.error]
    if errors:
        raise SystemExit(errors[0])
    written = sum(answer.usage.completion_tokens for answer in answers if answer.usage)
    ours = row("HFModel, in batches", seconds, len(prompts), sum(lengths), written)
    some = random.Random(0).sample(range(len(prompts)), min(alone, len(prompts)))
    read = sum(lengths[place] for place in some)
    chosen = [prompts[place] for place in some]
    rates = []
    for name, stop in (("one generate a prompt", True), ("the same, to the end", False)):
        seconds, tokens = timed(lambda stop=stop: one_by_one(model, chosen, stop=stop))  # type: ignore[misc]
        written = sum(map(len, tokens))
        rates.append(row(f"{name} ({len(some)})", seconds, len(some), read, written))
    print(f"tokens a second, times one generate a prompt: {ours / rates[0]:.2f}")
    return ours / rates[0]


def peak(device: str, dtype: Any, size: int) -> float:
    """Floating-point operations a second of a plain matrix product, the best of some."""
    import torch

    left, right = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
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
    prompts: int, alone: int, sizes: dict[str, Any], read: int, product: int
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
            rng.randrange(3, vocabulary) for _ in range(rng.randint(read * 5 // 6, read * 7 // 6))
        )
        for _ in range(prompts)
    ]
    most = [rng.randint(8, 64) for _ in asked]
    weights = sum(p.numel() for p in network.parameters()) - vocabulary * sizes["hidden_size"]
    tokens = sum(map(len, asked))
    how = Lengths(64, frozenset(), str)

    def plan(of: Sequence[tuple[int, ...]], rows: int | None) -> list[batches.Batch]:
        return list(batches.plan(of, 64, tokens=BATCH_TOKENS[device], most=rows, apart=False))

    def reading(of: Sequence[tuple[int, ...]], rows: int | None) -> None:
        with torch.inference_mode():
            for batch in plan(of, rows):
                decoding.read(network, of, batch)
            _wait(device)

    def answering(of: Sequence[tuple[int, ...]], rows: int | None) -> int:
        written = 0
        with torch.inference_mode():
            for batch in plan(of, rows):
                answers = decoding.write(network, of, batch, [0] * len(of), most, how)
                written += sum(map(len, answers))
            _wait(device)
        return written

    reading(asked[:4], None)
    figures: dict[str, float] = {"peak TFLOP/s": limit / 1e12}
    print(
        f"{device}: {limit / 1e12:.2f} TFLOP/s in {dtype}; {weights / 1e6:.1f} million weights a token"
    )
    few = asked[:alone]
    for name, of, rows in (("in batches", asked, None), ("one at a time", few, 1)):
        count = sum(map(len, of))
        seconds, _ = timed(lambda of=of, rows=rows: reading(of, rows))  # type: ignore[misc]
        share = 2 * weights * count / seconds / limit
        figures[f"read, {name}"] = count / seconds
        figures[f"share of the peak, {name}"] = share
        print(
            f"read, {name:<16}{count / seconds:>12.0f} tokens/s{share:>8.1%} of the peak",
            flush=True,
        )
        seconds, written = timed(lambda of=of, rows=rows: answering(of, rows))  # type: ignore[misc]
        figures[f"answered, {name}"] = len(of) / seconds
        print(
            f"answered, {name:<12}{len(of) / seconds:>12.2f} prompts/s{written / seconds:>10.1f} written/s",
            flush=True,
        )
    if device == "cuda":
        figures["peak memory, GiB"] = torch.cuda.max_memory_allocated() / 2**30
        print(f"{torch.cuda.get_device_name()}, {figures['peak memory, GiB']:.1f} GiB at most")
    print(f"{prompts} prompts, {tokens} tokens")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--card", action="store_true")
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--one-at-a-time", type=int, default=20)
    parser.add_argument("--users", type=int, default=12)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--model")
    given = parser.parse_args()
    if given.card:
        card(given.prompts, given.one_at_a_time, LLAMA_3_8B, read=600, product=8192)
        return
    folder = given.model
    if folder is None:
        from tests.models.servers import smollm_folder

        folder = str(smollm_folder())
    model = HFModel(folder, max_tokens=given.max_tokens)
    small(model, planned(given.users, given.k), given.one_at_a_time)


if __name__ == "__main__":
    main()

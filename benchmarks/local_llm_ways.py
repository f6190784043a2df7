"""The ways of other libraries to answer prompts by a local model."""

import importlib
import json
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_recsys_mt.llm.local.decoding import Over, Writing
from pytest_recsys_mt.llm.local.hf_model import BATCH_TOKENS, HFModel
from pytest_recsys_mt.requests import Prompt

Way = Callable[[], list[str]]
"""Answers the prompts once."""


def padded_generate(model: HFModel, prompts: Sequence[Prompt]) -> Way:
    """The library's way: one padded ``generate`` a batch, sorted
    by length, of the size that ours may have.
    """
    import torch

    local = model._local
    tokens = [local.encode(prompt.messages) for prompt in prompts]
    how = Writing(
        model.max_tokens,
        local.ends,
        local.decode,
        model.temperature,
        model.top_p,
    )
    order = sorted(range(len(prompts)), key=lambda place: -len(tokens[place]))
    size = BATCH_TOKENS["cpu"] // (len(tokens[order[0]]) + model.max_tokens)

    def answer() -> list[str]:
        texts = [""] * len(prompts)
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            longest = len(tokens[batch[0]])
            pads = [longest - len(tokens[place]) for place in batch]
            rows = [
                [0] * pad + [*tokens[place]]
                for pad, place in zip(pads, batch, strict=True)
            ]
            over = Over(longest, [prompts[place].k for place in batch], how)
            sampling = how.sampling([prompts[place].seed for place in batch])
            with torch.inference_mode():
                output = local.network.generate(
                    input_ids=torch.tensor(rows),
                    attention_mask=torch.tensor(
                        [[0] * pad + [1] * (longest - pad) for pad in pads],
                    ),
                    max_new_tokens=model.max_tokens,
                    logits_processor=[] if sampling is None else [sampling],
                    stopping_criteria=[over],
                )
            for place, written, end in zip(
                batch,
                output[:, longest:],
                over.ends,
                strict=True,
            ):
                texts[place] = local.decode(written[:end].tolist())
        return texts

    return answer


def continuous_batching(model: HFModel, prompts: Sequence[Prompt]) -> Way:
    """The library's ``generate_batch``; greedy, and without stopping criteria."""
    local = model._local
    tokens = [list(local.encode(prompt.messages)) for prompt in prompts]
    config = importlib.import_module("transformers").ContinuousBatchingConfig
    page = 256
    pages = sum(-(-(len(row) + model.max_tokens) // page) + 1 for row in tokens)

    def answer() -> list[str]:
        done = local.network.generate_batch(
            inputs=tokens,
            max_new_tokens=model.max_tokens,
            continuous_batching_config=config(
                page_size=page,
                num_blocks=pages,
                max_batch_tokens=2048,
            ),
        )
        failed = [answer.error for answer in done.values() if answer.error]
        if failed:
            raise SystemExit(failed[0])
        # Requests are named in their order: req_0, req_1, ...
        names = sorted(done, key=lambda name: int(name.rpartition("_")[2]))
        return [local.decode(done[name].generated_tokens) for name in names]

    return answer


@contextmanager
def llamacpp(
    gguf: Path,
    model: HFModel,
    prompts: Sequence[Prompt],
    slots: int,
) -> Iterator[Way]:
    """llama.cpp's server in this process, with slots that
    share its batches and its own prompt cache.
    """
    xllamacpp: Any = importlib.import_module("xllamacpp")
    tokens = [list(model._local.encode(prompt.messages)) for prompt in prompts]
    with tempfile.TemporaryDirectory() as folder:
        params = xllamacpp.CommonParams()
        params.model.path = str(float32(gguf, Path(folder, "float32.gguf")))
        params.n_ctx = slots * (max(map(len, tokens)) + model.max_tokens + 1)
        params.n_parallel = slots
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        params.hostnames, params.port, params.warmup, params.verbosity = (
            ["127.0.0.1"],
            0,
            False,
            -1,
        )
        server = xllamacpp.Server(params)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

        def one(place: int) -> str:
            asked = {
                "prompt": tokens[place],
                "n_predict": model.max_tokens,
                "temperature": model.temperature,
                "seed": prompts[place].seed,
                "top_k": 0 if model.temperature else 1,
                "min_p": 0,
                "stop": [f"\n{(prompts[place].k or 999) + 1}."],
            }
            request = urllib.request.Request(
                f"{server.listening_address}/completion",
                json.dumps(asked).encode(),
                {"Content-Type": "application/json"},
            )
            with opener.open(request, timeout=3600) as reply:
                return str(json.load(reply)["content"])

        with ThreadPoolExecutor(slots) as pool:
            yield lambda: list(pool.map(one, range(len(prompts))))


def float32(gguf: Path, target: Path) -> Path:
    """Write the numbers of a quantized GGUF file as
    float32, with llama.cpp's own package.
    """
    library: Any = importlib.import_module("gguf")
    reader = library.GGUFReader(gguf)
    writer = library.GGUFWriter(
        target,
        reader.fields["general.architecture"].contents(),
    )
    for field in reader.fields.values():
        if field.name != "general.architecture" and not field.name.startswith("GGUF."):
            value = 0 if field.name == "general.file_type" else field.contents()
            kind = field.types[0]
            many = kind == library.GGUFValueType.ARRAY
            writer.add_key_value(
                field.name,
                value,
                kind,
                sub_type=field.types[-1] if many else None,
            )
    for tensor in reader.tensors:
        numbers = library.dequantize(tensor.data, tensor.tensor_type)
        writer.add_tensor(tensor.name, numbers.astype("float32"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target

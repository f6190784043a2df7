"""Language models in this process, through transformers: folders, GGUF files, the Hub."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, Literal

from pytest_recsys_mt import parameters
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.llm import hf_source
from pytest_recsys_mt.llm.hf_source import library, missing, quietly
from pytest_recsys_mt.llm.sanitize import one_line
from pytest_recsys_mt.requests import Completion, Prompt, Usage

DType = Literal["auto", "float32", "bfloat16", "float16"]


class HFModel:
    """A causal language model that runs in this process.

    A model with a chat template gets its prompts through it; one without gets the contents of the
    messages, joined by blank lines. Decoding is greedy at temperature 0, and sampled otherwise, each
    prompt by its own seed (`SeededSampling`). Of the model's own generation settings only the
    special tokens count: no penalty, no top-k that the spec does not show.

    Args:
        model: A folder, a ``.gguf`` file, or a Hub repository ``ID[@REVISION]``. A revision that is
            in the local Hugging Face cache is used as it is there. Weights are read from
            safetensors or GGUF only.
        temperature: At least 0.
        max_tokens: The most tokens of one answer.
        top_p: In (0, 1].
        dtype: Of the weights; ``auto`` is float32 on a CPU and the checkpoint's own elsewhere.
        batch: Prompts in one batch; those of like length share one.
        device: ``auto`` is a GPU where there is one; else as PyTorch names it.

    Attributes:
        deterministic: False, also at temperature 0: the order of the floating-point sums changes
            with the shape of the batch, and a prompt's neighbours are what the cache happens to
            lack. Below float32 that changes greedy answers often, in float32 at near ties.

    Raises:
        RecommenderError: If an argument is out of range, or there is no such file.
    """

    deterministic = False

    def __init__(
        self,
        model: str,
        *,
        temperature: float = 0.0,
        max_tokens: int = 256,
        top_p: float = 1.0,
        dtype: DType = "auto",
        batch: int = 8,
        device: str = "auto",
    ) -> None:
        for name, value, fits, allowed in (
            ("model", model, bool(model.strip()), "a folder, a .gguf file or a Hub repository"),
            ("temperature", temperature, 0 <= temperature < float("inf"), "at least 0"),
            ("max_tokens", max_tokens, max_tokens >= 1, "at least 1"),
            ("top_p", top_p, 0 < top_p <= 1, "in (0, 1]"),
            ("batch", batch, batch >= 1, "at least 1"),
        ):
            if not fits:
                raise RecommenderError(f"hf: {name}={value!r} must be {allowed}")
        self.model = model
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.top_p = top_p
        self.batch = batch
        self._dtype = dtype
        self._device = device
        self._source = hf_source.find(model)

    @classmethod
    def from_spec(cls, spec: str) -> HFModel:
        """The model that ``hf:PATH_OR_ID[@REVISION]?temperature=0&max_tokens=64`` means.

        Raises:
            RecommenderError: If a parameter is unknown, a value is out of range, or there is no
                such file.
        """
        target, given = parameters.split(spec)
        model: HFModel = parameters.build(partial(cls, target.removeprefix("hf:")), given, spec)
        return model

    def __repr__(self) -> str:
        return f"HFModel({self.model!r}, temperature={self.temperature}, top_p={self.top_p})"

    @property
    def name(self) -> str:
        """As reports print it."""
        return f"hf:{self._source.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that an answer depends on besides the prompt, as plain JSON data.

        A local model is known by the content of its files, one of the Hub by its commit.
        """
        device, dtype = self.device, self.dtype
        return {
            "provider": "hf",
            "model": self._source.identity,
            "dtype": dtype,
            "device": device.partition(":")[0],
            "engine": [f"{p} {importlib.metadata.version(p)}" for p in ("transformers", "torch")],
            "batch": {"size": self.batch, "order": "length"},
            "sampling": {
                "temperature": self.temperature,
                "max_tokens": self.max_tokens,
                "top_p": self.top_p,
            },
        }

    @cached_property
    def device(self) -> str:
        """Where it runs, as PyTorch names it.

        Raises:
            RecommenderError: If PyTorch knows no such device.
        """
        library()
        import torch

        if self._device == "auto":
            return "cuda" if torch.cuda.is_available() else "cpu"
        try:
            torch.empty(0, device=self._device)
        except (RuntimeError, AssertionError) as error:
            raise RecommenderError(
                f"hf: device={self._device!r} cannot be used here: {one_line(str(error))[:200]}; "
                f"leave it out for a GPU where there is one, else the CPU"
            ) from error
        return self._device

    @property
    def dtype(self) -> str:
        """Of the weights; ``auto`` where the checkpoint decides."""
        return "float32" if self._dtype == "auto" and self.device == "cpu" else self._dtype

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answers in the order of the prompts; a failed one is a `Completion` with an error.

        Raises:
            RecommenderError: If the model cannot be loaded.
        """
        answers = dict(self.complete_each(prompts))
        return [answers[index] for index in range(len(prompts))]

    def complete_each(self, prompts: Sequence[Prompt]) -> Iterator[tuple[int, Completion]]:
        """Yield each prompt's position with its answer, batch by batch, the longest prompts first.

        Raises:
            RecommenderError: If the model cannot be loaded.
        """
        if not prompts:
            return
        encoded = [self._encode(prompt) for prompt in prompts]
        room = self._context - self.max_tokens
        fitting = []
        for index, tokens in enumerate(encoded):
            if len(tokens) <= room:
                fitting.append(index)
            else:
                yield (
                    index,
                    Completion(
                        text=None,
                        error=f"the prompt has {len(tokens)} tokens, and {self.name} reads "
                        f"{self._context} with the answer's {self.max_tokens}",
                    ),
                )
        fitting.sort(key=lambda index: -len(encoded[index]))
        for start in range(0, len(fitting), self.batch):
            batch = fitting[start : start + self.batch]
            seeds = [prompts[index].seed for index in batch]
            yield from zip(
                batch, self._generate([encoded[index] for index in batch], seeds), strict=True
            )

    @cached_property
    def _tokenizer(self) -> Any:
        with quietly(), self._loading():
            tokenizer = library().AutoTokenizer.from_pretrained(
                trust_remote_code=False, **self._source.arguments()
            )
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    @cached_property
    def _network(self) -> Any:
        transformers = library()
        with quietly(), self._loading():
            network = transformers.AutoModelForCausalLM.from_pretrained(
                dtype=self.dtype,
                use_safetensors=True,
                trust_remote_code=False,
                **self._source.arguments(),
            )
            network = network.to(self.device).eval()
        own = network.generation_config.eos_token_id
        ends = {*(own if isinstance(own, list) else [own]), self._tokenizer.eos_token_id} - {None}
        network.generation_config = transformers.GenerationConfig(
            do_sample=False,
            max_new_tokens=self.max_tokens,
            eos_token_id=sorted(ends),
            pad_token_id=self._tokenizer.pad_token_id,
        )
        return network

    @property
    def _context(self) -> int:
        """Tokens that prompt and answer may have together."""
        limit = getattr(self._network.config.get_text_config(), "max_position_embeddings", None)
        return limit if isinstance(limit, int) else 2**31

    @contextmanager
    def _loading(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            raise missing(error) from error
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise RecommenderError(
                f"hf:{self.model} cannot be loaded: {one_line(str(error))[:300]}; it needs a folder "
                f"with config.json, a tokenizer and weights in safetensors"
            ) from error

    def _encode(self, prompt: Prompt) -> list[int]:
        """The tokens of a prompt."""
        tokenizer = self._tokenizer
        if tokenizer.chat_template is None:
            text = "\n\n".join(message.content for message in prompt.messages)
            return list(tokenizer(text)["input_ids"])
        messages = [{"role": m.role, "content": m.content} for m in prompt.messages]
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        # The template has written the special tokens already.
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    def _generate(self, batch: Sequence[list[int]], seeds: Sequence[int]) -> list[Completion]:
        import torch

        padded = self._tokenizer.pad(
            {"input_ids": batch}, padding_side="left", return_tensors="pt"
        ).to(self.device)
        processors = []
        if self.temperature > 0:
            from pytest_recsys_mt.llm.sampling import SeededSampling

            processors.append(SeededSampling(seeds, self.temperature, self.top_p))
        try:
            with torch.inference_mode(), quietly():
                output = self._network.generate(**padded, logits_processor=processors)
        except RuntimeError as error:  # Out of memory among others.
            reason = f"generation failed: {one_line(str(error))[:200]}; a smaller batch takes less"
            return [Completion(text=None, error=reason)] * len(batch)
        answers = output[:, padded["input_ids"].shape[1] :].tolist()
        return [
            self._read(len(tokens), answer) for tokens, answer in zip(batch, answers, strict=True)
        ]

    def _read(self, prompt_tokens: int, answer: list[int]) -> Completion:
        ends = set(self._network.generation_config.eos_token_id)
        end = next((i for i, token in enumerate(answer) if token in ends), None)
        tokens = answer if end is None else answer[:end]
        usage = Usage(prompt_tokens, len(tokens) + (end is not None))
        finish = "length" if end is None else "stop"
        text = self._tokenizer.decode(tokens, skip_special_tokens=True)
        if not text:
            return Completion(None, usage, finish, self.name, error="the model wrote nothing")
        return Completion(text, usage, finish, self.name)

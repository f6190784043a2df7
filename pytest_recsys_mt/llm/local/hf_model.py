"""Language models in this process, through transformers: folders, GGUF files, the Hub."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pytest_recsys_mt.llm.local import batches
from pytest_recsys_mt.llm.local.batches import Tokens
from pytest_recsys_mt.llm.local.hf_network import DeviceMap, DType, LocalNetwork
from pytest_recsys_mt.llm.local.hf_text_model import HFTextModel
from pytest_recsys_mt.requests import Completion, Prompt, Usage, specs
from pytest_recsys_mt.requests.chat_settings import before_stops, stops_of

BATCH_TOKENS = {"cpu": 16_384, "cuda": 65_536}
"""Most tokens of a batch, including answers, by kind of device; others count as a CPU."""

SCORING = "sum of token log-probabilities"
"""The score that orders the choices of a question; see `decoding.log_probabilities`."""


class HFModel(HFTextModel[LocalNetwork]):
    """A causal language model that runs in this process.

    A model with a chat template gets its prompts through it; a model without one gets
    the contents of the messages, joined by blank lines. Decoding is greedy at
    temperature 0. Otherwise each prompt is sampled by its own seed (`SeededSampling`).
    Of the model's own generation settings only the special tokens apply: no penalty,
    and no top-k that the spec does not show.

    It is deterministic if it is exact, at temperature 0. Otherwise the order of the
    floating-point sums changes with the shape of the batch, and a prompt's neighbours
    depend on what the cache lacks. This changes greedy answers often below float32, and
    at near ties in float32.

    Args:
        model: A folder, a ``.gguf`` file, or a Hub repository ``ID[@REVISION]``. A
            revision in the local Hugging Face cache is used as it is there. Weights are
            read only from safetensors or GGUF.
        temperature: At least 0.
        max_tokens: The most tokens of one answer.
        top_p: In (0, 1].
        dtype: Type of the weights; ``auto`` is float32 on a CPU and the checkpoint's
            own elsewhere.
        batch: Most prompts in one batch; None for as many as `BATCH_TOKENS` allows. A
            batch that does not fit into memory is halved.
        device: ``auto`` is a GPU if there is one; else PyTorch's name of a device.
        device_map: Divides a model among several GPUs, by accelerate's name of a map.
        exact: Whether to answer each prompt alone, in float32, on one thread, by
            deterministic algorithms.
        stop_at_k: Whether an answer ends with the line of its k-th list entry
            (`Prompt.k`).
        answer: ``choices`` answers prompts that have choices with the k most probable
            ones, one per line, by `SCORING`; a prompt without choices is still answered
            in words.
        trust_remote_code: Whether Python code that comes with the model may run here:
            for a Hub model only at the full hash of a commit.
        system: A system message before each prompt; the model's chat template must
            take one.
        stop: A text that ends an answer, which does not contain it; or several, as a
            JSON list.

    Raises:
        RecommenderError: If an argument is out of range, two contradict each other, or
            there is no such file.
    """

    weights = LocalNetwork

    def __init__(
        self,
        model: str,
        *,
        temperature: float = 0.0,
        max_tokens: int = 256,
        top_p: float = 1.0,
        dtype: DType = "auto",
        batch: int | None = None,
        device: str = "auto",
        device_map: DeviceMap | None = None,
        exact: bool = False,
        stop_at_k: bool = True,
        answer: Literal["generate", "choices"] = "generate",
        trust_remote_code: bool = False,
        system: str | None = None,
        stop: str | None = None,
    ) -> None:
        specs.check(
            "hf",
            ("temperature", temperature, 0 <= temperature < float("inf"), "at least 0"),
            ("top_p", top_p, 0 < top_p <= 1, "in (0, 1]"),
            ("batch", batch, batch is None or batch >= 1, "at least 1"),
            (
                "batch",
                batch,
                not exact or batch in (None, 1),
                "1 where answers are exact",
            ),
            (
                "device",
                device,
                not device_map or device == "auto",
                "left out beside device_map",
            ),
        )
        super().__init__(
            model,
            max_tokens=max_tokens,
            dtype=dtype,
            device=device,
            exact=exact,
            trust_remote_code=trust_remote_code,
            system=system,
        )
        self.stops = stops_of("hf", stop)
        self._local.device_map = device_map
        self.model = model
        self.temperature = temperature
        self.top_p = top_p
        self.batch = 1 if exact else batch
        self.stop_at_k = stop_at_k
        self.scores_choices = answer == "choices"
        self.deterministic = exact and temperature == 0
        self.seeded = exact

    def __repr__(self) -> str:
        return f"HFModel({self.model!r}, temperature={self.temperature}, top_p={self.top_p})"

    def _own_identity(self) -> dict[str, object]:
        return {
            "batch": "exact"
            if self.exact
            else {"size": self.batch, "tokens": self._batch_tokens},
            "answer": SCORING if self.scores_choices else "generate",
            "stop_at_k": self.stop_at_k,
            **({"stop": list(self.stops)} if self.stops else {}),
            "sampling": {
                "temperature": self.temperature,
                "max_tokens": self.max_tokens,
                "top_p": self.top_p,
            },
        }

    def prompt_tokens(self, prompt: Prompt) -> int:
        """The tokens of a prompt, by the model's own tokenizer; no weights are loaded."""
        return len(self._local.encode(prompt.messages))

    def complete_each(
        self,
        prompts: Sequence[Prompt],
    ) -> Iterator[list[tuple[int, Completion]]]:
        if not prompts:
            return
        with self._computing():
            encoded = [self._local.encode(prompt.messages) for prompt in prompts]
        written = []
        for index, prompt in enumerate(prompts):
            if self.scores_choices and prompt.choices:
                with self._computing():
                    completion = self._choose(encoded[index], prompt)
                yield [(index, completion)]
            elif len(encoded[index]) > self._local.context - self.max_tokens:
                too_long = self._too_long(
                    f"{len(encoded[index])} tokens",
                    self.max_tokens,
                )
                yield [(index, too_long)]
            else:
                written.append(index)
        chosen = [encoded[index] for index in written]
        sent = [prompts[index] for index in written]
        for batch in self._batches(chosen):
            with self._computing():
                answers = self._write(chosen, sent, batch)
            yield [(written[place], completion) for place, completion in answers]

    @property
    def _batch_tokens(self) -> int:
        return BATCH_TOKENS.get(
            self._local.device.partition(":")[0],
            BATCH_TOKENS["cpu"],
        )

    def _batches(self, prompts: Sequence[Tokens]) -> Iterator[list[int]]:
        if self.exact:
            return ([place] for place in range(len(prompts)))
        # Without draws, only other neighbours make repeated answers differ.
        return batches.plan(
            prompts,
            self.max_tokens,
            tokens=self._batch_tokens,
            most=self.batch,
            apart=self.temperature == 0,
        )

    def _write(
        self,
        prompts: Sequence[Tokens],
        sent: Sequence[Prompt],
        batch: Sequence[int],
    ) -> list[tuple[int, Completion]]:
        import torch

        from pytest_recsys_mt.llm.local import decoding

        how = decoding.Writing(
            self.max_tokens,
            self._local.ends,
            self._local.decode,
            self.temperature,
            self.top_p,
            self.stops,
        )
        lines = [sent[place].k if self.stop_at_k else None for place in batch]
        try:
            answers = decoding.write(
                self._local.network,
                [prompts[place] for place in batch],
                [sent[place].seed for place in batch],
                lines,
                how,
            )
        except torch.OutOfMemoryError as error:
            if len(batch) == 1:
                return [(batch[0], self._failed(error))]
        except RuntimeError as error:
            return [(place, self._failed(error)) for place in batch]
        else:
            return [
                (place, self._read(len(prompts[place]), answer, how.is_over(answer, k)))
                for place, answer, k in zip(batch, answers, lines, strict=True)
            ]
        # Outside the handler, whose traceback would hold the memory.
        middle = len(batch) // 2
        return [
            answer
            for half in (batch[:middle], batch[middle:])
            for answer in self._write(prompts, sent, half)
        ]

    def _choose(self, tokens: Tokens, prompt: Prompt) -> Completion:
        from pytest_recsys_mt.llm.local.decoding import log_probabilities

        choices = [self._local.encode_answer(choice) for choice in prompt.choices]
        if not all(choices):
            empty = prompt.choices[choices.index(())]
            return Completion(None, error=f"the choice {empty!r} has no tokens")
        longest = max(map(len, choices))
        if len(tokens) > self._local.context - longest:
            return self._too_long(f"{len(tokens)} tokens", longest)
        try:
            scores = log_probabilities(self._local.network, tokens, choices)
        except RuntimeError as error:
            return self._failed(error)
        # Among equals, the first one offered.
        best = sorted(range(len(choices)), key=lambda place: -scores[place])[
            : prompt.k or 1
        ]
        text = "\n".join(prompt.choices[place] for place in best)
        return Completion(
            text,
            Usage(len(tokens), sum(map(len, choices))),
            "choice",
            self.name,
        )

    def _read(
        self,
        prompt_tokens: int,
        answer: Sequence[int],
        over: bool,
    ) -> Completion:
        ended = answer[-1] in self._local.ends
        text = self._local.decode(answer[:-1] if ended else answer)
        text = before_stops(text, self.stops)
        return self._answered(text, Usage(prompt_tokens, len(answer)), over)

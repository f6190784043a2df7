"""The common parts of the text models of transformers: their arguments,
their identity, how exactly they compute.
"""

import importlib.metadata
import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, Self, TypeVar

from pytest_recsys_mt.llm.local import hf_source
from pytest_recsys_mt.llm.local.hf_network import DType, LocalNetwork
from pytest_recsys_mt.llm.local.hf_source import quietly
from pytest_recsys_mt.requests import Completion, Prompt, Usage, specs
from pytest_recsys_mt.requests.chat_settings import with_file
from pytest_recsys_mt.safety.sanitize import one_line

Network = TypeVar("Network", bound=LocalNetwork)


class HFTextModel(ABC, Generic[Network]):
    """Base of the text models of transformers.

    The arguments are those of `HFModel`.

    Raises:
        RecommenderError: If an argument is out of range, or there is no such file.
    """

    reads_images: ClassVar[bool] = False
    adds_system: ClassVar[bool] = True
    weights: type[Network]
    deterministic: bool

    def __init__(
        self,
        model: str,
        *,
        max_tokens: int = 256,
        dtype: DType = "auto",
        device: str = "auto",
        exact: bool = False,
        trust_remote_code: bool = False,
        system: str | None = None,
    ) -> None:
        fits = not exact or dtype in ("auto", "float32")
        specs.check(
            "hf",
            (
                "model",
                model,
                bool(model.strip()),
                "a folder, a .gguf file or a Hub repository",
            ),
            ("max_tokens", max_tokens, max_tokens >= 1, "at least 1"),
            ("dtype", dtype, fits, "float32 for exact answers"),
        )
        self.max_tokens = max_tokens
        self.system = system
        self.exact = self.deterministic = exact
        self._trust_remote_code = trust_remote_code
        self._source = hf_source.find(model, trust_remote_code=trust_remote_code)
        dtype = "float32" if exact else dtype
        self._local = self.weights(self._source, dtype, device, trust_remote_code)

    @classmethod
    def from_spec(cls, spec: str, *, exact: bool = False) -> Self:
        """The model in ``hf:PATH_OR_ID[@REVISION]?max_tokens=64``, `exact` unless the
        spec says otherwise.

        Raises:
            RecommenderError: If a parameter is unknown, a value is out of range, or
                there is no such file.
        """
        target, given = specs.split(spec)
        if cls.reads_images:
            given.pop("images", None)
        if exact:
            given.setdefault("exact", "true")
        given, fields = with_file(given, cls, spec)
        # What is no parameter is refused by its name, as in the spec.
        given |= {name: str(value) for name, value in fields.items()}
        model: Self = specs.build(partial(cls, target.removeprefix("hf:")), given, spec)
        return model

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"hf:{self._source.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything besides the prompt that an answer depends on, as plain JSON data.

        The content of its files identifies a local model, its commit a model of the
        Hub.
        """
        return {
            "provider": "hf",
            "model": self._source.identity,
            "dtype": self._local.dtype,
            "device": self._local.placement,
            "engine": [
                f"{p} {importlib.metadata.version(p)}"
                for p in ("transformers", "torch")
            ],
            "trust_remote_code": self._trust_remote_code,
            **self._own_identity(),
        }

    @abstractmethod
    def _own_identity(self) -> dict[str, object]:
        """Further values on which its answers depend."""

    @abstractmethod
    def complete_each(
        self,
        prompts: Sequence[Prompt],
    ) -> Iterator[list[tuple[int, Completion]]]:
        """Yield each prompt's position with its answer, in any order; one batch is one
        list.

        Raises:
            RecommenderError: If the model cannot be loaded.
        """

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answers in the order of the prompts; a failed one is a `Completion` with an
        error.

        Raises:
            RecommenderError: If the model cannot be loaded.
        """
        answers = dict(itertools.chain.from_iterable(self.complete_each(prompts)))
        return [answers[index] for index in range(len(prompts))]

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Settings for computing; they must not persist while
        a generator waits for its reader.
        """
        hf_source.library()
        import torch

        with (
            torch.inference_mode(),
            quietly(),
            exactly() if self.exact else nullcontext(),
        ):
            yield

    def _answered(self, text: str, usage: Usage, over: bool) -> Completion:
        said = text if text or over else None
        wrong = None if said is not None else "the model wrote nothing"
        return Completion(
            said,
            usage,
            "stop" if over else "length",
            self.name,
            error=wrong,
        )

    def _too_long(self, prompt: str, answer: int) -> Completion:
        return Completion(
            None,
            error=f"the prompt has {prompt}, and {self.name} reads "
            f"{self._local.context} with the answer's {answer}",
        )

    def _failed(self, error: Exception) -> Completion:
        return Completion(
            None,
            error=f"generation failed: {one_line(str(error))[:200]}",
        )


@contextmanager
def exactly() -> Iterator[None]:
    """Use one thread and deterministic algorithms; restore the settings afterwards.

    Sums of floating-point numbers depend on their order, which depends on the number of
    threads and on the shapes of the operands
    (https://docs.pytorch.org/docs/stable/notes/randomness.html).
    """
    import torch

    # cuBLAS reads this at its first use, and is not deterministic without it.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    threads = torch.get_num_threads()
    strict = torch.are_deterministic_algorithms_enabled()
    precision = torch.get_float32_matmul_precision()
    try:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        torch.set_float32_matmul_precision("highest")
        yield
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        torch.set_float32_matmul_precision(precision)

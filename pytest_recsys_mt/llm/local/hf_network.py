"""A model of transformers, loaded at first use: its weights, its tokenizer, its device."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal

from pytest_recsys_mt.llm.local.batches import Tokens
from pytest_recsys_mt.llm.local.hf_source import (
    HubModel,
    LocalModel,
    library,
    missing,
    quietly,
)
from pytest_recsys_mt.requests import Message
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.sanitize import one_line

DType = Literal["auto", "float32", "bfloat16", "float16"]

DeviceMap = Literal["auto", "balanced", "balanced_low_0", "sequential"]
"""How accelerate can divide the layers of a model among the GPUs of this machine."""


@contextmanager
def _explaining(messages: Sequence[Message], name: str) -> Iterator[None]:
    """Says that a chat template takes no system message, where that is why it fails."""
    from jinja2 import TemplateError

    try:
        yield
    except TemplateError as error:
        if messages[0].role != "system":
            raise
        raise RecommenderError(
            f"hf:{name}: its chat template takes no system message ({one_line(str(error))[:200]}); leave 'system' out, or "
            f"write it into the prompt",
        ) from error


class LocalNetwork:
    """Weights in safetensors or GGUF, and their tokenizer;
    the arguments are those of `HFModel`.
    """

    auto_class = "AutoModelForCausalLM"

    def __init__(
        self,
        source: LocalModel | HubModel,
        dtype: DType,
        device: str,
        trust_remote_code: bool,
    ) -> None:
        self._source = source
        self._dtype = dtype
        self._device = device
        # Divides a model that one GPU cannot hold.
        self.device_map: DeviceMap | None = None
        self._trust_remote_code = trust_remote_code

    @cached_property
    def device(self) -> str:
        """The device, by PyTorch's name."""
        library()
        import torch

        if self._device == "auto":
            return "cuda" if torch.cuda.is_available() else "cpu"
        try:
            torch.empty(0, device=self._device)
        except (RuntimeError, AssertionError) as error:
            raise RecommenderError(
                f"hf: device={self._device!r} cannot be used here: {one_line(str(error))[:200]}; "
                f"leave it out to use a GPU if there is one, else the CPU",
            ) from error
        return self._device

    @property
    def dtype(self) -> str:
        """Type of the weights; ``auto`` if the checkpoint decides."""
        return (
            "float32" if self._dtype == "auto" and self.device == "cpu" else self._dtype
        )

    @property
    def placement(self) -> str:
        """The device, as far as an answer may depend on it: its kind and the map."""
        kind = self.device.partition(":")[0]
        return kind if self.device_map is None else f"{kind}, {self.device_map}"

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer; it has a padding token."""
        tokenizer = self._tokenizer()
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    def _tokenizer(self) -> Any:
        with self._loading() as arguments:
            return library().AutoTokenizer.from_pretrained(**arguments)

    @cached_property
    def network(self) -> Any:
        """The weights, ready to compute."""
        transformers = library()
        with self._loading() as arguments:
            if self.device_map is not None:
                arguments["device_map"] = self.device_map
            network = getattr(transformers, self.auto_class).from_pretrained(
                dtype=self.dtype,
                use_safetensors=True,
                **arguments,
            )
            if self.device_map is None:
                network = network.to(self.device)
        own = network.generation_config.eos_token_id
        ends = {
            *(own if isinstance(own, list) else [own]),
            self.tokenizer.eos_token_id,
        } - {None}
        network.generation_config = transformers.GenerationConfig(
            do_sample=False,
            eos_token_id=sorted(ends),
            pad_token_id=self.tokenizer.pad_token_id,
        )
        return network.eval()

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end an answer."""
        return frozenset(self.network.generation_config.eos_token_id)

    @property
    def context(self) -> int:
        """Tokens that prompt and answer may have together."""
        limit = getattr(
            self.network.config.get_text_config(),
            "max_position_embeddings",
            None,
        )
        return limit if isinstance(limit, int) else 2**31

    def encode(self, messages: Sequence[Message]) -> Tokens:
        """The tokens of a chat, through the model's template if it has one."""
        tokenizer = self.tokenizer
        if tokenizer.chat_template is None:
            text = "\n\n".join(message.content for message in messages)
            return tuple(tokenizer(text)["input_ids"])
        chat = [
            {"role": message.role, "content": message.content} for message in messages
        ]
        with _explaining(messages, self._source.name):
            text = tokenizer.apply_chat_template(
                chat,
                add_generation_prompt=True,
                tokenize=False,
            )
        # The template already contains the special tokens.
        return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])

    def encode_answer(self, text: str) -> Tokens:
        """The tokens of an answer after a chat; without a
        template it begins with a space.
        """
        space = "" if self.tokenizer.chat_template is not None else " "
        return tuple(
            self.tokenizer(space + text, add_special_tokens=False)["input_ids"],
        )

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of some tokens."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))

    @contextmanager
    def _loading(self) -> Iterator[dict[str, Any]]:
        if self._trust_remote_code:
            self._source.check_code()
        arguments = self._source.arguments()
        try:
            with quietly():
                yield {**arguments, "trust_remote_code": self._trust_remote_code}
        except ImportError as error:
            raise missing(error) from error
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            if "trust_remote_code" in str(error):
                raise RecommenderError(
                    f"hf:{self._source.name} comes with its own Python code, which is not run; "
                    f"read it, and if you trust it, add '?trust_remote_code=true' to a local "
                    f"folder, or to a Hub model with the full hash of the commit you read",
                ) from error
            raise RecommenderError(
                f"hf:{self._source.name} cannot be loaded: {one_line(str(error))[:300]}; it needs a "
                f"folder with config.json, a tokenizer and weights in safetensors",
            ) from error

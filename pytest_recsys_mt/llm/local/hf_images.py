"""Models that read images and text, in this process, through transformers."""

from __future__ import annotations

import base64
import binascii
import importlib.metadata
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

from pytest_recsys_mt import specs
from pytest_recsys_mt.errors import RecommenderError
from pytest_recsys_mt.llm.local import hf_source
from pytest_recsys_mt.llm.local.exactness import exactly
from pytest_recsys_mt.llm.local.hf_network import DType, LocalNetwork
from pytest_recsys_mt.llm.local.hf_source import missing, quietly
from pytest_recsys_mt.requests import Completion, Message, Prompt, Usage
from pytest_recsys_mt.sanitize import one_line


class HFImageModel:
    """A model of transformers' class ``AutoModelForImageTextToText``, with its processor.

    It answers each prompt alone and greedily. A processor with a chat template gets the messages
    through it, with images before their text. A processor without one gets one image mark for each
    image, and the contents joined by blank lines.

    Args:
        model: A folder, or a Hub repository ``ID[@REVISION]``; weights in safetensors.
        max_tokens: The most tokens of one answer.
        dtype: Type of the weights; ``auto`` is float32 on a CPU and the checkpoint's own elsewhere.
        device: ``auto`` is a GPU if there is one; else PyTorch's name of a device.
        exact: Whether to compute in float32, on one thread, by deterministic algorithms.
        trust_remote_code: Whether Python code that comes with the model may run here: for a Hub
            model only at the full hash of a commit.

    Attributes:
        deterministic: Whether it is exact.
        reads_images: True.

    Raises:
        RecommenderError: If an argument is out of range, or there is no such folder.
    """

    reads_images = True

    def __init__(
        self,
        model: str,
        *,
        max_tokens: int = 256,
        dtype: DType = "auto",
        device: str = "auto",
        exact: bool = False,
        trust_remote_code: bool = False,
    ) -> None:
        if max_tokens < 1:
            raise RecommenderError(f"hf: max_tokens={max_tokens!r} must be at least 1")
        if exact and dtype not in ("auto", "float32"):
            raise RecommenderError(f"hf: dtype={dtype!r} must be float32 for exact answers")
        self.max_tokens = max_tokens
        self.exact = exact
        self.deterministic = exact
        self._source = hf_source.find(model, trust_remote_code=trust_remote_code)
        self._trust_remote_code = trust_remote_code
        self._local = ImageNetwork(
            self._source, "float32" if exact else dtype, device, None, trust_remote_code
        )

    @classmethod
    def from_spec(cls, spec: str, *, exact: bool = False) -> HFImageModel:
        """The model in ``hf:PATH_OR_ID[@REVISION]?images=true&max_tokens=64``.

        Args:
            spec: As above.
            exact: The value of `exact` if the spec does not set it.

        Raises:
            RecommenderError: If a parameter is unknown, a value is out of range, or there is no
                such folder.
        """
        target, given = specs.split(spec)
        given.pop("images", None)
        if exact:
            given.setdefault("exact", "true")
        model: HFImageModel = specs.build(partial(cls, target.removeprefix("hf:")), given, spec)
        return model

    def __repr__(self) -> str:
        return f"HFImageModel({self._source.name!r})"

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"hf:{self._source.name}"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything besides the prompt that an answer depends on, as plain JSON data."""
        return {
            "provider": "hf",
            "model": self._source.identity,
            "class": "image-text-to-text",
            "dtype": self._local.dtype,
            "device": self._local.placement,
            "engine": [f"{p} {importlib.metadata.version(p)}" for p in ("transformers", "torch")],
            "exact": self.exact,
            "trust_remote_code": self._trust_remote_code,
            "sampling": {"temperature": 0.0, "max_tokens": self.max_tokens},
        }

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answers in the order of the prompts; a failed one is a `Completion` with an error.

        Raises:
            RecommenderError: If the model cannot be loaded.
        """
        answers = dict(self.complete_each(prompts))
        return [answers[index] for index in range(len(prompts))]

    def complete_each(self, prompts: Sequence[Prompt]) -> Iterator[tuple[int, Completion]]:
        """Yield each prompt's position with its answer, one at a time.

        Raises:
            RecommenderError: If the model cannot be loaded.
        """
        for index, prompt in enumerate(prompts):
            with self._computing():
                answer = self._answer(prompt)
            yield index, answer

    @contextmanager
    def _computing(self) -> Iterator[None]:
        hf_source.library()
        import torch

        with torch.inference_mode(), quietly(), exactly(self.exact):
            yield

    def _answer(self, prompt: Prompt) -> Completion:
        network = self._local.network
        try:
            inputs = self._local.inputs(prompt.messages).to(network.device)
            read = inputs["input_ids"].shape[1]
            if read > self._local.context - self.max_tokens:
                return Completion(
                    None,
                    error=f"the prompt has {read} tokens with its images, and {self.name} reads "
                    f"{self._local.context} with the answer's {self.max_tokens}",
                )
            written = network.generate(**inputs, max_new_tokens=self.max_tokens)[0, read:].tolist()
        except (RuntimeError, ValueError, OSError) as error:
            return Completion(None, error=f"generation failed: {one_line(str(error))[:200]}")
        ended = bool(written) and written[-1] in self._local.ends
        usage, finish = Usage(read, len(written)), "stop" if ended else "length"
        text = self._local.decode(written)
        if not text:
            return Completion(None, usage, finish, self.name, error="the model wrote nothing")
        return Completion(text, usage, finish, self.name)


class ImageNetwork(LocalNetwork):
    """Weights that read images, and their processor."""

    auto_class = "AutoModelForImageTextToText"

    @cached_property
    def processor(self) -> Any:
        """The processor: tokenizer, image processor and chat template.

        Raises:
            RecommenderError: If there is none, or it reads no images.
        """
        arguments = self._arguments
        with quietly(), self._loading():
            processor = hf_source.library().AutoProcessor.from_pretrained(**arguments)
        if getattr(processor, "image_processor", None) is None:
            raise RecommenderError(
                f"hf:{self._source.name} reads no images; leave '?images=true' out of its spec"
            )
        return processor

    @cached_property
    def tokenizer(self) -> Any:
        """The processor's; it has a padding token."""
        tokenizer = self.processor.tokenizer
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer

    def inputs(self, messages: Sequence[Message]) -> Any:
        """The arrays of a chat: tokens, and the values of its images.

        Raises:
            ValueError: If an image cannot be read.
        """
        images = [picture(image) for message in messages for image in message.images]
        if self.processor.chat_template is None:
            mark = getattr(self.processor, "image_token", "<image>")
            texts = [*[mark] * len(images), *(message.content for message in messages)]
            text, special = "\n\n".join(texts), True
        else:
            chat = [
                {
                    "role": message.role,
                    "content": [
                        *({"type": "image"} for _ in message.images),
                        {"type": "text", "text": message.content},
                    ],
                }
                for message in messages
            ]
            text = self.processor.apply_chat_template(chat, add_generation_prompt=True)
            special = False
        return self.processor(
            images=images or None, text=text, return_tensors="pt", add_special_tokens=special
        )


def picture(url: str) -> Any:
    """The picture of a data URL, in RGB.

    Raises:
        ValueError: If the URL is not a picture.
        MissingExtraError: If Pillow is not installed.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise missing(error) from error
    head, _, body = url.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64"):
        raise ValueError(f"an image is a data URL in base64, got {url[:40]!r}")
    try:
        return Image.open(io.BytesIO(base64.b64decode(body, validate=True))).convert("RGB")
    except (binascii.Error, OSError) as error:
        raise ValueError(f"the image {url[:40]!r} cannot be read: {error}") from error

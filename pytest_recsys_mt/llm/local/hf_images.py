"""Models that read images and text, in this process, through transformers."""

import base64
import binascii
import io
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from pytest_recsys_mt.llm.local import hf_source
from pytest_recsys_mt.llm.local.hf_network import LocalNetwork
from pytest_recsys_mt.llm.local.hf_source import missing
from pytest_recsys_mt.llm.local.hf_text_model import HFTextModel
from pytest_recsys_mt.requests import Completion, Message, Prompt, Usage
from pytest_recsys_mt.safety.errors import RecommenderError


class ImageNetwork(LocalNetwork):
    """Weights that read images, and their processor."""

    auto_class = "AutoModelForImageTextToText"

    @cached_property
    def processor(self) -> Any:
        """The processor; RecommenderError if there is none, or it reads no images."""
        with self._loading() as arguments:
            processor = hf_source.library().AutoProcessor.from_pretrained(**arguments)
        if getattr(processor, "image_processor", None) is None:
            raise RecommenderError(
                f"hf:{self._source.name} reads no images; leave '?images=true' out of its spec",
            )
        return processor

    def _tokenizer(self) -> Any:
        return self.processor.tokenizer

    def inputs(self, messages: Sequence[Message]) -> Any:
        """The arrays of a chat: tokens, and the values of its
        images; ValueError if one cannot be read.
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
            images=images or None,
            text=text,
            return_tensors="pt",
            add_special_tokens=special,
        )


class HFImageModel(HFTextModel[ImageNetwork]):
    """A model of transformers' class ``AutoModelForImageTextToText``, with its
    processor.

    It answers each prompt alone and greedily. A processor with a chat template gets the
    messages through it, with images before their text. A processor without one gets one
    image mark for each image, and the contents joined by blank lines. The arguments are
    those of `HFModel`, and the errors too; it is deterministic if it is exact.
    """

    reads_images = True
    weights = ImageNetwork

    def __repr__(self) -> str:
        return f"HFImageModel({self._source.name!r})"

    def _own_identity(self) -> dict[str, object]:
        return {
            "class": "image-text-to-text",
            "exact": self.exact,
            "sampling": {"temperature": 0.0, "max_tokens": self.max_tokens},
        }

    def complete_each(
        self,
        prompts: Sequence[Prompt],
    ) -> Iterator[list[tuple[int, Completion]]]:
        for index, prompt in enumerate(prompts):
            with self._computing():
                answer = self._answer(prompt)
            yield [(index, answer)]

    def _answer(self, prompt: Prompt) -> Completion:
        network = self._local.network
        try:
            inputs = self._local.inputs(prompt.messages).to(network.device)
            read = inputs["input_ids"].shape[1]
            if read > self._local.context - self.max_tokens:
                return self._too_long(f"{read} tokens with its images", self.max_tokens)
            written = network.generate(**inputs, max_new_tokens=self.max_tokens)[
                0,
                read:,
            ].tolist()
        except (RuntimeError, ValueError, OSError) as error:
            return self._failed(error)
        ended = bool(written) and written[-1] in self._local.ends
        return self._answered(
            self._local.decode(written),
            Usage(read, len(written)),
            ended,
        )


def picture(url: str) -> Any:
    """The picture of a data URL, in RGB; ValueError if it is
    none, MissingExtraError without Pillow.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise missing(error) from error
    head, _, body = url.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64"):
        raise ValueError(f"an image is a data URL in base64, got {url[:40]!r}")
    try:
        return Image.open(io.BytesIO(base64.b64decode(body, validate=True))).convert(
            "RGB",
        )
    except (binascii.Error, OSError) as error:
        raise ValueError(f"the image {url[:40]!r} cannot be read: {error}") from error

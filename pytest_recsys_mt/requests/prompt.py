"""The prompts of text models, and their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_recsys_mt.requests.answer import Usage


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat.

    Attributes:
        role: Role of the sender.
        content: Its text.
        images: Images before the text, as data URLs; for models with `reads_images`.
    """

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt for a text model.

    Attributes:
        messages: The chat so far, ending with the user's message.
        seed: For a model that samples. It depends only on the call (never on batch or
            worker), so another replicate of the same request carries another seed.
        k: Lines that the answer should list; a model may stop after them. None for free
            text.
        choices: The fixed answers of a multiple-choice question, for a model that can
            score them.
        schema: The JSON schema of the answer, for an endpoint that enforces one. The
            messages must ask for such JSON too.
    """

    messages: tuple[Message, ...]
    seed: int = 0
    k: int | None = None
    choices: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a text model; `text` is None only if `error` says why. Without
    `seconds`, a batch shares its time. `failed_before` are the attempts at the call that
    failed before this one, `refused_before` those of them that the endpoint refused;
    `notes` are sentences on what the call asked for
    and the endpoint does not take; they are kept with the answer.
    """

    text: str | None
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    error: str | None = None
    seconds: float | None = field(default=None, compare=False)
    failed_before: int = field(default=0, compare=False, repr=False)
    refused_before: int = field(default=0, compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

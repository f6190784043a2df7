"""Chat models behind the APIs of their providers, such as Anthropic, Gemini and
Bedrock, which LiteLLM speaks.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import cached_property
from typing import Any, ClassVar

from pytest_recsys_mt.llm.api.dialect import Dialect
from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.flight import Arrival
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.requests import Prompt
from pytest_recsys_mt.safety.errors import MissingExtraError, RecommenderError
from pytest_recsys_mt.safety.redaction import shown

_PLACES = (
    "API_BASE",
    "BASE_URL",
    "API_VERSION",
    "REGION",
    "REGION_NAME",
    "RUNTIME_ENDPOINT",
)
"""Endings of those that name the address of a provider."""


@contextmanager
def _unwarned() -> Iterator[None]:
    """It warns of its own classes whenever it imports more: where warnings are errors
    there would be no answer.
    """
    with warnings.catch_warnings():
        # Of others nothing is hidden: tests may run on while answers are awaited.
        warnings.filterwarnings("ignore", module=r"(litellm|pydantic)\.")
        yield


class LiteLLMModel(OpenAIModel):
    """A text model in the API of its provider, ``litellm:PROVIDER/NAME?temperature=0``,
    through the library LiteLLM.

    The environment holds keys and addresses, as LiteLLM reads them:
    ``ANTHROPIC_API_KEY``, ``GEMINI_API_KEY``, ``AWS_REGION``. Everything else is as of
    `OpenAIModel`, whose fields LiteLLM translates, or refuses with a note. It opens the
    connections: what `OpenAIModel` says of redirects and the size of an answer does not
    apply.

    Raises:
        MissingExtraError: If LiteLLM is not installed.
        RecommenderError: If an argument is out of range, or the name lacks its
            provider.
    """

    prefix: ClassVar = "litellm"

    @classmethod
    def from_spec(cls, spec: str) -> OpenAIModel:
        """The model in ``litellm:PROVIDER/NAME?temperature=0``; raises
        `RecommenderError` as the class.
        """
        model = super().from_spec(spec)
        if not all(model.model.partition("/")) or model.api is not None:
            raise RecommenderError(
                f"litellm:{model.model} must have the form litellm:PROVIDER/NAME, as litellm:anthropic/claude-sonnet-4-5 "
                f"has, and takes no api",
            )
        return model

    def require_key(self) -> None:
        """Raise `RecommenderError` if a key of the provider is
        missing, or LiteLLM does not know the provider.
        """
        provider = self.model.partition("/")[0]
        if provider not in self._library.provider_list:
            raise RecommenderError(
                f"{self.prefix}:{self.model} names the provider {provider!r}, which LiteLLM does not know; the names are on "
                f"https://docs.litellm.ai/docs/providers",
            )
        _ = self._endpoint  # it refuses an address that must not be shown, or would get a key unencrypted
        with _unwarned():
            missing = self._library.validate_environment(self.model)["missing_keys"]
        if missing and provider != "bedrock":  # AWS has other ways to say who one is
            raise RecommenderError(
                f"{self.prefix}:{self.model} needs a key: set {' or '.join(missing)}",
            )

    @cached_property
    def _endpoint(self) -> Endpoint:
        provider = self.model.partition("/")[0]
        begins = (
            ("AWS_", "BEDROCK_") if provider == "bedrock" else (f"{provider.upper()}_",)
        )
        places = []
        for name, value in sorted(os.environ.items()):
            if value and name.startswith(begins) and name.endswith(_PLACES):
                if "://" in value:
                    at = Endpoint.parse(
                        value,
                        name,
                        "https://HOST",
                        f"{begins[0]}API_KEY",
                    )
                    if at.url.startswith("http:") and not at.is_loopback:
                        raise RecommenderError(
                            f"a key would go unencrypted to {at.url}, as {name} says: use https",
                        )
                    value = at.url
                places.append(f"{name}={shown(value)}")
        return Endpoint(" ".join([provider, *places]))

    @cached_property
    def _usual(self) -> Dialect:
        return Dialect(("max_tokens",))

    def complete_each(
        self,
        prompts: Sequence[Prompt],
    ) -> Generator[list[Arrival], None, None]:
        """As `OpenAIModel.complete_each`."""
        with _unwarned():
            yield from super().complete_each(prompts)

    @cached_property
    def _library(self) -> Any:
        os.environ.setdefault(
            "LITELLM_LOCAL_MODEL_COST_MAP",
            "True",
        )  # else it asks GitHub
        try:
            with _unwarned():
                library: Any = importlib.import_module("litellm")
        except ImportError as error:
            raise MissingExtraError(
                f"{self.prefix}: needs LiteLLM ({error}); run: pip install 'pytest-recsys-mt[litellm]'",
            ) from error
        library.suppress_debug_info = True
        library.telemetry = False
        return library

    @cached_property
    def _channel(self) -> _Channel:  # type: ignore[override]
        self.require_key()
        return _Channel(self._library)


class _Channel(AbstractAsyncContextManager["_Channel"]):
    def __init__(self, library: Any) -> None:
        self._library = library

    async def __aexit__(self, *error: object) -> None:
        await self._library.close_litellm_async_clients()

    async def post(self, _path: str, body: Mapping[str, Any]) -> bytes:
        """As `channel.Channel.post`."""
        import httpx2
        import openai

        try:
            answer = await self._library.acompletion(
                **body,
                num_retries=0,
                max_retries=0,
                timeout=None,
            )
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIStatusError as error:
            error.body = {"message": str(error)}
            raise
        except openai.APIConnectionError as error:
            raise httpx2.TransportError(str(error)) from error
        found: bytes = answer.model_dump_json().encode()
        return found

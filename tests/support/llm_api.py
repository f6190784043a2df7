"""What tests use of `llm.api`."""

from pytest_recsys_mt.llm.api import (
    chat_api,
    dialect,
    openai_model,
    pacing,
    retries,
    transport,
)
from pytest_recsys_mt.llm.api.background import BackgroundLoop
from pytest_recsys_mt.llm.api.dialect import Dialect
from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.flight import Flight
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.llm.api.pacing import FIRST, Pace, UnavailableError
from pytest_recsys_mt.llm.api.retries import (
    ATTEMPTS,
    PassingError,
    persist,
    retry_after,
    setback,
)
from pytest_recsys_mt.llm.api.thinkers import FOR_THINKING
from pytest_recsys_mt.llm.api.transport import http_client

__all__ = [
    "ATTEMPTS",
    "FIRST",
    "FOR_THINKING",
    "BackgroundLoop",
    "Dialect",
    "Endpoint",
    "Flight",
    "OpenAIModel",
    "Pace",
    "PassingError",
    "UnavailableError",
    "chat_api",
    "dialect",
    "http_client",
    "openai_model",
    "pacing",
    "persist",
    "retries",
    "retry_after",
    "setback",
    "transport",
]

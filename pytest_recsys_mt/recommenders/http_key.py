"""The key of a recommender behind HTTP: which header holds it, and which server gets it."""

from __future__ import annotations

import os
import re

from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.recommenders.http_contract import HEADER, ORIGIN
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import AUTHORIZATION, Secret, secret

_OUR_HEADERS = {
    "accept", "accept-encoding", "connection", "content-length", "content-type", "host", "te", "transfer-encoding",
    "user-agent",
}  # fmt: skip
"""The headers that a client sets itself."""


def header() -> str:
    """The name of the header that holds the key;
    RecommenderError if the environment names no such one.
    """
    name = os.environ.get(HEADER, "").strip() or "Authorization"
    if not re.fullmatch(r"[\w-]+", name, re.ASCII) or name.lower() in _OUR_HEADERS:
        raise RecommenderError(
            f"{HEADER}={name!r} is not the name of a header for a key: set one such as X-API-Key, or unset "
            f"it for Authorization",
        )
    return name


def authorization(endpoint: Endpoint) -> Secret | None:
    """The value of the header that holds the key of a server, or None if it gets none.

    Raises:
        RecommenderError: If the environment does not say which server gets the value,
            if it is not a valid header, or if it would be sent unencrypted.
    """
    value = secret(AUTHORIZATION)
    if not value:
        return None
    if not (value.isascii() and value.isprintable()):
        raise RecommenderError(
            f"{AUTHORIZATION} holds characters that no header may have",
        )
    named = Secret(os.environ.get(ORIGIN, "").strip())
    if not named:
        raise RecommenderError(
            f"{AUTHORIZATION} is set, and nothing says which server may get it: set {ORIGIN} to the "
            f"scheme, host and port of yours, as in {ORIGIN}=https://shop.example",
        )
    if (
        Endpoint.parse(named, ORIGIN, "https://shop.example", AUTHORIZATION).origin
        != endpoint.origin
    ):
        return None
    if not endpoint.url.startswith("https:") and not endpoint.is_loopback:
        raise RecommenderError(
            f"{AUTHORIZATION} would go unencrypted to {endpoint.url}: use https, or unset it for a "
            f"server that needs none",
        )
    return value

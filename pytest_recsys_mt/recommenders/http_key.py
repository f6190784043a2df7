"""The key of a recommender behind HTTP: which header holds it, and which server gets it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.recommenders.http_contract import HEADER, ORIGIN
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import AUTHORIZATION, Secret, secret

OUR_HEADERS = {
    "accept", "accept-encoding", "connection", "content-length", "content-type", "host", "te", "transfer-encoding",
    "user-agent",
}  # fmt: skip
"""The headers that a client sets itself."""


def header() -> str:
    """The name of the header that holds the key;
    RecommenderError if the environment names no such one.
    """
    name = os.environ.get(HEADER, "").strip() or "Authorization"
    if not re.fullmatch(r"[\w-]+", name, re.ASCII) or name.lower() in OUR_HEADERS:
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
    return _for(endpoint, AUTHORIZATION)


def named_keys(
    endpoint: Endpoint, variables: Sequence[str], place: str
) -> dict[str, Secret]:
    """The values of environment variables that headers of a map name, by variable.

    Args:
        endpoint: The server that gets them.
        variables: Their names.
        place: Where the map names them, for messages.

    Raises:
        RecommenderError: As `authorization`, and if one is not set or is for another
            server.
    """
    found = {}
    for variable in variables:
        if not secret(variable):
            raise RecommenderError(
                f"{place}: the environment variable {variable}, which it names, is not set",
            )
        value = _for(endpoint, variable)
        if value is None:
            raise RecommenderError(
                f"{place}: {variable} is for the server that {ORIGIN} names, and this is {endpoint.origin}: set "
                f"{ORIGIN}={endpoint.origin}, if it may get that key",
            )
        found[variable] = value
    return found


def _for(endpoint: Endpoint, variable: str) -> Secret | None:
    """The value of a variable, if the server may get it."""
    value = secret(variable)
    if not value:
        return None
    if not (value.isascii() and value.isprintable()):
        raise RecommenderError(
            f"{variable} holds characters that no header may have",
        )
    named = Secret(os.environ.get(ORIGIN, "").strip())
    if not named:
        raise RecommenderError(
            f"{variable} is set, and nothing says which server may get it: set {ORIGIN} to the "
            f"scheme, host and port of yours, as in {ORIGIN}=https://shop.example",
        )
    if (
        Endpoint.parse(named, ORIGIN, "https://shop.example", variable).origin
        != endpoint.origin
    ):
        return None
    if not endpoint.url.startswith("https:") and not endpoint.is_loopback:
        raise RecommenderError(
            f"{variable} would go unencrypted to {endpoint.url}: use https, or unset it for a "
            f"server that needs none",
        )
    return value

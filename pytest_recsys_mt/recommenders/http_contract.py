"""The requests to a recommender behind HTTP, and the parsing of its answers and
failures.

``docs/http-recommender.openapi.yaml`` states the contract; a test checks this module
against it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pytest_recsys_mt.llm.api.chat_api import describe_absence, describe_connection
from pytest_recsys_mt.llm.api.pacing import UnavailableError
from pytest_recsys_mt.requests import Aspect, Item, Promised, Recommendation, Request
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.safety.redaction import AUTHORIZATION, redact, shortened, shown
from pytest_recsys_mt.safety.sanitize import one_line, without_controls

CONTRACT = "docs/http-recommender.openapi.yaml"
"""The location of the contract, for messages."""

ORIGIN = "RECSYS_HTTP_ORIGIN"
"""Environment variable for the only server that gets the header:
``https://shop.example``.
"""

HEADER = "RECSYS_HTTP_HEADER"
"""Environment variable for the name of the header; ``Authorization`` if it is not set."""

LONGEST_ID = 500
"""Characters of an item's id that are kept; a server may write anything there."""

_HINTS: Mapping[int, str] = {
    400: f"compare the server with {CONTRACT}",
    401: f"set {AUTHORIZATION}, and {ORIGIN} to this server",
    403: f"check what {AUTHORIZATION} may do, and that {ORIGIN} names this server",
    404: "check the address: the contract's paths /about and /recommend are added to it",
    405: "check the address: the contract's paths /about and /recommend are added to it",
    413: "lower batch= in the spec",
    422: f"compare the server with {CONTRACT}",
    429: "lower concurrency= in the spec",
}

_WORDS = {"ignores": get_args(Aspect), "promises": get_args(Promised)}

Answered = Recommendation | NotApplicable


class ContractError(ValueError):
    """An answer that violates the contract; the text says what it contains."""


@dataclass(frozen=True, slots=True)
class About:
    """A server's description of itself."""

    version: str | None = None  # it changes with every change that may change an answer
    deterministic: bool = False
    # Whether the same replicate of a request always gets the same answer.
    seeded: bool = False
    max_batch: int | None = None  # most requests that it accepts at a time
    ignores: tuple[str, ...] = ()  # the parts of a request that it does not read
    promises: tuple[
        str,
        ...,
    ] = ()  # in addition to those of all: ``ratings``, ``recency``, ``order``
    reads_latest: int | None = None  # most of a history's latest items that it reads


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    Attributes:
        method: Of the request.
        url: Its address.
        headers: Those of this request alone; a value that holds a key is a `Secret`.
        body: Its body, if it has one.
        status: Of the response.
        content: Of the response, without keys.
    """

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None
    status: int
    content: bytes


def body_of(requests: Sequence[Request]) -> bytes:
    """The request body for `requests`."""
    return json.dumps(
        {"requests": [plain(request) for request in requests]},
        allow_nan=False,
    ).encode()


def plain(request: Request) -> dict[str, Any]:
    """`request` in the format of the contract. It never contains held-out items."""
    return {
        "user": request.user,
        "attributes": dict(request.attributes),
        "history": [
            {
                "item": _plain_item(each.item),
                "rating": each.value,
                "timestamp": each.timestamp,
            }
            for each in request.history
        ],
        "scale": {"low": request.scale.low, "high": request.scale.high},
        "candidates": None
        if request.candidates is None
        else [_plain_item(item) for item in request.candidates],
        "seen": list(request.seen),
        "k": request.k,
        "replicate": request.replicate,
    }


def _plain_item(item: Item) -> dict[str, Any]:
    attributes = dict(item.attributes)
    return {
        "id": item.id,
        "title": item.title,
        "year": item.year,
        "attributes": attributes,
    }


def read_about(body: bytes) -> About:
    """The server's description of itself."""
    said = _object(body)
    version, deterministic = said.get("version"), said.get("deterministic", False)
    seeded, most = said.get("seeded", False), said.get("max_batch")
    latest = said.get("reads_latest")
    rules = [
        ("version", version is None or _is_version(version), "a text, not empty"),
        ("deterministic", isinstance(deterministic, bool), "true or false"),
        ("seeded", isinstance(seeded, bool), "true or false"),
        ("max_batch", _is_count(most), "a whole number from 1"),
        ("reads_latest", _is_count(latest), "a whole number from 1"),
    ]
    words = {name: said.get(name, []) for name in _WORDS}
    for name, known in _WORDS.items():
        fits = isinstance(words[name], list) and all(
            each in known for each in words[name]
        )
        rules.append((name, fits, f"a list of {', '.join(known)}"))
    for name, fits, allowed in rules:
        if not fits:
            raise ContractError(
                f"{name} is {_short(said[name])}; the contract wants {allowed}",
            )
    return About(
        version and redact(version),
        deterministic,
        seeded,
        most,
        **{k: tuple(v) for k, v in words.items()},
        reads_latest=latest,
    )


def _is_count(said: Any) -> bool:
    return said is None or (type(said) is int and said >= 1)


def read_answers(body: bytes, count: int) -> tuple[str | None, list[Answered]]:
    """The version that answered, if the server gives it, and the answers."""
    said = _object(body)
    answers, version = said.get("answers"), said.get("version")
    if not isinstance(answers, list):
        fields = shortened(one_line(repr(sorted(said))), 160)
        raise ContractError(f"it has no list of answers, but the fields {fields}")
    if len(answers) != count:
        raise ContractError(
            f"{len(answers)} answers to {count} requests; the contract wants one each, in their order",
        )
    if version is not None and not _is_version(version):
        raise ContractError(
            f"version is {_short(version)}; the contract wants a text, not empty",
        )
    return version and redact(version), [_answer(answer) for answer in answers]


def _answer(answer: Any) -> Answered:
    said = answer if isinstance(answer, dict) else {}
    kinds = [
        kind
        for kind in ("items", "error", "not_applicable")
        if said.get(kind) is not None
    ]
    if len(kinds) != 1:
        return Recommendation(
            (),
            error=f"the answer {_short(answer)} has not one of items, error, not_applicable",
        )
    (kind,) = kinds
    value = said[kind]
    if kind != "items":
        reason = (
            shortened(one_line(value), 300) if isinstance(value, str) else _short(value)
        )
        reason = reason or "no reason given"
        if kind == "not_applicable":
            return NotApplicable(reason)
        return Recommendation((), error=f"the server says: {reason}")
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return Recommendation(
            (),
            error=f"items is {_short(value)}; the contract wants ids of items, as texts",
        )
    return Recommendation(
        tuple(shortened(without_controls(item), LONGEST_ID) for item in value),
    )


def describe(
    error: Exception,
    url: str,
    hints: Mapping[int, str] = _HINTS,
    contract: str = f" ({CONTRACT})",
) -> str:
    """Why a call failed, with the address, and what to do if known.

    Args:
        error: The failure.
        url: The address.
        hints: What to do, by status.
        contract: What ends the text of a `ContractError`.
    """
    import aiohttp
    import httpx2

    from pytest_recsys_mt.llm.api.transport import UnreadableError

    if isinstance(error, httpx2.HTTPStatusError):
        status = error.response.status_code
        if 300 <= status < 400:
            leads = (
                shown(one_line(error.response.headers.get("location", "")))[:200]
                or "nowhere"
            )
            return (
                f"{url}: HTTP {status}, a redirect to {leads}, which is not followed, for the key "
                f"would go along; name the address that answers itself"
            )
        hint = hints.get(status, "see the server's log" if status >= 500 else "")
        said = shortened(one_line(error.response.text), 160) or "no reason given"
        return f"{url}: HTTP {status}{f' ({hint})' if hint else ''}: {said}"
    if isinstance(error, UnavailableError):
        return describe_absence(error)
    if isinstance(error, (httpx2.TransportError, aiohttp.ClientError, TimeoutError)):
        return describe_connection(error, url)
    if isinstance(error, ContractError):
        return f"{url}: {error}{contract}"
    if isinstance(error, UnreadableError):
        return f"{url}: {error}"
    return f"{url}: {type(error).__name__}: {error}"


def _object(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise ContractError(f"the answer is not JSON: {_short(body)}") from None
    if not isinstance(said, dict):
        raise ContractError(
            f"the answer is {_short(said)}; the contract wants a JSON object",
        )
    return said


def _is_version(value: object) -> bool:
    return isinstance(value, str) and bool(one_line(value)) and len(value) <= 200


def _short(value: object) -> str:
    if isinstance(value, bytes):
        return repr(shortened(value.decode(errors="replace"), 80))
    return shortened(one_line(repr(value)), 80)

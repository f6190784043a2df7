"""The requests to a Chat Completions endpoint, and the
parsing of its answers and failures.
"""

import json
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.event_stream import is_stream, joined
from pytest_recsys_mt.llm.api.pacing import UnavailableError
from pytest_recsys_mt.llm.api.responses_api import as_chat, mapping
from pytest_recsys_mt.llm.api.retries import (
    PassingError,
    chain,
    is_caused_by,
    is_unreachable,
)
from pytest_recsys_mt.llm.api.thinkers import FOR_THINKING
from pytest_recsys_mt.requests import (
    Completion,
    Message,
    Usage,
    is_final,
    is_out_of_tokens,
)
from pytest_recsys_mt.safety.redaction import redact, redact_bytes, shortened
from pytest_recsys_mt.safety.sanitize import one_line

_HINTS: Mapping[int, str] = {
    401: "check OPENAI_API_KEY",
    403: "check what the key in OPENAI_API_KEY may do",
    404: "check the model's name and the path in OPENAI_BASE_URL, which mostly ends in /v1",
}


REASON_LENGTH = 300
"""Characters of an error that are kept."""


class GivenUpError(ValueError):
    """A call that is not retried, although it might
    succeed; the text says how it failed.
    """


class SilentError(TimeoutError):
    """The first answer of an endpoint did not come within ``recsys_max_wait``, which is
    less than the call may take.
    """


def response_format(schema: Mapping[str, object]) -> dict[str, Any]:
    """The field that forces an answer into a JSON schema."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": dict(schema)},
    }


def plain(message: Message) -> dict[str, Any]:
    """A message in the endpoint's format; images precede
    the text, as parts of the content.
    """
    images = [
        {"type": "image_url", "image_url": {"url": image}} for image in message.images
    ]
    text = {"type": "text", "text": message.content}
    return {
        "role": message.role,
        "content": [*images, text] if images else message.content,
    }


def read(body: bytes) -> Completion:
    """The answer in the body of a response, without keys, with its usage. One that is
    empty or refused has an error and its text, a double one an error alone. A
    stream is joined; the arguments of a call of a tool are the text where there
    is no other.

    Raises:
        PassingError: If the body holds an error instead.
        ValueError: If it holds no answer; the text says what it holds.
    """
    answer = mapping(_data_of(redact_bytes(body)))
    if isinstance(answer.get("output"), list):
        answer = as_chat(answer)
    choices = answer.get("choices")
    if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        if failure := answer.get("error"):
            raise PassingError(
                f"the answer has no choices, but an error: {_complaint(failure)}",
            )
        raise ValueError("the answer has no choices")
    message = mapping(choices[0].get("message"))
    finish = _text(choices[0].get("finish_reason"))
    content = message.get("content")
    text, error = (
        _text(_joined(content) if isinstance(content, list) else content),
        None,
    )
    usage = _usage(mapping(answer.get("usage")))
    called = [] if text else _called(message)
    if len(choices) > 1:
        text, error = (
            None,
            f"the answer has {len(choices)} choices, and one was asked for",
        )
    elif refusal := _text(message.get("refusal")):
        text, error = "", f"refused: {refusal}"
    elif len(called) > 1:
        text, error = (
            None,
            f"the model called {len(called)} tools, and one answer was asked for",
        )
    elif called:
        text = called[0]
    elif not (text and text.strip()):
        text, error = _without_text(message, finish, usage)
    return Completion(
        text=text,
        usage=usage,
        finish_reason=finish,
        model=_text(answer.get("model")),
        system_fingerprint=_text(answer.get("system_fingerprint")),
        error=error and shortened(one_line(error), REASON_LENGTH),
    )


def _data_of(body: bytes) -> Any:
    """The data in the body of a response, which is JSON or a
    stream of it; `ValueError` if it is neither.
    """
    load = partial(json.loads, parse_int=_whole)
    try:
        return joined(body, load) if is_stream(body) else load(body.decode())
    except UnicodeDecodeError:
        raise ValueError(f"the answer is not UTF-8: {body[:80]!r}") from None
    except RecursionError:
        raise ValueError("the answer is JSON nested too deeply") from None
    except json.JSONDecodeError:
        raise ValueError(f"the answer is not JSON: {body[:80].decode()!r}") from None


def _without_text(
    message: Mapping[str, Any],
    finish: str | None,
    usage: Usage | None,
) -> tuple[str | None, str]:
    """The value of a message without a text: an empty
    answer or none, and why there is no more.
    """
    content = message.get("content")
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    text = "" if is_final(finish) and isinstance(content, str | None) else None
    if is_out_of_tokens(finish):
        # Parts without a text are parts of thinking.
        if reasoning or content or (usage and usage.reasoning_tokens):
            return text, _thought_too_long(usage)
        return (
            text,
            f"the model wrote nothing (finish_reason {finish!r}); raise max_tokens",
        )
    if reasoning:
        return None, (
            "the model wrote in its reasoning alone, which is never read as an answer; let it think less, such as "
            "reasoning_effort=low, or check how the server tells its thinking from its answer"
        )
    return text, f"the model wrote nothing (finish_reason {finish!r})"


def _thought_too_long(usage: Usage | None) -> str:
    took = f" ({usage.completion_tokens} tokens)" if usage else ""
    more = max(FOR_THINKING, 2 * usage.completion_tokens if usage else 0)
    return (
        f"the model thought until no token was left for its answer{took}; give it more, such as "
        f"max_tokens={more}, or let it think less, such as reasoning_effort=low"
    )


def may_be_paid(error: Exception) -> bool:
    """Whether a failed attempt reached a server, and did not return with an error
    status or was billed all the same.
    """
    import aiohttp
    import openai

    with suppress(
        AttributeError,
        RuntimeError,
    ):  # LiteLLM may have no response, or an unread one
        if (
            isinstance(error, openai.APIStatusError)
            and '"usage"' in error.response.text
        ):
            return True
    # httpx's errors in between do not distinguish a failed connection from a broken
    # one.
    unsent = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)
    return not is_caused_by(error, openai.APIStatusError, *unsent)


def describe(
    error: Exception,
    endpoint: Endpoint,
    default_limit: int | None = None,
) -> str:
    """Why a call failed, and what to do if known; `default_limit` is its token limit,
    unless the user gave it.
    """
    import aiohttp
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        if 300 <= error.status_code < 400:
            said = "a redirect, which is not followed, for the key would go along"
        else:
            said = _complaint(error.body)
        # LiteLLM asks other providers, with other keys.
        hint = (
            _HINTS.get(error.status_code) if endpoint.url.startswith("http") else None
        )
        if default_limit and re.search(
            rf"tokens\b.*\b{default_limit}\b",
            said,
            re.DOTALL,
        ):
            hint = (
                f"max_tokens={default_limit} is this package's default for the model, and "
                f"?max_tokens= changes it"
            )
        return f"HTTP {error.status_code}{f' ({hint})' if hint else ''}: {said}"
    if isinstance(error, UnavailableError):
        return describe_absence(error)
    if isinstance(error, (httpx2.TransportError, aiohttp.ClientError, TimeoutError)):
        return describe_connection(error, endpoint.url)
    if isinstance(error, ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def describe_absence(error: UnavailableError) -> str:
    """Why no calls are sent to an endpoint now."""
    if error.asked is None:
        return f"{error.reason}; given up for now (recsys_max_wait)"
    return (
        f"{error.reason}; the server asks to wait {error.asked:.0f} s, more than "
        f"recsys_max_wait allows"
    )


def describe_connection(error: Exception, url: str) -> str:
    """Why no answer came over the connection to `url`."""
    import aiohttp

    *_, inmost = chain(error)
    if is_caused_by(error, ssl.SSLCertVerificationError):
        return (
            f"{url} cannot be trusted: {inmost}; for a certificate of your own authority, name its "
            f"file in SSL_CERT_FILE"
        )
    if is_unreachable(error):
        return (
            f"{url} cannot be reached: {str(inmost) or 'it does not take a connection'}"
        )
    if is_caused_by(error, aiohttp.ClientResponseError):
        return f"{url} sent something other than HTTP: {getattr(inmost, 'message', inmost)}"
    if is_caused_by(error, SilentError):
        return f"{url} gave no first answer within recsys_max_wait; raise it, as timeout alone does not help"
    if is_caused_by(error, TimeoutError):
        return f"{url} did not answer in time; raise timeout or lower concurrency"
    return f"{url} broke off: {inmost}"


def _complaint(body: object) -> str:
    if isinstance(body, Mapping):
        for name in ("message", "detail", "error"):
            if body.get(name):
                return str(body[name])
    return str(body or "no reason given")


def _joined(parts: list[Any]) -> str:
    texts = [
        part.get("text") for part in map(mapping, parts) if part.get("type") == "text"
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _called(message: Mapping[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    calls = (
        calls
        if isinstance(calls, list)
        else [{"function": message.get("function_call")}]
    )
    given = [mapping(mapping(call).get("function")).get("arguments") for call in calls]
    texts = [
        json.dumps(each) if isinstance(each, dict) else _text(each) for each in given
    ]
    return [redact(text) for text in texts if text]


def _text(value: object) -> str | None:
    return redact(value) if isinstance(value, str) else None


def _whole(digits: str) -> int | float:
    """An integer in JSON; Python refuses 4,301 digits,
    and 20 digits are already too many.
    """
    return int(digits) if len(digits) < 20 else float(digits)


def _usage(value: Mapping[str, Any]) -> Usage | None:
    """The counts under any of the usual names; None if there are none. A part that is
    not counted is 0. Where one is odd, the larger of prompt and answer is kept alone.
    """
    odd = []

    def count(name: str, of: Mapping[str, Any] = value) -> int:
        number = of.get(name)
        whole = (
            int(number) if isinstance(number, float) and number.is_integer() else number
        )
        said = Usage.said(whole, 0)
        odd.extend([name] if said is None and number is not None else [])
        return said.prompt_tokens if said else 0

    cached = count("cached_tokens", mapping(value.get("prompt_tokens_details")))
    thought = count("reasoning_tokens", mapping(value.get("completion_tokens_details")))
    prompt = count("prompt_tokens") or count("input_tokens")
    written, total = (
        count("completion_tokens") or count("output_tokens"),
        count("total_tokens"),
    )
    # Some endpoints count reasoning tokens only in the total.
    written = max(written, total - prompt - cached * (cached > prompt))
    if not (prompt or written):
        return None
    if odd:
        return Usage(prompt) if prompt > written else Usage(0, written)
    return Usage.said(prompt, written, thought, cached)

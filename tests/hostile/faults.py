"""What servers do wrong, one function a fault, each with what they bill for it."""

import base64
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from tests.hostile.server import RESET, Ask, Fault, good, response

FAULTS: dict[str, Fault] = {}
BILLED: set[str] = set()
"""Faults of answers that a server has worked for, and bills."""


def _says(name: str, *pieces: bytes, billed: bool = False) -> None:
    def fault(ask: Ask) -> Iterator[Any]:
        yield from pieces

    FAULTS[name] = fault
    if billed:
        BILLED.add(name)


def _status(name: str, status: str, body: Any = "", **headers: str) -> None:
    fields = {key.replace("_", "-"): value for key, value in headers.items()}
    _says(f"status: {name}", response(body, status, fields))


def _answer(name: str, body: bytes | str | Mapping[str, Any] | list[Any]) -> None:
    _says(f"answer: {name}", response(body), billed=True)


def _changed(name: str, **changes: Any) -> None:
    """An answer whose body differs from a good one."""

    def fault(ask: Ask) -> Iterator[Any]:
        yield response(good(ask, **changes))

    FAULTS[name] = fault
    BILLED.add(name)


def _choice(name: str, message: Any, finish: Any = "stop") -> None:
    choice = {"index": 0, "finish_reason": finish, "message": message}
    _changed(f"message: {name}", choices=[choice])


def _content(name: str, content: Any, finish: Any = "stop") -> None:
    _choice(name, {"role": "assistant", "content": content}, finish)


_ERROR = {"error": {"message": "the model is overloaded", "code": 502}}

for code in (
    400,
    402,
    403,
    404,
    405,
    408,
    409,
    413,
    418,
    422,
    500,
    502,
    503,
    504,
    520,
    529,
):
    _status(str(code), f"{code} Some Words", {"error": {"message": f"status {code}"}})
_status("401", "401 Unauthorized", {"error": {"message": "Incorrect API key provided"}})
_status("429", "429 Too Many", {"error": {"message": "slow down"}})
_status("429, wait 0.1 s", "429 Too Many", _ERROR, retry_after_ms="100")
_status("429, wait 1e9 s", "429 Too Many", _ERROR, retry_after="1000000000")
_status("429, wait nan", "429 Too Many", _ERROR, retry_after="nan")
_status("429, wait -5 s", "429 Too Many", _ERROR, retry_after="-5")
_status(
    "429, wait until 1999",
    "429 Too Many",
    _ERROR,
    retry_after="Fri, 31 Dec 1999 23:59:59 GMT",
)
_status(
    "429, wait until 9999",
    "429 Too Many",
    _ERROR,
    retry_after="Fri, 31 Dec 9999 23:59:59 GMT",
)
_status(
    "429, quota",
    "429 Too Many",
    {"error": {"message": "quota", "code": "insufficient_quota"}},
)
_status("500, do not retry", "500 No", _ERROR, x_should_retry="false")
_status("502 in HTML", "502 Bad Gateway", "<html>" + "<p>sorry</p>" * 9999)
_status("500 with 3 MB", "500 No", "x" * 3_000_000)
_status("999", "999 Odd")
_status("204", "204 No Content")
_status("206", "206 Partial Content", "{")
_status("101", "101 Switching Protocols", "", Upgrade="websocket")
_status("301", "301 Moved", "", Location="http://127.0.0.1:9/v1/chat/completions")
_status(
    "307 to userinfo",
    "307 Moved",
    "",
    Location="http://me:secret-password@127.0.0.1:9/?key=abc",
)
_status("308 to itself", "308 Moved", "", Location="/v1/chat/completions")
_status("300 words of reason", "500 " + "word " * 300)

_says("connection: closed before an answer")
_says("connection: closed inside the head", b"HTTP/1.1 200 OK\r\nContent-")
_says("connection: closed inside the body", response(b"{}" * 500)[:200], billed=True)
_says(
    "connection: said 1e18 bytes",
    b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n{}",
)


def fault(name: str, *, billed: bool = False) -> Callable[[Fault], Fault]:
    """Make the decorated function the fault `name`."""

    def keep(function: Fault) -> Fault:
        FAULTS[name] = function
        if billed:
            BILLED.add(name)
        return function

    return keep


@fault("connection: reset before an answer")
def _(ask: Ask) -> Iterator[Any]:
    yield RESET


@fault("connection: reset inside the body", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    yield response(good(ask))[:150]
    yield RESET


@fault("silence: no answer", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    ask.wait()
    yield b""


@fault("silence: inside the head", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    yield b"HTTP/1.1 200 OK\r\nContent-"
    ask.wait()


@fault("silence: inside the body", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    yield response(good(ask))[:150]
    ask.wait()


@fault("silence: a byte at a time", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    for byte in response(good(ask)):
        yield bytes([byte])
        ask.wait(0.2)


@fault("silence: behind the answer, which has no length", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    yield b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(good(ask)).encode()
    ask.wait()


@fault("frame: a body without end")
def _(ask: Ask) -> Iterator[Any]:
    yield b"HTTP/1.1 200 OK\r\n\r\n"
    while not ask.stopped.is_set():
        yield b"x" * 65536


@fault("frame: a head without end")
def _(ask: Ask) -> Iterator[Any]:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in range(10**6):
        yield b"X-%d: x\r\n" % number


@fault("frame: 103 without end")
def _(ask: Ask) -> Iterator[Any]:
    while not ask.stopped.is_set():
        yield b"HTTP/1.1 103 Early Hints\r\n\r\n"
        ask.wait(0.05)


@fault("answer: an event stream without end", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    while not ask.stopped.is_set():
        yield b'data: {"choices": [{"delta": {"content": "1"}}]}\n\n'
        ask.wait(0.1)


for name, raw in {
    "no HTTP": b"\x00\x01garbage\r\n\r\n",
    "HTTP/0.9": b"hello\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/2 alone": b"\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x07"
    + b"\x00" * 12
    + b"\x01",
    "TLS": b"\x15\x03\x01\x00\x02\x02\x46",
    "no number for a status": b"HTTP/1.1 abc OK\r\n\r\n",
    "length abc": b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n{}",
    "length -5": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n{}",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n",
    "a chunk that never ends": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    "a header without a colon": b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n{}",
    "a header of 1 MB": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n{}",
    "a NUL in a header": b"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\n{}",
}.items():
    _says(f"frame: {name}", raw)
_says(
    "packed: gzip",
    response(gzip.compress(b"{}"), headers={"Content-Encoding": "gzip"}),
    billed=True,
)
_says(
    "packed: a bomb of 10 MB",
    response(zlib.compress(b"\0" * 10**7), headers={"Content-Encoding": "deflate"}),
    billed=True,
)

_answer("nothing", "")
_answer("no JSON", "I'd recommend Heat.")
_answer("JSON cut off", '{"choices": [{"message": {"content": "1. He')
_answer("nested 100,000 deep", "[" * 100_000)
_answer("no UTF-8", b"\xff\xfe\x00")
_answer("null", "null")
_answer("a list", "[]")
_answer("NaN", "NaN")
_answer("no choices", {"id": "1"})
_answer("choices null", {"choices": None})
_answer("choices empty", {"choices": []})
_answer("choices a text", {"choices": "none"})
_answer("an event stream", "data: {}\n\ndata: [DONE]\n\n")
_says("answer: an error under 200", response(_ERROR))
_says("answer: an error text under 200", response({"error": "overloaded"}))
_changed("answer: two choices", choices=[{"message": {"content": "1. Heat"}}] * 2)

_choice("null", None)
_choice("a refusal", {"role": "assistant", "content": None, "refusal": "I won't."})
_choice(
    "tool calls alone",
    {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    "tool_calls",
)
_choice(
    "reasoning alone",
    {"content": None, "reasoning_content": "hm " * 999},
    "length",
)
_content("empty", "")
_content("blank", " \n\t ")
_content("a list", ["Heat"])
_content("a number", 7)
_content("cut off by a filter", "1. Heat", "content_filter")
_content("filtered away", None, "content_filter")
_content("cut off at its length", "1. Heat\n2. To", "length")
_content("lone surrogates", "1. Heat \ud800\udfff")
_content("escapes and NUL", "1. \x1b]0;title\x07Heat\x00\x9b2J")
_content("100,000 lines", "1. x\n" * 100_000)
_content("3 MB", "x" * 3_000_000)
_content("an odd finish", "1. Heat", {"a": [1] * 99})

for name, usage in {
    "empty": {}, "null": None, "a list": [1, 2], "floats": {"prompt_tokens": 1.5, "completion_tokens": 2.5},
    "negative": {"prompt_tokens": -100, "completion_tokens": -50},
    "texts": {"prompt_tokens": "100", "completion_tokens": "50"},
    "truths": {"prompt_tokens": True, "completion_tokens": False},
    "half": {"prompt_tokens": 100},
    "4,000 digits": {"prompt_tokens": 10**4000, "completion_tokens": 50},
    "thinking above all": {
        "prompt_tokens": 2000, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 5000},
    },
    "a prompt of one token": {"prompt_tokens": 1, "completion_tokens": 1},
    "1e308": {"prompt_tokens": 1e308, "completion_tokens": 1e308},
}.items():  # fmt: skip
    _changed(f"usage: {name}", usage=usage)


@fault("usage: 5,000 digits", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    body = json.dumps(good(ask, usage="DIGITS"))
    yield response(body.replace('"DIGITS"', '{"prompt_tokens": ' + "9" * 5000 + "}"))


@fault("usage: with no text", billed=True)
def _(ask: Ask) -> Iterator[Any]:
    yield response(
        good(ask, choices=[{"finish_reason": "length", "message": {"content": None}}]),
    )


def _echoed(name: str, spell: Callable[[str], str], status: str = "200 OK") -> None:
    def echo(ask: Ask) -> Iterator[Any]:
        said = spell(ask.headers.get("authorization", ""))
        if status == "200 OK":
            message = {"role": "assistant", "content": f"1. {said}"}
            yield response(
                good(ask, choices=[{"finish_reason": "stop", "message": message}]),
            )
        else:
            yield response({"error": {"message": f"{'x' * 60} {said}"}}, status)

    FAULTS[f"echo: {name}"] = echo
    if status == "200 OK":
        BILLED.add(f"echo: {name}")


def _basic(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_echoed("in an answer", str)
_echoed("in an answer, base64", _basic)
_echoed("in an answer, backwards in halves", lambda said: f"{said[20:]} {said[:20]}")
_echoed("in an error", str, "400 Bad")
_echoed("in an error, base64", _basic, "400 Bad")
_echoed("in an error, as a URL", lambda said: quote(said, safe=""), "400 Bad")
_echoed("in an error, hex", lambda said: said.encode().hex(), "400 Bad")
_echoed("in an error, cut off", lambda said: said[:40], "400 Bad")

"""A server on this machine that answers in whatever bytes
a test wants, and counts what it bills.
"""

import json
import random
import socket
import struct
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

PROMPT, COMPLETION = 100, 50
"""Tokens that the server bills for an answer, whatever it says of them."""


@dataclass(frozen=True)
class Ask:
    """A request as it came.

    Attributes:
        number: Of the request, from 0.
        payload: Its body.
        headers: In lower case.
        stopped: Set when the server ends, so that nothing hangs longer.
    """

    number: int
    payload: Mapping[str, Any]
    headers: Mapping[str, str]
    stopped: threading.Event

    def wait(self, seconds: float = 600.0) -> None:
        """Let the client wait."""
        self.stopped.wait(seconds)


RESET = object()
"""Ends a connection with a reset in place of a farewell."""

Fault = Callable[[Ask], Iterator[Any]]
"""What is sent, piece by piece: bytes, or `RESET`. Then the connection is closed."""


def response(
    body: bytes | str | Mapping[str, Any] | list[Any],
    status: str = "200 OK",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A whole response in HTTP/1.1."""
    raw = (
        body
        if isinstance(body, bytes)
        else body.encode()
        if isinstance(body, str)
        else b""
    )
    if not isinstance(body, bytes | str):
        raw = json.dumps(body).encode()
    fields = {
        "Content-Type": "application/json",
        "Content-Length": str(len(raw)),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode("utf-8", "surrogateescape") + raw


def good(ask: Ask, **changes: Any) -> dict[str, Any]:
    """The body of a sound answer: the candidates that the prompt shows, in their order."""
    prompt = "\n".join(
        message["content"]
        for message in ask.payload["messages"]
        if isinstance(message["content"], str)
    )
    shown = [
        line.partition(". ")[2] for line in prompt.splitlines() if line[:1].isdigit()
    ]
    text = (
        "\n".join(f"{place}. {title}" for place, title in enumerate(shown[:10], 1))
        or "1. Heat"
    )
    message = {"role": "assistant", "content": text}
    return {
        "id": "1", "object": "chat.completion", "created": 0, "model": "tiny-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": PROMPT, "completion_tokens": COMPLETION},
        **changes,
    }  # fmt: skip


@dataclass
class HostileServer:
    """Answers a share of its requests with a fault, the others well.

    Attributes:
        faults: What it does to them, one at random.
        share: Of the requests, in [0, 1].
        bills: Names of the faults that are billed as an answer is.
        most: Requests that meet a fault, at the most.
        asked: Requests that came whole.
        faulty: Those of them that met a fault.
        billed: Answers that were billed.
        flying: The most requests in its hands at a time.
    """

    faults: Mapping[str, Fault]
    share: float = 1.0
    bills: Collection[str] = ()
    most: int = 2**31
    asked: int = 0
    faulty: int = 0
    billed: int = 0
    flying: int = 0
    _open: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._draw = random.Random(0)
        self._lock = threading.Lock()
        self._now = 0
        self.stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self._socket.close()
        for each in self._open:
            each.close()

    def _listen(self) -> None:
        while not self.stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(
                target=self._serve,
                args=(connection,),
                daemon=True,
            ).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as stream:
                while self._answer(connection, stream):
                    pass
        except OSError:
            return  # a client that gave up

    def _answer(self, connection: socket.socket, stream: Any) -> bool:
        if not stream.readline():
            return False
        headers: dict[str, str] = {}
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", 0)))
        with self._lock:
            ask = Ask(self.asked, json.loads(body or b"{}"), headers, self.stopped)
            self.asked += 1
            faulty = self._draw.random() < self.share and self.faulty < self.most
            fault = self._draw.choice(list(self.faults))
            self.faulty += faulty
            self.billed += not faulty or fault in self.bills
            self._now += 1
            self.flying = max(self.flying, self._now)
        try:
            if not faulty:
                connection.sendall(response(good(ask)))
                return True
            for piece in self.faults[fault](ask):
                if piece is RESET:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return False
                connection.sendall(piece)
            return False
        finally:
            with self._lock:
                self._now -= 1

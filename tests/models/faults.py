"""A server on this machine that answers as a test
says, and remembers what it was asked.
"""

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What the server answers: JSON data, or bytes as they are.

    `missing` is how many bytes of the body are promised and never sent; None drops the
    connection without a word.
    """

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    missing: int | None = 0


def completion(content: Any = "1. Heat", **choice: Any) -> dict[str, Any]:
    """The body of a good answer, or of one that differs
    in the given fields of its choice.
    """
    message = {"role": "assistant", "content": content}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny-1",
        "system_fingerprint": "fp",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": message, **choice},
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that give up are what some tests are about."""


class FaultServer:
    """Answers every POST with `answer(payload)`, over TLS where a context is given.

    Attributes:
        get: Answers every GET.
        get_at: Likewise, and gets its path, with the query; it calls `get` unless a test
            replaces it.
        at: Gets the path of every POST.
        key: Whoever posts without it is refused; None lets everybody in.
        port: Where it listens; a server that follows another one may take its place.
    """

    def __init__(self, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.answer: Callable[[dict[str, Any]], Reply] = lambda payload: Reply(
            completion(),
        )
        self.get: Callable[[], Reply] = lambda: Reply({}, 404)
        self.get_at: Callable[[str], Reply] = lambda path: self.get()
        self.key: str | None = None
        self.asked: list[dict[str, Any]] = []
        self.at: Callable[[str], object] = lambda path: None
        self.headers: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Else a body waits 40 ms for the answer to its head.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                payload = json.loads(self.rfile.read(length))
                outer.asked.append(payload)
                outer.at(self.path)
                given = self.headers.get("authorization", "")
                if outer.key is not None and given != f"Bearer {outer.key}":
                    said = f"Incorrect API key provided: {given}"
                    self.reply(Reply({"error": {"message": said}}, 401))
                    return
                self.reply(outer.answer(payload))

            def do_PUT(self) -> None:
                self.do_POST()

            def do_GET(self) -> None:
                self.reply(outer.get_at(self.path))

            def reply(self, reply: Reply) -> None:
                outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                body = (
                    reply.body
                    if isinstance(reply.body, bytes)
                    else json.dumps(reply.body).encode()
                )
                if reply.missing is None:
                    self.close_connection = True
                    return
                headers = {"content-type": "application/json", **reply.headers}
                headers["content-length"] = str(len(body) + reply.missing)
                self.send_response(reply.status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = self.close_connection or reply.missing > 0

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = _Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_port
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

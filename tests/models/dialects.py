"""Servers of the APIs of Anthropic, Gemini and Bedrock, on this machine."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

KEYS = {
    "ANTHROPIC_API_KEY": "sk-ant-0123456789abcdefgh",
    "GEMINI_API_KEY": "AIza0123456789abcdefgh",
    "AWS_ACCESS_KEY_ID": "AKIA0123456789",
    "AWS_BEARER_TOKEN_OF_ANOTHER": "ABSK-0123456789",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI0123456789",
}


def anthropic(said: str) -> dict[str, Any]:
    usage = {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 50}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": said}], "stop_reason": "end_turn", "usage": usage,
    }  # fmt: skip


def gemini(said: str) -> dict[str, Any]:
    candidate = {
        "content": {"parts": [{"text": said}], "role": "model"},
        "finishReason": "STOP",
    }
    usage = {
        "promptTokenCount": 100,
        "candidatesTokenCount": 40,
        "thoughtsTokenCount": 10,
        "totalTokenCount": 150,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-2.5-flash",
    }


def bedrock(said: str) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": said}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 100, "outputTokens": 50, "totalTokens": 150},
        "metrics": {"latencyMs": 1},
    }


DIALECTS = {"messages": anthropic, "generateContent": gemini, "converse": bedrock}


class Provider(BaseHTTPRequestHandler):
    """Ranks the films of a prompt always alike, refuses the second request for a
    moment, and counts the others.
    """

    protocol_version = "HTTP/1.1"
    answered: ClassVar[int]
    asked: ClassVar[int]
    biased: ClassVar[bool]
    lock: ClassVar[threading.Lock]

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        with self.lock:
            type(self).asked += 1
            refused = self.asked == 2
            type(self).answered += not refused
        films = [
            film.encode().decode("unicode_escape")
            for film in re.findall(r"\d+\. ([^\\]+? \(\d{4}\))", text)
        ]
        if not self.biased and "haiku" not in text:
            films.sort(key=lambda film: hashlib.sha256(film.encode()).hexdigest())
        ranked = [*dict.fromkeys(films)][:10]
        said = "\n".join(f"{at}. {film}" for at, film in enumerate(ranked, 1))
        make = next(
            make
            for name, make in DIALECTS.items()
            if self.path.rstrip("/").endswith(name)
        )
        error = {
            "error": {
                "type": "rate_limit_error",
                "message": f"slow down, {self.headers}",
            },
        }
        body = json.dumps(error if refused else make(said)).encode()
        self.send_response(429 if refused else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256


@contextmanager
def provider() -> Iterator[tuple[type[Provider], str]]:
    """A server of its own, and its address."""
    handler = type(
        "Handler",
        (Provider,),
        {"asked": 0, "answered": 0, "biased": False, "lock": threading.Lock()},
    )
    with Server(("127.0.0.1", 0), handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield handler, f"http://127.0.0.1:{made.server_port}"
        made.shutdown()

"""A response that no request asked for is no answer, and
no lookup of a name outlives its call.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from pytest_recsys_mt import Message, Prompt
from tests.hostile.server import response
from tests.support.llm_api import OpenAIModel

DELAY = 0.05
"""Seconds between an answer and the second one that nobody asked for."""


def body(text: str) -> dict[str, object]:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "tiny",
        "choices": choices,
    }


@contextmanager
def twice_answering() -> Iterator[str]:
    """A server that repeats each question, and sends each
    answer once more a little later.
    """
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as stream, suppress(OSError):
            while stream.readline():
                size = 0
                while line := stream.readline().strip():
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        size = int(value)
                asked = json.loads(stream.read(size))["messages"][-1]["content"]
                connection.sendall(response(body(asked)))
                time.sleep(DELAY)
                connection.sendall(response(body(asked)))

    def listen() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    listening.close()


def test_a_second_response_is_not_the_next_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with twice_answering() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        model = OpenAIModel("tiny", concurrency=1)
        for number in range(5):
            question = f"question {number}"
            (answer,) = model.complete([Prompt((Message("user", question),), 0)])
            assert answer.text == question
            time.sleep(2 * DELAY)
        assert sum("nobody asked for" in note for note in model.notes) == 1
        model.close()


SLOW_NAMES = """
import os, socket, sys, time
lookup = socket.getaddrinfo
def slow(host, *rest, **how):
    if host == "slow.example":
        time.sleep(60)
    return lookup(host, *rest, **how)
socket.getaddrinfo = slow
os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "https://slow.example/v1"}
from pytest_recsys_mt import Message, Prompt
from pytest_recsys_mt.llm.api import openai_model
openai_model.MAX_WAIT = 0.0
model = openai_model.OpenAIModel("tiny", timeout=1)
print(model.complete([Prompt((Message("user", "Name a film."),), 0)])[0].error)
"""


def test_a_slow_name_server_does_not_hold_the_process() -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", SLOW_NAMES],
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    assert "slow.example" in done.stdout
    assert time.monotonic() - started < 15

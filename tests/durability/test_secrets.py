"""The key is nowhere but in the header of a request to the named endpoint."""

import base64
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from pytest_recsys_mt.commands import main
from tests.durability.project import Counting, Project, listed
from tests.models.faults import Reply, completion

KEY = "sk-sentinel/0123+456=789%abcdefgh"
TEST = """
import logging
from pytest_recsys_mt.requests import Message, Prompt

def test_failing_calls(recsys, recommender):
    answers = recsys.run().sample()
    logging.getLogger().debug("%r %r", recommender, vars(recommender))
    assert not answers.errors, answers

def test_a_fault_below_the_model(recommender):
    completions = recommender.complete([Prompt((Message("user", "x"),)), object()])
    assert completions == []

def test_a_model_that_cannot_close(recommender):
    recommender.complete([Prompt((Message("user", "x"),))])
    client = recommender._client
    loop = recommender._loop
    raise RuntimeError("with the client among the local variables")
"""


def forms(key: str) -> dict[str, bytes]:
    """The key as it may be written: also within longer text that is in base64 as a whole."""
    found = {"raw": key.encode(), "URL-encoded": quote(key, safe="").encode()}
    found["lightly encoded"] = quote(key).encode()
    found["JSON"] = json.dumps(key)[1:-1].encode()
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + key.encode())
        # The first and the last characters also depend on what stands around the key.
        found[f"base64, shifted by {shift}"] = text[4 if shift else 0 : -4]
        safe = base64.urlsafe_b64encode(b"\0" * shift + key.encode())
        found[f"base64 for URLs, shifted by {shift}"] = safe[4 if shift else 0 : -4]
    return found


def leaks(texts: dict[str, bytes], key: str = KEY) -> list[str]:
    return [
        f"{name}: {form}"
        for name, text in texts.items()
        for form, wanted in forms(key).items()
        if wanted in text
    ]


@pytest.fixture
def telling(counting: Counting) -> Iterator[Counting]:
    """A server that says the key wherever it can, and hangs at times."""
    released = threading.Event()

    def answer(payload: dict[str, Any]) -> Reply:
        kind = int(payload.get("seed", 0)) % 12
        if kind in (0, 1):
            return Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401)
        if kind in (2, 3):
            elsewhere = f"http://127.0.0.1:1/v1?key={quote(KEY, safe='')}"
            return Reply({"moved": KEY}, 307, {"location": elsewhere, "x-key": KEY})
        if kind == 4:
            return Reply(f"no JSON {KEY}".encode())
        if kind == 5:
            released.wait(60)
        return Reply(
            {**completion(f"{listed(payload)}\n11. {KEY}"), "system_fingerprint": KEY, "model": KEY}
        )

    counting.server.answer = answer
    yield counting
    released.set()


def test_what_is_searched_for_is_found() -> None:
    for wrapped in (KEY, f"Bearer {KEY}", f"x{KEY}y", f"authorization: Bearer {KEY}\r\n"):
        encoded = base64.b64encode(wrapped.encode())
        assert leaks({"it": encoded}), wrapped
    assert leaks({"it": KEY.encode()})
    assert leaks({"it": quote(KEY, safe="").encode()})


def test_the_key_is_in_no_artefact(project: Project, telling: Counting, tmp_path: Path) -> None:
    project.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_LOG": "debug"}
    (project.folder / "test_faults.py").write_text(TEST)
    code, output = project.run(
        "--showlocals", "--tb=long", "-vv", "-rA", "--junitxml=junit.xml", "--log-level=DEBUG",
        "--log-file=log.txt", "--log-file-level=DEBUG", "-o", "junit_logging=all",
        "--recsys-users=12", "-o", "junit_family=xunit1", "-o", "log_cli=true",
        model="openai:tiny?timeout=0.5",
    )  # fmt: skip
    assert code == 1, output
    sent = {header.get("authorization") for header in telling.server.headers}
    assert sent == {f"Bearer {KEY}"}, "the key was in use"
    shown = ("HTTP 401", "a redirect, which is not followed", "[OPENAI_API_KEY]", "Secret('...')")
    for seen in shown:
        assert seen in output
    main(["cache", "export", str(project.folder / "x.jsonl"), "--cache", str(project.cache)])
    _, planned = project.run(
        "--recsys-plan", "--recsys-batch=b.jsonl", "--recsys-mode=refresh", "test_it.py"
    )
    files = {
        str(path.relative_to(project.folder)): path.read_bytes()
        for path in project.folder.rglob("*")
        if path.is_file()
    }
    assert {"junit.xml", "log.txt", "record.json", "x.jsonl", "b.jsonl", "b.calls.jsonl"} <= set(
        files
    )
    assert "cache/answers/cache.db" in files
    texts = {**files, "the terminal": output.encode(), "the plan": planned.encode()}
    assert leaks(texts) == []
    assert leaks({name: name.encode() for name in files}) == [], "nor in a file's name"

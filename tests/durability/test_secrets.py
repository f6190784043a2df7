"""The key is nowhere but in the header of a request to the named endpoint."""

import base64
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import chain, count, repeat
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.durability.project import Counting, Project, listed
from tests.models.faults import Reply, completion
from tests.support.cli import main

KEY = "sk-sentinel/0123+456=789%abcdefgh"
TEST = """
import logging
from pytest_recsys_mt.requests import Message, Prompt

def test_failing_calls(recsys, recommender):
    answers = recsys.run().sample()
    known = vars(recommender), vars(recommender._channel)
    logging.getLogger().debug("%r %r", recommender, known)
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


PART = 10


def forms(key: str) -> dict[str, bytes]:
    """The key as it may be written: also within longer
    text that is in base64 as a whole.
    """
    raw = key.encode()
    found = {"raw": raw, "hex": raw.hex().encode(), "HEX": raw.hex().upper().encode()}
    for safe in ("", "/"):
        encoded = quote(key, safe=safe)
        found[f"URL-encoded but {safe!r}"] = encoded.encode()
        found[f"url-encoded but {safe!r}"] = re.sub(
            "%..",
            lambda m: m[0].lower(),
            encoded,
        ).encode()
    found["every character URL-encoded"] = "".join(
        f"%{byte:02X}" for byte in raw
    ).encode()
    found["JSON"] = json.dumps(key)[1:-1].encode()
    found["JSON with slashes"] = json.dumps(key)[1:-1].replace("/", r"\/").encode()
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw)
        # The first and the last characters also depend on what stands around the key.
        found[f"base64, shifted by {shift}"] = text[4 if shift else 0 : -4]
        text = base64.urlsafe_b64encode(b"\0" * shift + raw)
        found[f"base64 for URLs, shifted by {shift}"] = text[4 if shift else 0 : -4]
    return found


def leaks(texts: dict[str, bytes], *keys: str) -> list[str]:
    """Where any part of a key, in any form, stands in any of the texts."""
    parts = {
        form[at : at + PART]: name
        for key in keys or (KEY,)
        for name, form in forms(key).items()
        for at in range(len(form) - PART + 1)
    }
    return [
        f"{name}: {parts[part]}"
        for name, text in texts.items()
        for part in parts
        if part in text
    ]


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def echoes(key: str) -> Iterator[str]:
    """The key as a server may repeat it: in every form, and
    whole, cut, or across any of our cuts.
    """
    while True:
        for form in forms(f"Bearer {key}").values():
            yield form.decode()
        yield base64.b64encode(key.encode()).decode()
        for most in (12, 20, len(key) - 2):
            yield f"{key[:most]}..."
            yield f"...{key[-most:]}"
        for cut in (80, 160, 200, 300):
            for before in range(cut - len(key), cut, 9):
                yield "x" * before + key


def replies(key: str, echo: str, good: dict[str, Any]) -> Iterator[Reply]:
    """What a server may say with an echo of the key in it."""
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in key)
    yield Reply({"error": {"message": f"Incorrect API key provided: {echo}"}}, 401)
    yield Reply({"error": {echo: echo, "code": echo}}, 400)
    yield Reply(f"<h1>{echo}</h1>".encode(), 403)
    yield Reply(f'{{"detail": "no model {escaped}"}}'.encode(), 404)
    yield Reply(
        b"",
        307,
        {"location": f"http://u:{key}@127.0.0.1:1/v1?key={key}", "x-key": key},
    )
    yield Reply(f"no JSON {echo}".encode())
    yield Reply({"error": echo, echo: [echo]})
    yield Reply(json.dumps(good).replace("PLACE", escaped).encode())
    yield Reply(
        {**good, "usage": {echo: echo}, "system_fingerprint": echo, "model": echo},
    )
    yield Reply({**completion(None, finish_reason=echo), "usage": echo})
    yield Reply(completion(message={"content": None, "refusal": echo}))


@pytest.fixture
def telling(counting: Counting) -> Iterator[Counting]:
    """A server that says the key wherever it can, and hangs at times."""
    released = threading.Event()
    number, echo = count(), echoes(KEY)
    lock = threading.Lock()

    def answer(payload: dict[str, Any]) -> Reply:
        with lock:
            kind, said = next(number), next(echo)
        good = completion(f"{listed(payload)}\n11. {said} PLACE")
        kinds = [*replies(KEY, said, good), Reply(None)]
        reply = kinds[kind % len(kinds)]
        if reply.body is None:
            released.wait(60)
        return reply

    counting.server.answer = answer
    yield counting
    released.set()


def test_what_is_searched_for_is_found() -> None:
    for wrapped in (
        KEY,
        f"Bearer {KEY}",
        f"x{KEY}y",
        f"authorization: Bearer {KEY}\r\n",
    ):
        encoded = base64.b64encode(wrapped.encode())
        assert leaks({"it": encoded}), wrapped
    for form in (KEY, quote(KEY, safe=""), KEY[5:15], KEY.encode().hex()[8:18]):
        assert leaks({"it": f"x{form}y".encode()})
    assert not leaks({"it": KEY[5:14].encode()})


def test_the_key_is_in_no_artefact(
    project: Project,
    telling: Counting,
    pytester: pytest.Pytester,
) -> None:
    project.environment |= {"OPENAI_API_KEY": KEY, "OPENAI_LOG": "debug"}
    (project.folder / "test_faults.py").write_text(TEST)
    code, output = project.run(
        "--showlocals", "--tb=long", "-vv", "-rA", "--junitxml=junit.xml", "--log-level=DEBUG",
        "--log-file=log.txt", "--log-file-level=DEBUG", "-o", "junit_logging=all",
        "--recsys-users=12", "-o", "junit_family=xunit1", "-o", "log_cli=true", "--recsys-html=r.html",
        model="openai:tiny?timeout=0.5",
    )  # fmt: skip
    assert code == 1, output
    sent = {header.get("authorization") for header in telling.server.headers}
    assert sent == {f"Bearer {KEY}"}, "the key was in use"
    unbroken = " ".join(output.split())
    # Which reply ends which call depends on their order of arrival.
    refused = ("HTTP 400", "HTTP 401", "HTTP 403", "a redirect, which is not followed")
    assert any(each in unbroken for each in refused)
    for seen in ("[OPENAI_API_KEY]", "Secret('...')"):
        assert seen in unbroken
    main(
        [
            "cache",
            "export",
            str(project.folder / "x.jsonl"),
            "--cache",
            str(project.cache),
        ],
    )
    _, planned = project.run_here(
        pytester,
        "--recsys-plan",
        "-orecsys_batch=b.jsonl",
        "--recsys-mode=refresh",
        "test_it.py",
    )
    files = files_of(project.folder)
    assert {
        "junit.xml",
        "r.html",
        "log.txt",
        "record.json",
        "x.jsonl",
        "b.jsonl",
        "b.calls.jsonl",
    } <= set(files)
    assert "cache/answers/cache.db" in files
    texts = {**files, "the terminal": output.encode(), "the plan": planned.encode()}
    assert leaks(texts) == []
    assert leaks({name: name.encode() for name in files}) == [], "nor in a file's name"


OWN = """
import os

class Raises:
    def recommend(self, requests):
        key = "RECSYS_HTTP_AUTHORIZATION"
        raise ConnectionError("x" * (len(requests) + 250) + f"{os.environ[key]} is refused")

class Writes:
    fingerprint = "1"

    def complete(self, prompts):
        from pytest_recsys_mt import Completion
        return [Completion("1. " + "\\u200b".join(os.environ["OPENAI_API_KEY"])) for _ in prompts]
"""
MINE = """
import logging
import os

def test_mine(recsys):
    key = os.environ["OPENAI_API_KEY"]
    print("on standard output", key)
    logging.getLogger().warning("in the log %s", key)
    raise RuntimeError(f"in my own exception {key}")
"""


def test_nor_are_those_of_recommenders(project: Project, counting: Counting) -> None:
    user, password = "shop", "correct horse/battery+staple"
    basic = base64.b64encode(f"{user}:{password}".encode()).decode()
    said = echoes(basic)

    def answer(payload: dict[str, Any]) -> Reply:
        echo = next(said)
        kinds = list(replies(password, echo, {"answers": [{"items": [echo, "PLACE"]}]}))
        kinds += [
            Reply(
                {
                    "version": echo,
                    "answers": [{"error": echo}, {"not_applicable": echo}],
                },
            ),
        ]
        return kinds[len(counting.server.asked) % len(kinds)]

    counting.server.answer = answer
    told = Reply({"version": f"1 {user}:{password}", "max_batch": 1})
    away = Reply(
        b"",
        307,
        {"location": f"http://{user}:{password}@127.0.0.1:1/?{basic}"},
    )
    abouts = chain([told], repeat(away))
    counting.server.get = lambda: next(abouts)
    origin = counting.server.url.removesuffix("/v1")
    (project.folder / "own.py").write_text(OWN)
    (project.folder / "test_mine.py").write_text(MINE)
    project.environment |= {
        "OPENAI_API_KEY": KEY,
        "RECSYS_HTTP_AUTHORIZATION": f"Basic {basic}",
        "RECSYS_HTTP_ORIGIN": origin,
    }
    specs = (
        f"{origin}/api?max_wait=0",
        f"{origin}/v2?max_wait=0",
        "own.py:Raises",
        "own.py:Writes",
    )
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-vv", "--showlocals", "-rA",
            "--junitxml=junit.xml", "--recsys-html=r.html", f"--recsys-json={project.record}",
            f"--recsys-cache={project.cache}", "--recsys-users=12", "--tb=long",
            "-o", "junit_logging=all", *(f"--recsys-model={spec}" for spec in specs),
        ],
        cwd=project.folder, env=project.environment, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout.decode()
    sent = {header.get("authorization") for header in counting.server.headers}
    assert sent == {f"Basic {basic}"}, "the key was in use"
    for seen in (
        b"[RECSYS_HTTP_AUTHORIZATION]",
        b"in my own exception [OPENAI",
        b"a redirect to http",
    ):
        assert seen in done.stdout
    texts = {**files_of(project.folder), "stdout": done.stdout, "stderr": done.stderr}
    assert leaks(texts, basic, password, KEY) == []


ADDRESSES = tuple(
    address.format("hunter2/0123456789")
    for address in (
        "https://user:{}@shop.example/v1", "https://user:x/{}@shop.example/v1", "user:{}@shop.example",
        "http:/user:{}@shop.example", "https://shop.example/v1?api_key={}", "https://shop.example#x@{}",
        "https://shop.example:x?token={}", "HTTPS://u:{}@shop.example/v1", "https://user:{}", "http://user:{}:PORTx/v1",
        "https://user:{}@shop.example:99999/", "https://[::1]:{}/v1", "http://[{}]/v1", "http://user%3A{}%40shop.example/v1",
        "http:////{}", "ftp://user/{}", "https://shop.example/v1#{}", "http://shop.example:80:{}",
    )
)  # fmt: skip
MEETS_ADDRESSES = f"""
import base64
import pytest
from pytest_recsys_mt.recommenders import resolve

ADDRESSES = {[base64.b64encode(each.encode()) for each in ADDRESSES]}

@pytest.mark.parametrize("number", range(len(ADDRESSES)))
@pytest.mark.parametrize("place", ["OPENAI_BASE_URL", "RECSYS_HTTP_ORIGIN"])
def test_it(place, number, monkeypatch):
    monkeypatch.setenv(place, base64.b64decode(ADDRESSES[number]).decode())
    if place == "OPENAI_BASE_URL":
        resolve("openai:tiny").identity
    else:
        resolve("https://shop.example/v1?version=1").recommend([None])
"""


def told_of_no_address(output: str) -> bool:
    return not any(part in output for part in ("hunter2", "0123456789"))


def test_an_address_with_a_password_in_the_environment_is_not_repeated(
    project: Project,
    pytester: pytest.Pytester,
) -> None:
    (project.folder / "test_it.py").write_text(MEETS_ADDRESSES)
    project.environment |= {
        "OPENAI_API_KEY": KEY,
        "RECSYS_HTTP_AUTHORIZATION": f"Bearer {KEY}",
    }
    code, output = project.run_here(pytester, "--showlocals", "-vv", "--tb=long", "-rA")
    assert (code, output.count("RecommenderError: ") >= len(ADDRESSES) * 2) == (
        1,
        True,
    ), output
    assert told_of_no_address(output)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("place", ["option", "ini file"])
def test_nor_is_one_in_a_spec(
    pytester: pytest.Pytester,
    address: str,
    place: str,
) -> None:
    if place == "ini file" and address[:4].lower() != "http":
        pytest.skip("it is no address, and what it is nobody knows before the test")
    pytester.makeini(
        f"[pytest]\nrecsys_model = {address}" if place == "ini file" else "[pytest]",
    )
    pytester.makepyfile(TEST)
    given = [] if place == "ini file" else [f"--recsys-model={address}"]
    done = pytester.runpytest_inprocess(*given, "--showlocals", "-vv", "--tb=long")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert told_of_no_address(done.stdout.str() + done.stderr.str())

import asyncio
import gc
import gzip
import itertools
import json
import logging
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_recsys_mt.requests import Completion, Message, Prompt, Usage
from tests.hostile.faults import FAULTS
from tests.hostile.server import HostileServer
from tests.models.faults import FaultServer, Reply, completion
from tests.support.llm import as_json
from tests.support.llm_api import (
    OpenAIModel,
    dialect,
    openai_model,
    pacing,
    retries,
    transport,
)

KEY = "sk-sentinel-0123456789"


@pytest.fixture(autouse=True)
def _key_and_no_second_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(openai_model, "MAX_WAIT", 0.0)


def prompt(text: str = "Name a film.", seed: int = 0) -> Prompt:
    return Prompt((Message("user", text),), seed)


def ask(**arguments: Any) -> Completion:
    model = OpenAIModel("tiny", **arguments)
    try:
        return model.complete([prompt()])[0]
    finally:
        model.close()


def test_an_answer_keeps_all_that_the_server_says_of_it(faulty: FaultServer) -> None:
    assert ask() == Completion("1. Heat", Usage(7, 3), "stop", "tiny-1", "fp")
    assert faulty.headers[0]["authorization"] == f"Bearer {KEY}"


def test_calls_that_wait_beside_each_other_take_their_own_time(
    faulty: FaultServer,
) -> None:
    def slow(payload: dict[str, Any]) -> Reply:
        time.sleep(0.2)
        return Reply(completion())

    faulty.answer = slow
    model = OpenAIModel("tiny", concurrency=4)
    model.complete([prompt()])  # the client is imported by then
    began = time.perf_counter()
    took = [each.seconds for each in model.complete([prompt()] * 8)]
    assert all(each is not None and each >= 0.2 for each in took)
    assert sum(filter(None, took)) > time.perf_counter() - began


def test_an_answer_says_how_many_attempts_failed_before_it(faulty: FaultServer) -> None:
    at_once = {"retry-after-ms": "1"}
    replies = iter(
        [
            Reply({}, 429, at_once),
            Reply({}, 500),
            Reply({}, 503, at_once),
            Reply(completion()),
            Reply(completion()),
        ]
    )
    faulty.answer = lambda payload: next(replies)
    model = OpenAIModel("tiny", max_wait=20.0)
    first, second = [model.complete([prompt()])[0] for _ in range(2)]
    assert (first.text, first.failed_before, first.refused_before) == ("1. Heat", 3, 2)
    assert (second.failed_before, second.refused_before) == (0, 0)


def test_what_is_sent_is_what_the_spec_says(faulty: FaultServer) -> None:
    with_all = OpenAIModel("tiny", temperature=0.5, max_tokens=9, top_p=0.5)
    with_all.complete([prompt(seed=2**31 + 5)])
    OpenAIModel("tiny", max_tokens=9).complete([prompt()])
    common = {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Name a film."}],
    }
    assert faulty.asked == [
        {**common, "max_tokens": 9, "temperature": 0.5, "top_p": 0.5, "seed": 5},
        {**common, "max_tokens": 9, "seed": 0},
    ]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply({"error": {"message": "overloaded"}}, 500), "HTTP 500: overloaded"),
        (
            Reply({"error": {"message": "no such model"}}, 404),
            "HTTP 404 (check the model's name",
        ),
        (
            Reply({"detail": "who are you"}, 401),
            "HTTP 401 (check OPENAI_API_KEY): who are you",
        ),
        (
            Reply(b"<html>" + b"x" * 9000, 502, {"content-type": "text/html"}),
            "HTTP 502: <html>xxx",
        ),
        (Reply(b"", 503), "HTTP 503: no reason given"),
        (Reply(b'{"choices": ['), "the answer is not JSON"),
        (Reply(b"[" * 100_000), "nested too deeply"),
        (Reply(b"\xff\xfe"), "the answer is not UTF-8"),
        (Reply(b"null"), "the answer has no choices"),
        (Reply({"error": {"message": "quota"}}), "has no choices, but an error: quota"),
        (Reply({**completion(), "choices": []}), "the answer has no choices"),
        (Reply({**completion(), "choices": "none"}), "the answer has no choices"),
        (
            Reply({**completion(), "choices": completion()["choices"] * 2}),
            "has 2 choices",
        ),
        (
            Reply(completion("x" * 10_000_000)),
            "the answer has more than 2,000,000 bytes",
        ),
        (
            Reply({"error": "x" * 10_000_000}, 400),
            "the answer has more than 2,000,000 bytes",
        ),
        (
            Reply(gzip.compress(b"[]"), 200, {"content-encoding": "gzip"}),
            "packed as 'gzip'",
        ),
        (Reply(completion(), missing=9), "broke off"),
        (Reply(completion(), missing=None), "broke off"),
        (
            Reply(json.dumps(completion("ä"), ensure_ascii=False).encode("latin-1")),
            "not UTF-8",
        ),
        (Reply(completion(["Heat"])), "the model wrote nothing"),
        (
            Reply(completion(None, finish_reason="length")),
            "'length'); raise max_tokens",
        ),
        (
            Reply(completion(None, finish_reason="MAX_TOKENS")),
            "'MAX_TOKENS'); raise max_tokens",
        ),
        (Reply({"error": {"message": "a\x1b[31m\nb"}}, 500), "HTTP 500: a b"),
    ],
)
def test_a_failed_call_is_an_answer_with_a_reason(
    faulty: FaultServer,
    reply: Reply,
    says: str,
) -> None:
    faulty.answer = lambda payload: reply
    answer = ask()
    assert answer.text is None
    assert answer.error is not None
    assert says in answer.error
    assert len(answer.error) <= 300


@pytest.mark.parametrize(
    ("reply", "text", "says"),
    [
        (Reply(completion(message=None)), "", "the model wrote nothing (finish_reason 'stop')"),
        (Reply(completion(" \n")), "", "the model wrote nothing (finish_reason 'stop')"),
        (Reply(completion(None, finish_reason="content_filter")), "", "'content_filter')"),
        (Reply(completion(None, finish_reason="SAFETY")), "", "'SAFETY')"),
        (Reply(completion(None, finish_reason="end_turn")), "", "'end_turn')"),
        (Reply(completion(message={"content": None, "refusal": "I won't"})), "", "refused: I won't"),
    ],
)  # fmt: skip
def test_who_answers_nothing_has_said_so(
    faulty: FaultServer,
    reply: Reply,
    text: str,
    says: str,
) -> None:
    faulty.answer = lambda payload: reply
    answer = ask()
    assert answer.text == text
    assert says in str(answer.error)


@pytest.mark.parametrize("thought", ["thinking", "reasoning"])
def test_an_answer_in_parts_is_its_text(faulty: FaultServer, thought: str) -> None:
    thinking = {
        "type": thought,
        "thinking": [{"type": "text", "text": "Cats?"}],
        "text": "Cats?",
    }
    parts = [
        thinking,
        {"type": "text", "text": "1. Heat"},
        {"type": "text", "text": "\n2. Alien"},
    ]
    faulty.answer = lambda payload: Reply(completion(parts))
    assert ask().text == "1. Heat\n2. Alien"
    faulty.answer = lambda payload: Reply(
        completion([thinking], finish_reason="length"),
    )
    assert "the model thought until no token was left" in str(ask().error)


@pytest.mark.parametrize("limit", ["length", "max_tokens", "MAX_TOKENS"])
def test_thinking_that_a_limit_ended_says_how_to_give_it_more(
    faulty: FaultServer,
    limit: str,
) -> None:
    message = {"content": None, "reasoning": "Cats?"}
    reply = Reply(completion(message=message, finish_reason=limit))
    faulty.answer = lambda payload: reply
    assert "the model thought until no token was left" in str(ask().error)
    assert "max_tokens=" in str(ask().error)


TOO_LARGE = [
    "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context is 8192.",
    "max_tokens is too large: 16384. This model supports at most 4096 completion tokens.",
    "This model's maximum context length is 8192 tokens. You asked for 300 and 16384 in the answer.",
]


@pytest.mark.parametrize("says", TOO_LARGE)
def test_a_default_limit_that_is_too_large_says_how_to_change_it(
    faulty: FaultServer,
    says: str,
) -> None:
    faulty.answer = lambda payload: Reply({"error": {"message": says}}, 400)
    default = "HTTP 400 (max_tokens=16384 is this package's default for the model, and ?max_tokens="
    assert str(ask(reasoning_effort="low").error).startswith(default)
    assert len(faulty.asked) == 1, "another name of the field would not make it smaller"
    given = ask(reasoning_effort="low", max_tokens=16384)
    assert str(given.error).startswith(f"HTTP 400: {says[:40]}")
    faulty.answer = lambda payload: Reply({"error": {"message": "bad image"}}, 400)
    assert ask(reasoning_effort="low").error == "HTTP 400: bad image"


def test_what_was_learned_before_another_error_is_kept(faulty: FaultServer) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        if "max_tokens" in payload:
            return Reply(
                {"error": {"message": "Unsupported parameter: 'max_tokens'"}},
                400,
            )
        return Reply({"error": {"message": "Unknown effort: 'low'"}}, 400)

    faulty.answer = answer
    model = OpenAIModel("tiny", reasoning_effort="low", concurrency=1)
    answers = model.complete([prompt()] * 3)
    assert {each.error for each in answers} == {"HTTP 400: Unknown effort: 'low'"}
    assert len(faulty.asked) == 1 + 3, "one refusal, then none"
    assert model.notes == [f"{faulty.url} takes max_completion_tokens, not max_tokens"]


def test_one_failure_leaves_the_other_answers_alone(faulty: FaultServer) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        text = payload["messages"][0]["content"]
        return Reply({}, 500) if text == "2" else Reply(completion(f"film {text}"))

    faulty.answer = answer
    answers = OpenAIModel("tiny").complete([prompt(str(i)) for i in range(5)])
    assert [a.text for a in answers] == ["film 0", "film 1", None, "film 3", "film 4"]


def test_nobody_there_is_an_answer_with_a_reason(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    answer = ask()
    assert answer.error is not None
    assert "http://127.0.0.1:1/v1 cannot be reached" in answer.error


def test_a_server_that_hangs_is_given_up(faulty: FaultServer) -> None:
    released = threading.Event()

    def hang(payload: dict[str, Any]) -> Reply:
        released.wait(10)
        return Reply({})

    faulty.answer = hang
    answer = ask(timeout=0.2)
    released.set()
    assert answer.error is not None
    assert "did not answer in time" in answer.error


def test_what_may_pass_is_asked_again(faulty: FaultServer) -> None:
    replies = iter([Reply({}, 500, {"retry-after-ms": "1"}), Reply(completion())])
    faulty.answer = lambda payload: next(replies)
    assert ask(max_wait=60).text == "1. Heat"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(faulty: FaultServer, status: int) -> None:
    with FaultServer() as elsewhere:
        location = {"location": f"{elsewhere.url}/chat/completions"}
        faulty.answer = lambda payload: Reply(b"", status, location)
        answer = ask()
        assert elsewhere.headers == []
    assert answer.error is not None
    assert f"HTTP {status}" in answer.error
    assert "redirect" in answer.error


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A server's certificate for `name`, signed by itself, and its file."""
    if shutil.which("openssl") is None:
        pytest.skip("making a certificate needs the openssl command")
    key, file = folder / "key.pem", folder / "certificate.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ]
    command += [
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=test",
        "-addext",
        f"subjectAltName={name}",
    ]
    command += ["-keyout", str(key), "-out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file, key)
    return tls, file


@pytest.mark.parametrize(
    ("name", "is_trusted", "says"),
    [
        ("IP:127.0.0.1", True, None),
        ("IP:127.0.0.1", False, "self-signed certificate"),
        ("DNS:elsewhere.example", True, "IP address mismatch"),
    ],
)
def test_a_certificate_must_be_trusted_and_bear_the_right_name(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
    is_trusted: bool,
    says: str | None,
) -> None:
    tls, file = certificate(tmp_path, name)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with FaultServer(tls) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        answer = ask(max_wait=60)
        assert len(server.asked) == (says is None), (
            "no key goes to a server that is not trusted"
        )
    if says is None:
        assert answer.text == "1. Heat"
    else:
        assert answer.error is not None
        assert "cannot be trusted" in answer.error
        assert says in answer.error


def test_a_server_that_dies_and_returns_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FaultServer() as first:
        monkeypatch.setenv("OPENAI_BASE_URL", first.url)
        model = OpenAIModel("tiny", max_wait=60)
        assert model.complete([prompt()])[0].text == "1. Heat"
    refused = threading.Event()
    monkeypatch.setattr(pacing, "_FIRST_PAUSE", 0.01)
    report = model._reason

    def told(error: Exception) -> str:
        refused.set()
        return report(error)

    monkeypatch.setattr(model, "_reason", told)
    answers = model.complete_each([prompt(str(i)) for i in range(3)])
    seen: list[tuple[int, Completion | None]] = []
    asking = threading.Thread(
        target=lambda: seen.extend(itertools.chain.from_iterable(answers)),
    )
    asking.start()
    assert refused.wait(30), "the server is gone"
    with FaultServer(port=first.port):
        asking.join(30)
    assert [answer and answer.text for _, answer in seen] == ["1. Heat"] * 3


def test_a_quota_that_is_used_up_for_long_fails_the_rest_without_asking(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "_FIRST_WAIT", 0.01)
    faulty.answer = lambda payload: Reply(
        {"error": "slow down"},
        429,
        {"retry-after": "3600"},
    )
    answers = OpenAIModel("tiny", concurrency=1, max_wait=120).complete([prompt()] * 20)
    assert len(faulty.asked) == 7 * 5 + 1, "the eighth call in a row is believed"
    for answer in answers:
        assert answer.error == (
            "HTTP 429: slow down; the server asks to wait 3600 s, more than recsys_max_wait allows"
        )


def test_an_absurd_wait_at_one_call_in_five_leaves_the_other_four_alone(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "_FIRST_WAIT", 0.01)

    def answer(payload: dict[str, Any]) -> Reply:
        absurd = int(payload["messages"][0]["content"]) % 5 == 0
        return Reply({}, 429, {"retry-after": "1e9"}) if absurd else Reply(completion())

    faulty.answer = answer
    answers = OpenAIModel("tiny", max_wait=120).complete(
        [prompt(str(i)) for i in range(50)],
    )
    assert [a.text for a in answers] == [None, *["1. Heat"] * 4] * 10
    assert "asks to wait 1000000000 s" in str(answers[0].error)


@pytest.mark.parametrize(
    "name",
    ["silence: no answer", "connection: closed before an answer"],
)
def test_an_endpoint_that_never_answers_is_given_up_for_all_calls(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with HostileServer({name: FAULTS[name]}) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        model = OpenAIModel("tiny", timeout=600, max_wait=1, concurrency=4)
        answers = model.complete([prompt(str(i)) for i in range(80)])
        asked = server.asked
        again = model.complete([prompt(str(i)) for i in range(80)])
        model.close()
    assert asked == server.asked < 40, "later calls fail at once"
    assert None not in {each.error for each in answers}
    for each in again:
        assert "given up for now (recsys_max_wait)" in str(each.error)


def test_a_port_that_takes_no_connection_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        monkeypatch.setattr(transport, "_CONNECT", 0.3)
        monkeypatch.setattr(pacing, "_STRANGER", 0.2)
        monkeypatch.setenv(
            "OPENAI_BASE_URL",
            f"http://127.0.0.1:{full.getsockname()[1]}/v1",
        )
        answers = OpenAIModel("tiny", max_wait=600).complete([prompt()] * 20)
        for each in waiting:
            each.close()
    assert {a.error for a in answers} != {None}
    assert all("does not take a connection" in str(a.error) for a in answers)


@pytest.mark.parametrize(
    "name",
    [name for name in FAULTS if name.startswith("frame: ")][3:],
)
def test_what_is_no_http_is_sent_again(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "_FIRST_WAIT", 0.01)
    with HostileServer({name: FAULTS[name]}, most=1) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        answer = ask(max_wait=60)
    assert answer.text is not None, answer.error


def test_a_storm_of_refusals_costs_time_and_no_answer(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = 0

    def answer(payload: dict[str, Any]) -> Reply:
        nonlocal refused
        refused += 1
        return (
            Reply({}, 429, {"retry-after-ms": "1"})
            if refused % 3
            else Reply(completion())
        )

    faulty.answer = answer
    answers = OpenAIModel("tiny", max_wait=600).complete(
        [prompt(str(i)) for i in range(30)],
    )
    assert [a.text for a in answers] == ["1. Heat"] * 30
    assert len(faulty.asked) == 90


def test_no_proxy_sees_what_stays_on_this_machine(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FaultServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert ask().text == "1. Heat"
        assert proxy.headers == []


def test_without_a_key_none_is_sent(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", KEY)
    assert ask().text == "1. Heat"
    assert KEY not in json.dumps(faulty.headers)


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, 401),
        Reply(completion(f"Your key is {KEY}.")),
        Reply(completion(message={"refusal": KEY})),
        Reply(KEY.encode()),
    ],
)
def test_a_key_that_comes_back_is_not_kept(
    faulty: FaultServer,
    reply: Reply,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    faulty.answer = lambda payload: reply
    model = OpenAIModel("tiny")
    answer = model.complete([prompt()])[0]
    assert "[OPENAI_API_KEY]" in repr(answer)
    assert KEY not in repr((answer, model, model.identity, model.notes, vars(model)))
    assert KEY not in caplog.text


def test_a_placeholder_for_a_key_may_stand_in_an_answer(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    faulty.answer = lambda payload: Reply(completion("And Then There Were none"))
    assert ask().text == "And Then There Were none"


def rejecting(*fields: str) -> Callable[[dict[str, Any]], Reply]:
    def answer(payload: dict[str, Any]) -> Reply:
        for name in fields:
            if name in payload:
                return Reply(
                    {"error": {"message": f"Unsupported parameter: '{name}'"}},
                    400,
                )
        return Reply(completion(" ".join(sorted(payload))))

    return answer


def test_what_an_endpoint_rejects_is_left_out_and_remembered(
    faulty: FaultServer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    faulty.answer = rejecting("seed", "max_tokens")
    model = OpenAIModel("tiny", concurrency=1)
    answers = model.complete([prompt(), prompt()])
    assert [a.text for a in answers] == ["max_completion_tokens messages model"] * 2
    assert len(faulty.asked) == 4, "two refusals, then none"
    assert model.notes == [
        f"{faulty.url} takes no seed, so answers cannot be reproduced",
        f"{faulty.url} takes max_completion_tokens, not max_tokens",
    ]
    assert caplog.messages == model.notes


def test_answers_are_held_to_json_where_the_endpoint_can(faulty: FaultServer) -> None:
    assert ask(json=True).text == "1. Heat"
    assert faulty.asked[-1]["response_format"] == {"type": "json_object"}
    faulty.answer = rejecting("response_format")
    model = OpenAIModel("tiny", json=True)
    assert model.complete([prompt()])[0].text == "max_tokens messages model seed"
    assert model.notes == [
        f"{faulty.url} takes no response_format, so JSON output is not enforced",
    ]


def test_an_answer_is_held_to_the_schema_of_its_prompt_where_the_endpoint_can(
    faulty: FaultServer,
) -> None:
    schema = {"type": "object", "properties": {"overall": {"type": "string"}}}
    asks = replace(prompt(), schema=schema)
    model = OpenAIModel("tiny", concurrency=1)
    model.complete([asks, prompt()])
    sent = [payload.get("response_format") for payload in faulty.asked]
    assert sent == [
        {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": schema},
        },
        None,
    ]
    faulty.answer = rejecting("response_format")
    answers = model.complete([asks, asks])
    assert [answer.text for answer in answers] == ["max_tokens messages model seed"] * 2
    assert len(faulty.asked) == 2 + 3, "one refusal, then none"
    assert model.notes == [
        f"{faulty.url} takes no JSON schema, so answers may have any form",
    ]


@pytest.mark.parametrize(
    "says",
    [
        "output_format.schema: For 'array' type, property 'maxItems' is not supported",
        "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config'",
        "This model does not support response format `json_schema`",
        "This response_format type is unavailable now",
    ],
)
def test_a_schema_that_is_refused_in_other_words_is_left_out(
    faulty: FaultServer,
    says: str,
) -> None:
    faulty.answer = lambda payload: (
        Reply({"error": {"message": says}}, 400)
        if "response_format" in payload
        else Reply(completion())
    )
    model = OpenAIModel("tiny", answer="json", concurrency=1)
    assert model.complete([as_json(replace(prompt(), k=3))])[0].text == "1. Heat"
    assert model.notes == [
        f"{faulty.url} takes no JSON schema, so answers may have any form",
    ]


def test_json_mode_takes_the_place_of_a_schema_where_the_spec_asks_for_both(
    faulty: FaultServer,
) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        if payload["response_format"]["type"] == "json_schema":
            return Reply(
                {"error": {"message": "response_format: json_schema is not known"}},
                400,
            )
        return Reply(completion())

    faulty.answer = answer
    model = OpenAIModel("tiny", json=True, answer="json", concurrency=1)
    assert model.complete([as_json(replace(prompt(), k=3))])[0].text == "1. Heat"
    assert faulty.asked[-1]["response_format"] == {"type": "json_object"}


def test_a_prompt_that_does_not_ask_for_json_is_told_so(faulty: FaultServer) -> None:
    says = "'messages' must contain the word 'json' to use 'response_format'"
    faulty.answer = lambda payload: Reply({"error": {"message": says}}, 400)
    assert ask(json=True).error == f"HTTP 400: {says}"


UNKNOWN = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'


@pytest.mark.parametrize(
    "refusal",
    [
        Reply({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}, 422),
        Reply(
            [
                {
                    "error": {
                        "code": 400,
                        "message": UNKNOWN,
                        "status": "INVALID_ARGUMENT",
                    },
                },
            ],
            400,
        ),
    ],
    ids=["Pydantic", "Google"],
)
def test_fields_that_a_schema_forbids_are_left_out(
    faulty: FaultServer,
    refusal: Reply,
) -> None:
    faulty.answer = lambda payload: (
        refusal if "seed" in payload else Reply(completion())
    )
    assert ask().text == "1. Heat"


def test_a_complaint_about_something_else_is_not_remembered(
    faulty: FaultServer,
) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        text = payload["messages"][0]["content"]
        return (
            Reply({"error": f"bad input {text}"}, 400)
            if "Seed" in text
            else Reply(completion())
        )

    faulty.answer = answer
    model = OpenAIModel("tiny", concurrency=1)
    first, second = model.complete([prompt("The Bad seed: Seed"), prompt()])
    assert first.error == "HTTP 400: bad input The Bad seed: Seed"
    assert second.text == "1. Heat"
    assert "seed" in faulty.asked[-1]
    assert model.notes == []


def test_a_prompt_that_is_refused_in_words_of_a_field_costs_no_field(
    faulty: FaultServer,
) -> None:
    says = "this question is not allowed: temperature"
    faulty.answer = lambda payload: Reply({"error": says}, 400)
    model = OpenAIModel("tiny", temperature=0.5)
    assert model.complete([prompt()])[0].error == f"HTTP 400: {says}"
    assert model.notes == []


def test_openai_itself_is_asked_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.support.llm_api import Dialect, Endpoint

    assert Dialect.of(Endpoint.from_environment()).limits[0] == "max_completion_tokens"


def test_what_is_known_of_a_server_is_not_tried(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = {"limits": ("max_tokens",), "json": False, "schema": False}
    monkeypatch.setattr(dialect, "KNOWN", {urlsplit(faulty.url).hostname: fields})
    monkeypatch.setenv("OPENAI_BASE_URL", faulty.url)
    faulty.answer = rejecting("max_completion_tokens", "response_format")
    model = OpenAIModel("tiny", json=True, concurrency=1)
    answers = model.complete([prompt(), replace(prompt(), schema={"type": "object"})])
    assert [answer.text for answer in answers] == ["max_tokens messages model seed"] * 2
    assert len(faulty.asked) == 2, "no refusal"
    assert model.notes == [
        f"{faulty.url} takes no response_format, so JSON output is not enforced",
        f"{faulty.url} takes no JSON schema, so answers may have any form",
    ]
    silent = OpenAIModel("tiny", concurrency=1)
    assert silent.complete([prompt()])[0].text == "max_tokens messages model seed"
    assert silent.notes == []


def test_answers_are_yielded_as_they_arrive_and_returned_in_order(
    faulty: FaultServer,
) -> None:
    first_may_end = threading.Event()

    def answer(payload: dict[str, Any]) -> Reply:
        text = payload["messages"][0]["content"]
        if text == "0":
            first_may_end.wait(10)
        return Reply(completion(f"film {text}"))

    faulty.answer = answer
    prompts = [prompt(str(i)) for i in range(4)]
    seen = []
    for arrived in OpenAIModel("tiny", concurrency=2).complete_each(prompts):
        seen += [index for index, _ in arrived]
        if len(seen) == 3:
            first_may_end.set()
    assert seen == [1, 2, 3, 0]
    answers = OpenAIModel("tiny", concurrency=2).complete(prompts)
    assert [a.text for a in answers] == ["film 0", "film 1", "film 2", "film 3"]


def test_no_more_calls_are_in_flight_than_agreed(faulty: FaultServer) -> None:
    lock, flying, most = threading.Lock(), 0, 0

    def answer(payload: dict[str, Any]) -> Reply:
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        time.sleep(0.02)
        with lock:
            flying -= 1
        return Reply(completion())

    faulty.answer = answer
    OpenAIModel("tiny", concurrency=3).complete([prompt(str(i)) for i in range(12)])
    assert most == 3


def test_calls_end_when_nobody_reads_on(faulty: FaultServer) -> None:
    model = OpenAIModel("tiny", concurrency=1)
    answers = model.complete_each([prompt(str(i)) for i in range(50)])
    next(answers)
    answers.close()
    assert model.complete([prompt("last")])[0].text == "1. Heat"
    assert len(faulty.asked) < 50


def test_it_works_inside_a_running_event_loop(faulty: FaultServer) -> None:
    async def main() -> Completion:
        return OpenAIModel("tiny").complete([prompt()])[0]

    assert asyncio.run(main()).text == "1. Heat"


def test_no_prompts_give_no_answers(faulty: FaultServer) -> None:
    assert OpenAIModel("tiny").complete([]) == []


def test_it_asks_on_after_it_was_closed(faulty: FaultServer) -> None:
    model = OpenAIModel("tiny")
    assert model.complete([prompt()])[0].text == "1. Heat"
    model.close()
    model.close()
    assert model.complete([prompt()])[0].text == "1. Heat"


def threads() -> int:
    return sum(thread.name == "recsys-mt-calls" for thread in threading.enumerate())


def test_a_model_that_nobody_holds_leaves_no_thread(faulty: FaultServer) -> None:
    gc.collect()
    before = threads()
    model = OpenAIModel("tiny")
    model.complete([prompt()])
    assert threads() == before + 1
    del model
    gc.collect()
    assert threads() == before


def test_the_interpreter_exits_in_silence(faulty: FaultServer) -> None:
    program = (
        "from pytest_recsys_mt.llm.api.openai_model import OpenAIModel\n"
        "from pytest_recsys_mt.requests import Message, Prompt\n"
        "model = OpenAIModel('tiny')\n"
        "print(model.complete([Prompt((Message('user', 'Name a film.'),))])[0].text)\n"
        "answers = model.complete_each([Prompt((Message('user', 'Name a film.'),))] * 20)\n"
        "next(answers)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("1. Heat\n", "", 0)

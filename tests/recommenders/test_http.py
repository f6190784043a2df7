"""Recommenders behind HTTP: the contract, a real
server, and everything that can go wrong.
"""

import importlib
import json
import os
import pickle
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from pytest_recsys_mt import NotApplicable, RecommenderError
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from tests.models.faults import FaultServer, Reply
from tests.plugin.conftest import record_of
from tests.support.recommenders import (
    HEADER,
    ORIGIN,
    HTTPRecommender,
    authorization,
    http,
    http_contract,
    resolve,
)
from tests.support.safety import AUTHORIZATION

# Runs inside this process must not be the first to import what cannot be imported
# twice.
importlib.import_module("pytest_recsys_mt.llm.api.transport")

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = yaml.safe_load((ROOT / http_contract.CONTRACT).read_text(encoding="utf-8"))
TOKEN = "sentinel-0123456789"
FILMS = tuple(
    Item(f"m{number}", f"Film {number}", 1990 + number, {"genres": ("Drama",)})
    for number in range(5)
)


def request(user: str = "u1", **changes: Any) -> Request:
    history = (Rating(FILMS[0], 4.0, 17), Rating(FILMS[1], 1.0))
    return Request(user, history, Scale(), FILMS[2:], 2).replace(**changes)


def schema(name: str) -> Draft202012Validator:
    return Draft202012Validator({**CONTRACT, "$ref": f"#/components/schemas/{name}"})


def first_two(payload: dict[str, Any]) -> dict[str, Any]:
    """A good answer to every request of a batch: its first candidates."""
    return {
        "answers": [
            {"items": [item["id"] for item in each["candidates"][: each["k"]]]}
            for each in payload["requests"]
        ],
    }


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A server whose answers the test chooses; nothing is
    tried twice unless a test allows it.
    """
    monkeypatch.setattr(http, "MAX_WAIT", 0.0)
    with FaultServer() as faulty:
        faulty.answer = lambda payload: Reply(first_two(payload))
        yield faulty


def ask(
    server: FaultServer,
    *requests: Request,
    **arguments: Any,
) -> list[Recommendation | NotApplicable]:
    recommender = HTTPRecommender(server.url, **arguments)
    found: dict[int, Recommendation | NotApplicable] = {}
    try:
        for arrived in recommender.recommend_each(requests or [request()]):
            found.update(arrived)
    finally:
        recommender.close()
    return [found[position] for position in sorted(found)]


def reason(server: FaultServer, **arguments: Any) -> str:
    (answer,) = ask(server, **arguments)
    assert isinstance(answer, Recommendation)
    assert answer.items == ()
    assert answer.error is not None
    assert server.url in answer.error
    return answer.error


def test_an_answer_says_how_many_attempts_failed_before_it(server: FaultServer) -> None:
    statuses = iter([503, 500, 200])

    def late(payload: dict[str, Any]) -> Reply:
        status = next(statuses, 200)
        headers = {"retry-after-ms": "1"} if status == 503 else {}
        return Reply(first_two(payload), status, headers)

    server.answer = late
    answers = ask(
        server, request(), request("u2"), batch=1, concurrency=1, max_wait=20.0
    )
    assert [
        (each.failed_before, each.refused_before)
        for each in answers
        if isinstance(each, Recommendation)
    ] == [(2, 1), (0, 0)]


def test_halves_of_a_batch_that_failed_are_no_first_attempts(
    server: FaultServer,
) -> None:
    server.answer = lambda payload: Reply(
        first_two(payload), 413 if len(payload["requests"]) > 1 else 200
    )
    answers = ask(server, request(), request("u2"))
    assert [
        each.failed_before for each in answers if isinstance(each, Recommendation)
    ] == [1, 1]


def test_a_server_is_told_what_not_to_recommend(server: FaultServer) -> None:
    films = {film.id for film in FILMS}

    def unseen(payload: dict[str, Any]) -> Reply:
        known = [
            {rating["item"]["id"] for rating in each["history"]}.union(each["seen"])
            for each in payload["requests"]
        ]
        return Reply({"answers": [{"items": sorted(films - each)} for each in known]})

    server.answer = unseen
    (answer,) = ask(server, request(candidates=None, seen=("m3",)))
    assert isinstance(answer, Recommendation)
    assert answer.items == ("m2", "m4")


def test_the_contract_is_sound_openapi() -> None:
    validate(CONTRACT)
    assert CONTRACT["openapi"].startswith("3.1")
    for path in CONTRACT["paths"].values():
        for operation in path.values():
            content = operation["responses"]["200"]["content"]["application/json"]
            name = content["schema"]["$ref"].rpartition("/")[2]
            schema(name).validate(content["example"])


@pytest.mark.parametrize(
    "asked",
    [
        request(),
        request(candidates=None, replicate=3, attributes={"age": 30}),
        request(candidates=None, seen=("m3", "m4")),
    ],
)
def test_what_is_sent_is_what_the_contract_says(asked: Request) -> None:
    body = json.loads(http_contract.body_of([asked, request("u2")]))
    schema("Batch").validate(body)
    sent = body["requests"][0]
    assert sent["history"][0] == {
        "item": {
            "id": "m0",
            "title": "Film 0",
            "year": 1990,
            "attributes": {"genres": ["Drama"]},
        },
        "rating": 4.0,
        "timestamp": 17,
    }
    assert (sent["user"], sent["k"], sent["replicate"]) == ("u1", 2, asked.replicate)
    assert (sent["candidates"] is None) == (asked.candidates is None)
    assert sent["seen"] == list(asked.seen)


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        ({"items": ["m2", "m3"]}, True),
        ({"items": []}, True),
        ({"items": ["nobody knows this"]}, True),
        ({"not_applicable": "no history"}, True),
        ({"error": "no such shelf"}, True),
        ({"items": [1, 2]}, False),
        ({"items": "m2"}, False),
        ({"things": ["m2"]}, False),
        ({"items": ["m2"], "error": "and yet"}, False),
        (["m2"], False),
    ],
)
def test_contract_and_reader_allow_the_same_answers(
    server: FaultServer,
    answer: Any,
    allowed: bool,
) -> None:
    assert schema("Answer").is_valid(answer) == allowed
    server.answer = lambda payload: Reply({"answers": [answer]})
    (read,) = ask(server)
    if isinstance(read, NotApplicable):
        assert str(read) == answer["not_applicable"]
    elif not allowed:
        assert "items" in str(read.error)
    elif "error" in answer:
        assert read.error == f"the server says: {answer['error']}"
    else:
        assert (list(read.items), read.error) == (answer["items"], None)


def test_requests_go_in_batches_and_answers_come_back_in_order(
    server: FaultServer,
) -> None:
    server.get = lambda: Reply({"max_batch": 3})
    asked = [
        request(str(number), candidates=(FILMS[number % 5], FILMS[(number + 1) % 5]))
        for number in range(10)
    ]
    answers = HTTPRecommender(server.url).recommend(asked)
    assert [answer.items for answer in answers] == [
        tuple(item.id for item in each.candidates or ()) for each in asked
    ]
    assert sorted(len(payload["requests"]) for payload in server.asked) == [1, 3, 3, 3]


def test_the_version_is_the_fingerprint_and_how_it_is_fetched_is_no_part_of_the_key(
    server: FaultServer,
) -> None:
    server.get = lambda: Reply({"version": "v7", "deterministic": True, "seeded": True})
    made = resolve(f"{server.url}?batch=4&timeout=5")
    assert isinstance(made, HTTPRecommender)
    assert (made.fingerprint, made.deterministic, made.seeded) == ("v7", True, True)
    assert made.identity == {"recommender": server.url}
    server.get = lambda: Reply(b"Not found", 404)
    silent = HTTPRecommender(server.url)
    assert (silent.fingerprint, silent.deterministic, silent.seeded) == (
        None,
        False,
        False,
    )


def test_a_version_in_the_spec_is_not_asked_for_but_held_to(
    server: FaultServer,
) -> None:
    server.get = lambda: pytest.fail("asked")
    pinned = resolve(f"{server.url}?version=v7&deterministic=true")
    assert isinstance(pinned, HTTPRecommender)
    assert (pinned.fingerprint, pinned.deterministic) == ("v7", True)
    server.answer = lambda payload: Reply({**first_two(payload), "version": "v8"})
    assert "version 'v8' answers, and the spec names 'v7'" in reason(
        server,
        version="v7",
    )


def test_a_server_that_changes_during_the_run_gives_no_answers(
    server: FaultServer,
) -> None:
    server.get = lambda: Reply({"version": "v7"})
    server.answer = lambda payload: Reply({**first_two(payload), "version": "v8"})
    assert "it was 'v7' when the run began; run again" in reason(server)


def test_a_failure_that_passes_costs_one_more_call(server: FaultServer) -> None:
    replies = [Reply({"detail": "starting"}, 500), Reply(None, missing=None)]
    server.answer = lambda payload: (
        replies.pop(0) if replies else Reply(first_two(payload))
    )
    (answer,) = ask(server, max_wait=30.0)
    assert isinstance(answer, Recommendation)
    assert answer.items == ("m2", "m3")
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply({"detail": "no"}, 500), "HTTP 500 (see the server's log): {\"detail\": \"no\"}"),
        (Reply({}, 401), f"HTTP 401 (set {AUTHORIZATION}, and {ORIGIN} to this server)"),
        (Reply({}, 404), "HTTP 404 (check the address: the contract's paths"),
        (Reply({}, 413), "HTTP 413 (lower batch= in the spec)"),
        (Reply({}, 422), "HTTP 422 (compare the server with docs/http-recommender.openapi.yaml)"),
        (
            Reply({}, 302, {"location": "https://evil.example/"}),
            "HTTP 302, a redirect to https://evil.example/, which is not followed",
        ),
        (Reply(b"<html>"), "the answer is not JSON: '<html>'"),
        (Reply(b"\xff\xfe"), "the answer is not JSON"),
        (Reply(b"[" * 100_000), "the answer is not JSON"),
        (Reply([1]), "the answer is [1]; the contract wants a JSON object"),
        (Reply({"result": []}), "no list of answers, but the fields ['result']"),
        (Reply({"answers": []}), "0 answers to 1 requests; the contract wants one each"),
        (Reply({"answers": [{"items": []}] * 2}), "2 answers to 1 requests"),
        (Reply({"answers": [{"items": []}], "version": 3}), "version is 3"),
        (Reply(b" " * 2_000_001), "more than 2,000,000 bytes"),
        (Reply(b"{}", headers={"content-encoding": "gzip"}), "packed as 'gzip'"),
        (Reply({"answers": []}, missing=50), "broke off"),
    ],
)  # fmt: skip
def test_a_failure_names_the_address_and_the_next_step(
    server: FaultServer,
    reply: Reply,
    told: str,
) -> None:
    server.answer = lambda payload: reply
    assert told in reason(server)


def test_a_server_that_does_not_answer_in_time_is_told_so(server: FaultServer) -> None:
    def late(payload: dict[str, Any]) -> Reply:
        time.sleep(0.5)
        return Reply(first_two(payload))

    server.answer = late
    assert "did not answer in time; raise timeout" in reason(server, timeout=0.1)


def test_a_server_that_is_not_there_is_told_once_and_how_to_replay_without_it() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    recommender = HTTPRecommender(f"http://127.0.0.1:{port}", max_wait=0.0)
    with pytest.raises(
        RecommenderError,
        match=r"cannot be reached.*version=VERSION",
    ) as first:
        _ = recommender.fingerprint
    with pytest.raises(RecommenderError) as second:
        _ = recommender.deterministic
    assert first.value is second.value


def test_one_bad_request_fails_no_other_of_its_batch(server: FaultServer) -> None:
    def choosy(payload: dict[str, Any]) -> Reply:
        if any(each["user"] == "u3" for each in payload["requests"]):
            return Reply({"detail": "u3 is banned"}, 422)
        return Reply(first_two(payload))

    server.answer = choosy
    answers = ask(server, *(request(f"u{number}") for number in range(8)))
    failed = [bool(getattr(answer, "error", None)) for answer in answers]
    assert failed == [number == 3 for number in range(8)]


def test_a_server_that_fails_every_batch_is_not_asked_for_the_halves(
    server: FaultServer,
) -> None:
    server.answer = lambda payload: Reply({}, 500)
    answers = ask(server, *(request(f"u{number}") for number in range(8)))
    assert all(
        isinstance(answer, Recommendation) and answer.error for answer in answers
    )
    assert len(server.asked) == 1


def test_ids_and_texts_of_a_server_are_made_safe(server: FaultServer) -> None:
    server.answer = lambda payload: Reply(
        {"answers": [{"items": ["m2\x1b[31m\x00", "x" * 9_999]}]},
    )
    (answer,) = ask(server)
    assert isinstance(answer, Recommendation)
    assert answer.items == ("m2", "x" * http_contract.LONGEST_ID)
    server.answer = lambda payload: Reply(b"\x1b[2Jfail", 500)
    assert "\x1b" not in reason(server)


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch, server: FaultServer) -> FaultServer:
    monkeypatch.setenv(AUTHORIZATION, f"Bearer {TOKEN}")
    monkeypatch.setenv(ORIGIN, f"http://127.0.0.1:{server.port}")
    return server


def test_the_key_goes_to_the_server_it_is_for_and_into_no_report(
    secret: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret.answer = lambda payload: Reply(
        {"answers": [{"items": [f"Bearer {TOKEN}", TOKEN]}]},
    )
    (answer,) = ask(secret)
    assert {headers["authorization"] for headers in secret.headers} == {
        f"Bearer {TOKEN}",
    }
    assert TOKEN not in repr(answer)
    secret.answer = lambda payload: Reply({"you sent": TOKEN}, 400)
    assert TOKEN not in reason(secret)
    recommender = HTTPRecommender(secret.url)
    recommender.recommend([request()])
    assert TOKEN not in repr(vars(recommender))
    with pytest.raises(TypeError):
        pickle.dumps(recommender)
    recommender.close()
    monkeypatch.setenv(ORIGIN, f"http://localhost:{secret.port}")
    secret.headers.clear()
    ask(secret)
    assert not any("authorization" in headers for headers in secret.headers)


def test_the_key_may_go_in_a_header_of_another_name(
    secret: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(AUTHORIZATION, TOKEN)
    monkeypatch.setenv(HEADER, "X-API-Key")
    ask(secret)
    assert {headers["x-api-key"] for headers in secret.headers} == {TOKEN}
    assert not any("authorization" in headers for headers in secret.headers)
    secret.answer = lambda payload: Reply({"you sent": TOKEN}, 401)
    assert TOKEN not in reason(secret)


@pytest.mark.parametrize(
    "name",
    ["X API Key", "X-Key:", "Host", "content-type", "X-K\u00e9y"],
)
def test_a_header_that_can_hold_no_key_is_refused(
    secret: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setenv(HEADER, name)
    with pytest.raises(
        RecommenderError,
        match=f"{HEADER}.* .*is not the name of a header for a key",
    ):
        HTTPRecommender(secret.url).recommend([request()])
    assert secret.headers == []


@pytest.mark.parametrize(
    ("url", "origin", "told"),
    [
        ("https://shop.example/api", "", f"set {ORIGIN}"),
        ("http://shop.example/api", "http://shop.example", "would go unencrypted"),
        ("https://shop.example/api", "shop.example", "is not the address of a server"),
        ("https://shop.example/api", "https://u:p@shop.example", "without user name"),
    ],
)
def test_a_key_that_may_go_astray_goes_nowhere(
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    origin: str,
    told: str,
) -> None:
    monkeypatch.setenv(AUTHORIZATION, f"Bearer {TOKEN}")
    monkeypatch.setenv(ORIGIN, origin)
    recommender = HTTPRecommender(url, version="v1")
    with pytest.raises(RecommenderError, match=told) as error:
        recommender.recommend([request()])
    assert TOKEN not in str(error.value)


@pytest.mark.parametrize(
    ("url", "origin", "sent"),
    [
        ("https://shop.example/api", "https://shop.example", True),
        ("https://SHOP.example:443/api", "https://shop.example/", True),
        ("https://shop.example:8443/api", "https://shop.example", False),
        ("https://shop.example.evil.example", "https://shop.example", False),
        ("https://evil.example/shop.example", "https://shop.example", False),
        ("http://127.0.0.1:80/api", "https://127.0.0.1:80", False),
        ("https://[::1]/api", "https://[::1]:443", True),
    ],
)
def test_only_the_origin_named_in_the_environment_gets_the_key(
    monkeypatch: pytest.MonkeyPatch,
    url: str,
    origin: str,
    sent: bool,
) -> None:
    monkeypatch.setenv(AUTHORIZATION, f"Bearer {TOKEN}")
    monkeypatch.setenv(ORIGIN, origin)
    assert (authorization(HTTPRecommender(url).endpoint) is not None) == sent


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("https://", "is not the address of a server"),
        ("https://user:pass@shop.example", "without user name"),
        ("https://shop.example:99999", "a port up to 65535"),
        (
            "https://shop.example?token=abc",
            "unknown parameter 'token'; valid ones: 'batch'",
        ),
        ("https://shop.example?batch=0", "batch must be in 1..1000, got 0"),
        (
            "https://shop.example?timeout=0",
            "timeout must be a number of seconds above 0, got 0.0",
        ),
        (
            "https://shop.example?deterministic=perhaps",
            "deterministic='perhaps' is not",
        ),
    ],
)
def test_a_spec_that_means_nothing_says_why(spec: str, told: str) -> None:
    with pytest.raises(
        RecommenderError,
        match="(?s)" + told.replace("?", r"\?"),
    ) as error:
        resolve(spec)
    assert "pass" not in str(error.value).replace("'pass", "")


@contextmanager
def reference_server(**environment: str) -> Iterator[str]:
    """The reference server in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        str(ROOT / "examples" / "http_server.py"),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
    )
    url = f"http://127.0.0.1:{port}"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        while process.poll() is None:
            try:
                opener.open(f"{url}/about", timeout=5).close()
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.05)
            else:
                break
        else:
            _, said = process.communicate()
            pytest.fail(f"the server did not start:\n{said.decode()}")
        yield url
    finally:
        process.terminate()
        process.communicate()


Pytest = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Pytest:
    """A run of one relation that holds for a taste, and one that does not."""
    pytester.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history, truncate_history

        @metamorphic(reorder_history, truncate_history(1))
        def test_ranking(source, followup):
            assert same_ranking(source, followup, margin=0.15)
        """,
    )
    common = [
        "-p",
        "no:cacheprovider",
        "--recsys-users=30",
        "--recsys-json=record.json",
    ]
    return lambda *more: pytester.runpytest_inprocess(*common, *more)


def test_the_reference_server_is_tested_recorded_and_replayed(
    run: Pytest,
    pytester: pytest.Pytester,
) -> None:
    with reference_server() as url:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{url}/openapi.json") as said:
            assert set(json.load(said)["paths"]) == set(CONTRACT["paths"])
        first = run(f"--recsys-model={url}")
        first.assert_outcomes(passed=1, failed=1)
        first.stdout.fnmatch_lines_random(
            ["*truncate_history(1) is violated: *", "reorder_history*holds *"],
        )
        assert record_of(pytester.path / "record.json")["calls"]["made"] > 0
        again = run(f"--recsys-model={url}?batch=2")
        again.assert_outcomes(passed=1, failed=1)
        assert record_of(pytester.path / "record.json")["calls"]["made"] == 0
    gone = run(f"--recsys-model={url}", "--recsys-mode=replay", "-orecsys_max_wait=0")
    gone.assert_outcomes(errors=2)
    gone.stdout.fnmatch_lines([f"*{url}/about cannot be reached*"])
    replayed = run(
        f"--recsys-model={url}?version=taste-1&deterministic=true",
        "--recsys-mode=replay",
    )
    replayed.assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key"])
def test_the_reference_server_wants_its_token(
    run: Pytest,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    header: str,
) -> None:
    with reference_server(SHOP_TOKEN=TOKEN) as url:
        refused = run(f"--recsys-model={url}")
        refused.assert_outcomes(errors=2)
        refused.stdout.fnmatch_lines(
            ["*/about: HTTP 401 (set RECSYS_HTTP_AUTHORIZATION*"],
        )
        scheme = "Bearer " if header == "Authorization" else ""
        monkeypatch.setenv(AUTHORIZATION, f"{scheme}{TOKEN}")
        monkeypatch.setenv(HEADER, header)
        monkeypatch.setenv(ORIGIN, url)
        result = run(f"--recsys-model={url}")
        result.assert_outcomes(passed=1, failed=1)
    for path in pytester.path.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()


def test_ids_that_nobody_knows_are_a_finding_and_no_crash(
    server: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        from pytest_recsys_mt.oracles import only_candidates

        def test_answers(recsys):
            assert only_candidates(recsys.run(), margin=0.05)
        """,
    )
    server.answer = lambda payload: Reply(
        {"answers": [{"items": ["x1", "x2"]} for _ in payload["requests"]]},
    )
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-users=30",
        f"--recsys-model={server.url}",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*only_candidates is violated: *", "*1 x1"])


def test_a_server_may_say_what_it_does_not_read() -> None:
    assert http_contract.read_about(b'{"ignores": ["ratings"]}').ignores == ("ratings",)
    assert http_contract.read_about(b"{}").ignores == ()
    with pytest.raises(
        http_contract.ContractError,
        match="the contract wants a list of ratings, history",
    ):
        http_contract.read_about(b'{"ignores": ["stars"]}')


def test_a_server_may_say_what_it_promises() -> None:
    assert http_contract.read_about(b'{"promises": ["recency"]}').promises == (
        "recency",
    )
    assert http_contract.read_about(b"{}").promises == ()
    with pytest.raises(
        http_contract.ContractError,
        match="wants a list of ratings, recency",
    ):
        http_contract.read_about(b'{"promises": "novelty"}')


@pytest.mark.parametrize("said", ["0", "true", '"50"', "2.5"])
def test_a_server_may_say_how_much_of_a_history_it_reads(said: str) -> None:
    assert http_contract.read_about(b'{"reads_latest": 50}').reads_latest == 50
    assert http_contract.read_about(b"{}").reads_latest is None
    with pytest.raises(
        http_contract.ContractError,
        match=r"reads_latest is .* a whole number from 1",
    ):
        http_contract.read_about(f'{{"reads_latest": {said}}}'.encode())

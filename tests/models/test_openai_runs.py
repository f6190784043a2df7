"""Whole runs of pytest against endpoints that misbehave."""

import importlib
import itertools
import json
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.models.faults import FaultServer, Reply, completion
from tests.plugin.conftest import record_of

# Runs inside this process cannot import aiohttp and httpx anew; the module above sees
# to the rest.
importlib.import_module("pytest_recsys_mt.llm.api.transport")

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_set
from pytest_recsys_mt.relations import change_case

@metamorphic(change_case("upper"))
def test_case(source, followup):
    assert same_set(source, followup, margin=0.3)
"""

FAULTS = {
    "HTTP 500": Reply({"error": {"message": "overloaded"}}, 500),
    "HTTP 400": Reply({"error": {"message": "bad"}}, 400),
    "is not JSON": Reply(b"<html>"),
    "is not UTF-8": Reply(b'{"choices": "\xff"}'),
    "broke off": Reply(completion(), missing=5),
    "has no choices": Reply({**completion(), "choices": []}),
    "has 2 choices": Reply({**completion(), "choices": completion()["choices"] * 2}),
    "wrote nothing": Reply(completion(None, finish_reason="length")),
    "more than 2,000,000 bytes": Reply(completion("x" * 10_000_000)),
    "a redirect": Reply(
        b"",
        307,
        {"location": "http://127.0.0.1:1/v1/chat/completions"},
    ),
}


def first_candidates(payload: dict[str, Any]) -> Reply:
    """An answer that copies the first candidates, as a
    model that reads nothing else would.
    """
    shown = re.findall(r"^\d+\. .*$", payload["messages"][-1]["content"], re.MULTILINE)
    return Reply(completion("\n".join(shown[:10])))


def faulty_for_some(faults: list[Reply]) -> Callable[[dict[str, Any]], Reply]:
    """The first users that are asked for meet one fault
    each, whatever is asked of them.
    """
    number, met = itertools.count(), dict[str, int]()
    lock = threading.Lock()

    def answer(payload: dict[str, Any]) -> Reply:
        user = re.search(
            r"\buser (\S+) likes",
            payload["messages"][-1]["content"],
            re.IGNORECASE,
        )
        assert user is not None
        name = user[1].casefold()  # the follow-up shouts the prompt, and the name in it
        with lock:
            which = met[name] if name in met else met.setdefault(name, next(number))
        return faults[which] if which < len(faults) else first_candidates(payload)

    return answer


def run(
    project: pytest.Pytester,
    model: str = "openai:tiny?max_wait=0",
    *arguments: str,
) -> tuple[pytest.RunResult, dict[str, Any]]:
    project.makepyfile(TEST)
    done = project.runpytest_inprocess(
        "-p", "no:cacheprovider", f"--recsys-model={model}", "--recsys-users=40",
        "--recsys-json=record.json", *arguments,
    )  # fmt: skip
    return done, record_of(project.path / "record.json")


def test_faults_beyond_the_limit_make_the_verdict_an_error(
    faulty: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    faulty.answer = faulty_for_some(list(FAULTS.values()))
    done, record = run(pytester)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    (row,) = record["results"]
    assert row["status"] == "error"
    assert row["errors"] == len(FAULTS)
    shown = done.stdout.str()
    assert [reason for reason in FAULTS if reason not in shown] == []
    assert row["users"] > 0, "the rest go on"


def test_who_answers_nothing_twice_is_unread_and_in_a_replay_as_in_the_run(
    faulty: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    refused = Reply(completion(message={"content": None, "refusal": "I won't"}))
    faulty.answer = faulty_for_some([Reply(completion(None)), refused])
    _, record = run(pytester)
    (row,) = record["results"]
    assert (row["status"], row["errors"]) == ("holds", 0)
    assert row["reason"].startswith("2 users of ")
    assert "nothing could be read" in row["reason"]
    calls = record["calls"]
    assert calls["failed"] == 0
    assert calls["failed_at_first"] == calls["attempts"] - calls["made"] > 0
    faulty.answer = lambda payload: Reply({"error": {"message": "down"}}, 500)
    _, again = run(pytester, "openai:tiny?max_wait=0", "--recsys-mode=replay")
    assert again["results"] == [row]


@pytest.mark.parametrize(
    "later",
    [Reply({"error": {"message": "down"}}, 500), None],
    ids=["a failure", "a list"],
)
def test_what_is_empty_at_first_is_the_answer_unless_another_comes(
    faulty: FaultServer,
    pytester: pytest.Pytester,
    later: Reply | None,
) -> None:
    asked: dict[str, str] = {}

    def answer(payload: dict[str, Any]) -> Reply:
        text = payload["messages"][-1]["content"]
        user = re.search(r"\buser (\S+) likes", text, re.IGNORECASE)
        assert user is not None
        name, question = user[1].casefold(), f"{payload['seed']} {text}"
        is_new = question not in asked
        asked.setdefault(question, name)
        if name != next(iter(asked.values())):
            return first_candidates(payload)
        return Reply(completion(None)) if is_new else later or first_candidates(payload)

    faulty.answer = answer
    _, record = run(pytester)
    (row,) = record["results"]
    calls = record["calls"]
    assert (row["errors"], calls["failed"]) == (0, 0)
    assert calls["failed_at_first"] > 0
    assert ("nothing could be read" in row["reason"]) is (later is not None)
    asked.clear()
    _, limited = run(
        pytester,
        "openai:tiny?max_wait=0",
        "--recsys-cache=other",
        "--recsys-max-calls=8",
    )
    assert limited["calls"]["failed"] == 0


@pytest.mark.parametrize("missing", [5, None], ids=["within the body", "before any"])
def test_faults_within_the_limit_leave_the_verdict_to_the_others(
    faulty: FaultServer,
    pytester: pytest.Pytester,
    missing: int | None,
) -> None:
    faulty.answer = faulty_for_some([Reply(completion(), missing=missing)])
    done, record = run(pytester)
    assert done.ret == pytest.ExitCode.OK
    (row,) = record["results"]
    assert (row["status"], row["errors"]) == ("holds", 1)
    # Whose call comes first, and fails, is chance: with some, the run asks more users
    # until it is settled.
    assert row["users"] >= 19


def test_an_answer_in_another_language_is_an_answer_and_no_failure(
    faulty: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    titles = "\n".join(f"{i}. 影片第{i}号" for i in range(1, 11))
    faulty.answer = lambda payload: Reply(completion(titles))
    (row,) = run(pytester)[1]["results"]
    assert (row["errors"], row["status"]) == (0, "inconclusive")
    assert "100% of the compared places" in row["reason"]


def test_a_run_says_how_long_a_server_wants_to_be_left_alone(
    faulty: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    faulty.answer = lambda payload: Reply(
        {"error": "slow down"},
        429,
        {"retry-after": "900"},
    )
    done, record = run(pytester, "openai:tiny", "-orecsys_max_wait=100")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert "asks to wait 900 s" in str(record["results"])
    assert len(faulty.asked) <= 16


def talking(payload: dict[str, Any]) -> Reply:
    """A model that keeps to a schema, and without one
    talks in place of every fourth answer.
    """
    text = payload["messages"][-1]["content"]
    shown = re.findall(r"^\d+\. (.*)$", text, re.MULTILINE)
    if "response_format" in payload:
        return Reply(
            completion(json.dumps({"recommendations": [*shown[:9], "Glass Harbour"]})),
        )
    if payload["seed"] % 4 == 0:
        return Reply(completion("I cannot say what this user would like."))
    return Reply(completion("\n".join([*shown[:9], shown[0]])))


@pytest.mark.parametrize(
    "workers",
    [[], pytest.param(["-n2"], marks=pytest.mark.slow)],
    ids=["alone", "workers"],
)
def test_lists_as_json_and_as_text_can_be_compared(
    faulty: FaultServer,
    pytester: pytest.Pytester,
    workers: list[str],
) -> None:
    faulty.answer = talking
    plain, asjson = "openai:tiny", "openai:tiny?answer=json"
    done, record = run(pytester, plain, f"--recsys-model={asjson}", *workers)
    schemas = [payload for payload in faulty.asked if "response_format" in payload]
    silent = [p for p in faulty.asked if p not in schemas and p["seed"] % 4 == 0]
    asked = {plain: len(faulty.asked) - len(schemas), asjson: len(schemas)}
    assert 0 < len(silent) < asked[plain]
    found = record["readings"]
    assert {model: read["answers"] for model, read in found.items()} == asked
    assert {model: read["unreadable"] for model, read in found.items()} == {
        plain: len(silent),
        asjson: 0,
    }
    listed = asked[plain] - len(silent)
    assert found[plain]["entries"]["duplicate"] == listed
    assert found[asjson]["entries"]["unknown"] == asked[asjson]
    assert found[asjson]["entries"]["unparsed"] == 0
    printed = re.sub(r"\n    ", " ", done.stdout.str())
    titles = 10 * listed
    told = f"{listed} of {asked[plain]} name a title; of {titles} titles {listed} twice"
    assert f"answers of {plain}: {told}" in printed
    told = "{0} of {0} name a title; of {0}0 titles {0} made up".format(asked[asjson])
    assert f"answers of {asjson}: {told}" in printed


def test_a_schema_of_the_offered_titles_leaves_nothing_to_read(
    faulty: FaultServer,
    pytester: pytest.Pytester,
) -> None:
    def obedient(payload: dict[str, Any]) -> Reply:
        schema = payload["response_format"]["json_schema"]["schema"]
        titles = schema["properties"]["recommendations"]["items"]["enum"]
        return Reply(completion(json.dumps({"recommendations": titles[9::-1]})))

    faulty.answer = obedient
    _, record = run(pytester, "openai:tiny?answer=offered")
    (found,) = record["readings"].values()
    assert found["unreadable"] == 0
    assert (
        found["entries"]["candidate"]
        == sum(found["entries"].values())
        == 10 * found["answers"]
    )

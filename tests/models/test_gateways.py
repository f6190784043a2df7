"""What gateways and older servers do differently: headers, versions of the API,
streams, calls of tools.
"""

import json
from typing import Any

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Completion, Message, Prompt, Usage
from tests.models.faults import FaultServer, Reply, completion
from tests.support.llm_api import Endpoint, OpenAIModel
from tests.support.safety import redact

KEY, TENANT = "sk-sentinel-0123456789", "tenant-sentinel-98765"


def asked(**parameters: Any) -> tuple[Completion, OpenAIModel]:
    model = OpenAIModel("tiny", max_wait=0, **parameters)
    (answer,) = model.complete([Prompt((Message("user", "Name two films."),))])
    model.close()
    return answer, model


def events(*pieces: Any, end: str = "data: [DONE]\n\n") -> Reply:
    told = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
    text = ":kept alive\n\n" + "".join(told) + end
    return Reply(text.encode(), headers={"content-type": "text/event-stream"})


def chunk(delta: Any, **more: Any) -> dict[str, Any]:
    return {
        "model": "tiny-1",
        "choices": [{"index": 0, "delta": delta, **more}],
        "usage": None,
    }


WORDS = [chunk({"role": "assistant", "reasoning_content": "Hm."}), chunk({"content": "1. He"}),
         chunk({"content": "at\n2. Séven"}), chunk({}, finish_reason="stop")]  # fmt: skip
USED = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 6}}


def test_headers_of_ones_own_are_sent_and_never_shown(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS",
        f"X-Tenant: {TENANT}\nAuthorization: Basic {KEY}",
    )
    faulty.answer = lambda _: Reply({"error": f"no {TENANT} here, nor {KEY}"}, 403)
    answer, _ = asked()
    assert faulty.headers[0]["x-tenant"] == TENANT
    assert faulty.headers[0]["authorization"] == f"Basic {KEY}"
    assert answer.error is not None
    assert (
        "no [OPENAI_CUSTOM_HEADERS] here, nor [OPENAI_CUSTOM_HEADERS]" in answer.error
    )
    assert TENANT not in redact(f"a log: {TENANT!r}")


def test_headers_go_encrypted_and_may_stand_for_a_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Key: {KEY}")
    assert Endpoint("https://gateway.example/v1").key() is None
    with pytest.raises(
        RecommenderError,
        match="OPENAI_CUSTOM_HEADERS would go unencrypted",
    ):
        Endpoint("http://gateway.example/v1").key()


def test_an_older_address_of_azure_gets_its_version_and_its_key(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = faulty.url.removesuffix("/v1") + "/openai/deployments/mine"
    monkeypatch.setenv("OPENAI_BASE_URL", where)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(RecommenderError, match="set OPENAI_API_VERSION, as in"):
        asked()
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    paths: list[str] = []
    faulty.at = paths.append
    assert asked()[0].text == "1. Heat"
    assert paths == ["/openai/deployments/mine/chat/completions?api-version=2024-10-21"]
    assert faulty.headers[0]["api-key"] == KEY
    assert "authorization" not in faulty.headers[0]


def test_a_stream_that_nobody_asked_for_is_put_together(faulty: FaultServer) -> None:
    faulty.answer = lambda _: events(*WORDS, USED)
    answer, _ = asked()
    assert (answer.text, answer.finish_reason) == ("1. Heat\n2. Séven", "stop")
    assert (answer.usage, answer.model) == (Usage(7, 6), "tiny-1")


def test_what_a_stream_said_was_written_is_not_taken_back(faulty: FaultServer) -> None:
    later = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 1}}
    faulty.answer = lambda _: events(*WORDS, USED, later)
    assert asked()[0].usage == Usage(7, 6)


def test_a_stream_that_breaks_off_is_no_answer(faulty: FaultServer) -> None:
    faulty.answer = lambda _: events(*WORDS[:-1], end="")
    assert "a stream that ends before the answer does" in str(asked()[0].error)
    faulty.answer = lambda _: events(WORDS[0], {"error": {"message": "overloaded"}})
    assert "overloaded" in str(asked()[0].error)


@pytest.mark.parametrize("counts", [True, False])
def test_an_endpoint_that_only_streams_is_asked_for_a_stream(
    faulty: FaultServer,
    counts: bool,
) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        if not payload.get("stream"):
            return Reply(
                {"error": {"message": "This model only supports stream mode"}},
                400,
            )
        if not counts and "stream_options" in payload:
            return Reply({"error": {"message": "unknown field stream_options"}}, 400)
        return events(*WORDS, *[USED] * counts)

    faulty.answer = answer
    answer_, model = asked()
    assert answer_.text == "1. Heat\n2. Séven"
    assert answer_.usage == (Usage(7, 6) if counts else None)
    assert any("in streams alone" in note for note in model.notes)


def test_a_stream_of_the_responses_api_is_read(faulty: FaultServer) -> None:
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": "1. Heat"}]},
    ]
    whole = {"output": output, "status": "completed", "model": "tiny-1"}
    faulty.answer = lambda _: events(
        {"type": "response.output_text.delta", "delta": "1."},
        {"type": "response.completed", "response": whole},
    )
    assert asked(api="responses")[0].text == "1. Heat"


def test_what_is_written_into_a_call_of_a_tool_is_the_answer(
    faulty: FaultServer,
) -> None:
    told = '{"recommendations": ["Heat"]}'
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "answer", "arguments": told},
    }

    def called(*calls: Any, **more: Any) -> Completion:
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": list(calls),
            **more,
        }
        body = completion(finish_reason="tool_calls", message=message)
        faulty.answer = lambda _: Reply(body)
        return asked()[0]

    assert called(call).text == told
    assert (
        called({"function": {"arguments": {"recommendations": ["Heat"]}}}).text == told
    )
    assert "called 2 tools" in str(called(call, call).error)
    assert called(call, content="1. Seven").text == "1. Seven"
    pieces = [{"id": "1", "function": {"name": "answer", "arguments": told[:9]}},
              {"index": 0, "function": {"arguments": told[9:]}}]  # fmt: skip
    faulty.answer = lambda _: events(
        *(chunk({"tool_calls": [piece]}) for piece in pieces),
        chunk({}, finish_reason="tool_calls"),
    )
    assert asked()[0].text == told


def test_an_answer_in_the_reasoning_alone_is_none_and_says_so(
    faulty: FaultServer,
) -> None:
    message = {"role": "assistant", "content": "", "reasoning_content": "1. Heat"}
    faulty.answer = lambda _: Reply(completion(message=message))
    answer, _ = asked()
    assert answer.text is None
    assert "wrote in its reasoning alone" in str(answer.error)


def test_which_limit_ended_a_slow_first_answer_is_said(faulty: FaultServer) -> None:
    import threading

    stop = threading.Event()

    def answer(_: dict[str, Any]) -> Reply:
        stop.wait(5)
        return Reply(completion())

    faulty.answer = answer
    model = OpenAIModel("tiny", max_wait=0.3, timeout=4)
    (slow,) = model.complete([Prompt((Message("user", "Name a film."),))])
    stop.set()
    model.close()
    assert "gave no first answer within recsys_max_wait; raise it" in str(slow.error)

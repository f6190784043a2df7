"""Models that think before they answer, behind both APIs, alone and in whole runs."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Completion, Message, Prompt, Usage
from tests.models.faults import FaultServer, Reply, completion
from tests.models.thinkers import (
    CACHED,
    GPT5,
    THOUGHTS,
    VLLM,
    WRITTEN,
    Endpoint,
    RefusedError,
)
from tests.plugin.conftest import record_of
from tests.support.calls import (
    TextSubject,
    _request,
    completion_of,
    plain_completion,
    subject,
)
from tests.support.llm_api import FOR_THINKING, OpenAIModel, chat_api
from tests.support.requests import PROMPT

ASKED = Prompt(
    (Message("system", "Be brief."), Message("user", "Rank:\n1. Heat (1995)")),
)
SCHEMA = {"type": "object", "properties": {"best": {"type": "string"}}}
Open = Callable[[Endpoint], Endpoint]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Starts an endpoint, as that of the environment."""
    with ExitStack() as stack:

        def start(endpoint: Endpoint) -> Endpoint:
            stack.enter_context(endpoint)
            monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
            return endpoint

        yield start


def ask(spec: str, prompt: Prompt = ASKED) -> tuple[Completion, OpenAIModel]:
    model = OpenAIModel.from_spec(spec)
    answer = model.complete([prompt])[0]
    model.close()
    return answer, model


def usage(thought: int) -> Usage:
    """What gpt-5 reports for an answer to `ASKED`."""
    prompt = CACHED + len(ASKED.messages[-1].content) // 4
    return Usage(prompt, thought + WRITTEN, thought, CACHED)


def stored_of(answer: Completion) -> Any:
    """An answer as the cache keeps it."""
    return plain_completion(answer)


@pytest.mark.parametrize(
    ("name", "most"),
    [("gpt-5", FOR_THINKING), ("gpt-5-mini-2025-08-07", FOR_THINKING), ("o3", FOR_THINKING),
     ("o4-mini", FOR_THINKING), ("openai/gpt-5.1", FOR_THINKING), ("openai/gpt-oss-20b", FOR_THINKING),
     ("deepseek-ai/DeepSeek-R1", FOR_THINKING), ("Qwen/Qwen3-4B-Thinking-2507", FOR_THINKING),
     ("any?reasoning_effort=low", FOR_THINKING), ("gpt-5.1?reasoning_effort=none", 1024),
     ("gpt-5?max_tokens=99", 99), ("gpt-5-chat-latest", 1024), ("gpt-4o", 1024), ("gpt-35-turbo", 1024),
     ("gpt-4.1-mini", 1024), ("Qwen/Qwen2.5-7B-Instruct", 1024), ("grok-4-fast-non-reasoning", 1024),
     ("yolo3", 1024)],
)  # fmt: skip
def test_a_model_that_thinks_has_room_for_it(name: str, most: int) -> None:
    model = OpenAIModel.from_spec(f"openai:{name}")
    assert model.identity["sampling"]["max_tokens"] == most
    assert (
        model.timeout == (300 if most == FOR_THINKING else 60) or "max_tokens" in name
    )


def test_the_key_of_an_answer_has_what_is_given_and_nothing_else() -> None:
    plain = {"temperature": None, "max_tokens": 1024, "top_p": None}
    assert OpenAIModel("tiny").identity["sampling"] == plain
    given = OpenAIModel.from_spec(
        "tiny?max_tokens=1024&reasoning_effort=none&api=responses"
        "&extra_body.chat_template_kwargs.enable_thinking=false&extra_body.top_k=20&extra_body.mode=fast",
    )
    assert given.identity["sampling"] == {
        **plain, "reasoning_effort": "none", "api": "responses",
        "extra_body": {
            "chat_template_kwargs": {"enable_thinking": False}, "top_k": 20, "mode": "fast",
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        (
            "m?reasoning_effort=most",
            "'most' is not one of 'none', 'minimal', 'low', 'medium', 'high'",
        ),
        ("m?api=completions", "'completions' is not one of 'chat', 'responses'"),
        (
            "m?extra_body=1",
            "extra_body must be fields, each given as extra_body.KEY=VALUE",
        ),
        ("m?extra_body.=1", "'extra_body.' is not a field of its own"),
        ("m?extra_body.a=1&extra_body.a.b=2", "is not a field of its own"),
        ("m?extra_body.a.b=2&extra_body.a=1", "is not a field of its own"),
        ("m?extra_body.api_key=hunter2secret", "looks like a key, and a spec is shown"),
        ("m?extra_body.temperature=1", "extra_body.temperature would replace a field"),
        ("m?extra_body.logprobs=true", "extra_body.logprobs asks for what is not read"),
        (
            "m?extra_body.top_logprobs=2",
            "extra_body.top_logprobs asks for what is not read",
        ),
        ("m?extra_body.n=2", "extra_body.n asks for what is not read"),
        ("m?extra_body.stream=true", "extra_body.stream asks for what is not read"),
        ("m?extrabody.a=1", "did you mean 'extra_body'"),
    ],
)
def test_a_bad_parameter_is_named(spec: str, says: str) -> None:
    with pytest.raises(RecommenderError) as raised:
        OpenAIModel.from_spec(spec)
    assert says in str(raised.value)


def test_gpt_5_is_asked_as_it_wants_to_be(
    at: Open,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = at(GPT5())
    model = OpenAIModel("gpt-5", temperature=0.0, top_p=0.5, concurrency=1)
    answers = model.complete([ASKED, ASKED])
    model.close()
    assert [answer.text for answer in answers] == ["1. Heat (1995)"] * 2
    assert len(server.asked) == 4 + 2, "each field is refused once"
    _, sent = server.asked[-1]
    assert set(sent) == {"model", "messages", "max_completion_tokens"}
    assert answers[0].usage == usage(1500)
    assert model.notes == caplog.messages
    assert (
        f"{server.url} takes no temperature for gpt-5: the given one was not used"
        in model.notes
    )
    assert (
        f"{server.url} takes no top_p for gpt-5: the given one was not used"
        in model.notes
    )


@pytest.mark.parametrize(
    "says",
    [
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 1.9",
        "temperature must be in the range [0, 1]",
        "temperature 1.9 is not supported, the range is 0 to 1",
        "Input should be less than or equal to 1.5: temperature",
        "temperature is too high: 1.9 is not supported",
    ],
)
def test_a_temperature_out_of_range_stays_an_error(
    faulty: FaultServer,
    says: str,
) -> None:
    faulty.answer = lambda payload: (
        Reply({"error": {"message": says}}, 400)
        if "temperature" in payload
        else Reply(completion())
    )
    answer, model = ask("m?temperature=1.9")
    assert answer.error == f"HTTP 400: {says}"
    assert model.notes == []


@pytest.mark.parametrize(
    "says",
    [
        {"error": {"message": "Unsupported parameter: 'temperature' is not supported with this model."}},
        {"error": {"message": "gpt-5 models don't support temperature=0.0. Only temperature=1 is supported."}},
        {"error": {"message": "`temperature` may only be set to 1 when thinking is enabled."}},
        {"error": {"message": "`temperature` is deprecated for this model."}},
        {"error": {"message": "invalid temperature: only 1 is allowed for this model"}},
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"], "msg": "Extra inputs"}]},
    ],
)  # fmt: skip
def test_other_words_for_the_same_refusal_are_understood(
    faulty: FaultServer,
    says: dict[str, Any],
) -> None:
    faulty.answer = lambda payload: (
        Reply(says, 400) if "temperature" in payload else Reply(completion())
    )
    assert ask("m?temperature=0")[0].text == "1. Heat"


def test_an_effort_that_a_model_has_not_stays_an_error(at: Open) -> None:
    server = at(GPT5())
    answer, _ = ask("gpt-5?reasoning_effort=xhigh")
    assert "Supported values are: 'minimal', 'low', 'medium', and 'high'" in str(
        answer.error,
    )
    assert ask("gpt-5?reasoning_effort=low")[0].usage == usage(200)
    assert server.asked[-1][1]["reasoning_effort"] == "low"


@pytest.mark.parametrize(
    "server",
    [GPT5(), GPT5(only_responses=True), VLLM(), VLLM("reasoning")],
)
def test_a_limit_spent_on_thinking_is_a_failed_call_that_is_paid(
    at: Open,
    server: Endpoint,
) -> None:
    at(server)
    answer, _ = ask("gpt-5?max_tokens=1000")
    assert answer.text is None
    assert answer.finish_reason == "length"
    assert (
        "the model thought until no token was left for its answer (1000 tokens)"
        in str(answer.error)
    )
    assert "max_tokens=16384" in str(answer.error)
    assert "reasoning_effort=low" in str(answer.error)
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 1000
    stored = stored_of(answer)
    assert (stored["error"], completion_of(stored).usage) == (
        answer.error,
        answer.usage,
    )


def test_more_room_for_thinking_is_more_than_there_was(at: Open) -> None:
    at(GPT5())
    answer, _ = ask("gpt-5?max_tokens=1500")
    assert "max_tokens=16384" in str(answer.error)
    spent = {
        "choices": [
            {"message": {"content": "", "reasoning": "Hm."}, "finish_reason": "length"},
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 16384,
            "total_tokens": 16393,
        },
    }
    assert "such as max_tokens=32768, or" in str(
        chat_api.read(json.dumps(spent).encode()).error,
    )


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", None])
def test_thinking_is_no_part_of_the_answer(at: Open, field: str | None) -> None:
    at(VLLM(field))
    answer, _ = ask("qwen3?max_tokens=4000")
    assert stored_of(answer)["text"].strip() == "1. Heat (1995)"
    spent, _ = ask("qwen3")
    stored = stored_of(spent)
    assert "max_tokens" in stored["error"]
    assert stored["usage"] == [300, 1024]
    assert "text" not in stored
    unthought, _ = ask("qwen3?extra_body.chat_template_kwargs.enable_thinking=false")
    assert stored_of(unthought)["text"] == "1. Heat (1995)"


def test_fields_of_ones_own_are_sent_and_stand_in_a_batch(at: Open) -> None:
    server = at(VLLM())
    spec = "qwen3?extra_body.chat_template_kwargs.enable_thinking=false&extra_body.top_k=20"
    answer, model = ask(spec, replace(ASKED, schema=SCHEMA))
    assert answer.text == '{"best": "Heat"}'
    _, sent = server.asked[-1]
    assert (sent["top_k"], sent["chat_template_kwargs"]) == (
        20,
        {"enable_thinking": False},
    )
    assert model.body(replace(ASKED, schema=SCHEMA)) == sent


@pytest.mark.parametrize("spec", ["gpt-5", "gpt-5?api=responses"])
def test_a_model_of_the_responses_api_is_asked_there(at: Open, spec: str) -> None:
    server = at(GPT5(only_responses=True))
    joint = "&" if "?" in spec else "?"
    answer, model = ask(f"{spec}{joint}temperature=0&reasoning_effort=low")
    assert answer == Completion(
        "1. Heat (1995)",
        usage(200),
        "stop",
        "gpt-5-2025-08-07",
    )
    path, sent = server.asked[-1]
    assert path == "responses"
    assert sent == {
        "model": "gpt-5", "instructions": "Be brief.", "store": False,
        "input": [{"role": "user", "content": "Rank:\n1. Heat (1995)"}],
        "max_output_tokens": FOR_THINKING, "reasoning": {"effort": "low"},
    }  # fmt: skip
    asked = [path for path, _ in server.asked]
    assert asked == ["chat/completions"] * ("?" not in spec) + ["responses"] * 2
    noted = any("in the Responses API alone" in note for note in model.notes)
    assert noted == ("api" not in spec)
    assert (
        model.identity
        == OpenAIModel.from_spec(
            f"{spec}{joint}temperature=0&reasoning_effort=low",
        ).identity
    ), "a recorded answer is found again, however it was asked"


def test_the_responses_api_is_held_to_a_schema_sees_images_and_refuses(
    at: Open,
) -> None:
    server = at(GPT5(only_responses=True))
    answer, _ = ask("gpt-5?api=responses", replace(ASKED, schema=SCHEMA))
    assert answer.text == '{"best": "Heat"}'
    assert server.asked[-1][1]["text"] == {
        "format": {
            "type": "json_schema",
            "name": "answer",
            "strict": True,
            "schema": SCHEMA,
        },
    }
    pixel = "data:image/png;base64,AAAA"
    shown = Prompt((Message("user", "What is it?", (pixel,)),))
    assert ask("gpt-5?api=responses", shown)[0].text == "1. Heat (1995)"
    assert server.asked[-1][1]["input"][0]["content"] == [
        {"type": "input_image", "image_url": pixel, "detail": "auto"},
        {"type": "input_text", "text": "What is it?"},
    ]
    refused = ask("gpt-5?api=responses", Prompt((Message("user", "Please refuse."),)))[
        0
    ]
    assert (refused.text, refused.error) == ("", "refused: I won't.")
    assert refused.usage is not None


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"output": [], "status": "failed", "error": {"code": "server_error", "message": "down"}}, "down"),
        ({"output": [None, {"type": "message", "content": None}], "usage": 3}, "wrote nothing"),
        ({"output": [], "incomplete_details": {"reason": "content_filter"}}, "content_filter"),
        ({"output": [{"type": "reasoning"}], "incomplete_details": {"reason": "max_output_tokens"}},
         "the model thought until no token was left for its answer; give it more"),
    ],
)  # fmt: skip
def test_an_odd_answer_of_the_responses_api_is_a_failed_call(
    faulty: FaultServer,
    body: dict[str, Any],
    says: str,
) -> None:
    faulty.answer = lambda payload: Reply(body)
    answer, _ = ask("m?api=responses&max_wait=0")
    assert not answer.text
    assert says in str(answer.error)


def test_an_endpoint_that_has_neither_api_is_asked_for_both_and_told_of_once(
    at: Open,
) -> None:
    server = at(Nothing())
    answer, model = ask("m")
    assert [path for path, _ in server.asked] == ["chat/completions", "responses"]
    assert str(answer.error).startswith("HTTP 404 (check the model's name")
    assert str(answer.error).endswith(": There is nothing here.")
    assert model.notes == []
    assert ask("m?api=chat")[0].error == answer.error
    assert [path for path, _ in server.asked][2:] == ["chat/completions"]


class Nothing(Endpoint):
    """An address below which nothing is."""

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        raise RefusedError("There is nothing here.", 404)


def test_a_batch_of_the_responses_api_is_written_and_read(at: Open) -> None:
    server = at(GPT5(only_responses=True))
    asked = subject(OpenAIModel.from_spec("gpt-5?api=responses"), "gpt-5", PROMPT)
    assert isinstance(asked, TextSubject)
    line = json.loads(_request("gpt-5", asked, asked.prompt_call(ASKED, 0)))
    assert line["url"] == "/v1/responses"
    answer = chat_api.read(json.dumps(server.responses(line["body"])).encode())
    assert answer.text == "1. Heat (1995)"


def test_usage_is_stored_with_its_parts_and_read_without_them() -> None:
    stored = stored_of(Completion("1. Heat", Usage(500, 90, 60, 128)))
    assert stored["usage"] == [500, 90, 60, 128]
    assert completion_of(stored).usage == Usage(500, 90, 60, 128)
    assert stored_of(Completion("1. Heat", Usage(7, 3)))["usage"] == [7, 3]
    assert completion_of({"text": "1. Heat", "usage": [7, 3]}).usage == Usage(7, 3)
    assert Usage.said(7, 3, None, 2) == Usage(7, 3, 0, 2), "what is not said is none"
    assert Usage.said(7, 3, 9, 9) == Usage(16, 12, 9, 9), (
        "a part beyond its whole comes on top of it"
    )
    for odd in (-1, "2", 2.0, True, float("nan"), 10**4000):
        assert Usage.said(7, 3, odd) is Usage.said(7, 3, 0, odd) is None, (
            "an odd part leaves all in doubt"
        )


def suite(
    pytester: pytest.Pytester,
    model: str,
    *options: str,
) -> tuple[str, dict[str, Any]]:
    """A run by the sentence of the README: what it prints, and its record."""
    done = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "-q", "--tb=short",
        f"--recsys-model={model}", "--pyargs", "pytest_recsys_mt.suites.metamorphic",
        "--recsys-users=3", "--recsys-cache=cache", "--recsys-json=record.json",
        "--recsys-html=report.html", "--recsys-inconclusive=skip", *options,
    )  # fmt: skip
    assert done.ret in (0, 1), f"{done.stdout}\n{done.stderr}"
    return " ".join(done.stdout.str().split()), record_of(pytester.path / "record.json")


@pytest.mark.parametrize(
    ("only_responses", "given", "least"),
    [
        pytest.param(False, ["gpt-5"], 100, marks=pytest.mark.slow),
        pytest.param(False, ["gpt-5", "-k", "rating_scale"], 6, marks=pytest.mark.slow),
        (True, ["gpt-5?temperature=0", "-k", "rating_scale"], 6),
    ],
)
def test_the_suite_runs_with_gpt_5_and_its_bill_is_known(
    at: Open,
    pytester: pytest.Pytester,
    only_responses: bool,
    given: list[str],
    least: int,
) -> None:
    server = at(GPT5(only_responses=only_responses))
    (pytester.path / "prices.toml").write_text(
        '["gpt-5"]\ninput = 1.25\noutput = 10\ncached_input = 0.125\n',
    )
    given = [*given, "--recsys-prices=prices.toml"]
    shown, record = suite(pytester, *given)
    calls = record["calls"]
    assert "error" not in {row["status"] for row in record["results"]}, shown
    assert calls["failed"] == 0
    billed = calls["made"] + calls["again"]
    assert billed == len(server.answered) >= least
    assert calls["reasoning_tokens"] == billed * THOUGHTS["medium"]
    assert calls["cached_tokens"] == billed * CACHED
    assert calls["completion_tokens"] == billed * (THOUGHTS["medium"] + WRITTEN)
    dollars = (
        (calls["prompt_tokens"] - calls["cached_tokens"]) * 1.25
        + calls["cached_tokens"] * 0.125
        + calls["completion_tokens"] * 10
    ) / 1e6
    assert calls["usd"] == pytest.approx(dollars)
    told = f"tokens ({calls['reasoning_tokens']} of thinking, {calls['cached_tokens']} of the provider's"
    assert told in shown
    noted = (
        f"note: {server.url} takes no temperature for gpt-5: the given one was not used"
    )
    assert (noted in shown) == ("temperature" in given[0])
    assert (noted.removeprefix("note: ") in record["notes"]) == (
        "temperature" in given[0]
    )
    page = (pytester.path / "report.html").read_text()
    assert f"<dt>of them of thinking</dt><dd>{calls['reasoning_tokens']:,}</dd>" in page
    asked = len(server.asked)
    _, again = suite(pytester, *given, "--recsys-mode=replay")
    assert len(server.asked) == asked, "recorded answers are found without asking"
    assert again["calls"]["made"] == again["calls"]["failed"] == 0


@pytest.mark.slow
def test_the_suite_runs_with_vllm_and_says_what_to_do_without_room(
    at: Open,
    pytester: pytest.Pytester,
) -> None:
    at(VLLM())
    few = ("-k", "rating_scale")
    shown, record = suite(pytester, "openai:Qwen/Qwen3-8B", *few)
    assert record["calls"]["made"] == 0
    assert "the model thought until no token was left" in shown
    spec = "openai:Qwen/Qwen3-8B?extra_body.chat_template_kwargs.enable_thinking=false"
    _, record = suite(pytester, spec, *few)
    assert record["calls"]["failed"] == 0
    assert record["calls"]["made"] > 0
    _, thinking = suite(pytester, "openai:Qwen/Qwen3-8B?max_tokens=4000", *few)
    assert thinking["calls"]["failed"] == 0
    assert thinking["calls"]["completion_tokens"] == thinking["calls"]["made"] * (
        1500 + WRITTEN
    )
    assert "The Room" not in json.dumps(thinking["results"]), "thinking is no answer"

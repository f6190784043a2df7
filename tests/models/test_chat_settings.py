"""The system message, stop texts, and the file of settings of chat models."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Message, Prompt
from tests.models.faults import FaultServer, Reply, completion
from tests.models.test_openai_runs import first_candidates, run
from tests.support.llm_api import OpenAIModel
from tests.support.llm_local import HFModel

importlib.import_module("pytest_recsys_mt.llm.api.transport")

PROMPT = Prompt((Message("user", "Name three films, one a line."),))


@pytest.fixture(autouse=True)
def _endpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")


def body(spec: str) -> dict[str, Any]:
    return OpenAIModel.from_spec(f"openai:tiny?{spec}").body(PROMPT)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("stop=%0A%0A", ["\n\n"]),
        ('stop=["END", "4."]', ["END", "4."]),
        ("stop=[END]", ["[END]"]),
    ],
)
def test_stop_texts_are_sent_and_part_of_the_key(
    spec: str, expected: list[str]
) -> None:
    assert body(spec)["stop"] == expected
    with_stop = OpenAIModel.from_spec(f"openai:tiny?{spec}").identity
    without = OpenAIModel.from_spec("openai:tiny").identity
    assert with_stop["sampling"].pop("stop") == expected
    assert with_stop == without


def test_a_file_gives_what_a_spec_gives_and_other_fields() -> None:
    Path("chat.toml").write_text(
        'system = """You work in a shop."""\n'
        'temperature = 0.5\njson = true\nstop = ["END"]\n'
        "[provider]\norder = ['a', 'b']\n",
        encoding="utf-8",
    )
    from_file = OpenAIModel.from_spec("openai:tiny?request=chat.toml")
    from_spec = OpenAIModel.from_spec(
        "openai:tiny?system=You work in a shop.&temperature=0.5&json=true&stop=END"
        '&extra_body.provider.order=["a", "b"]'
    )
    assert from_file.body(PROMPT) == from_spec.body(PROMPT)
    assert from_file.identity == from_spec.identity
    assert from_file.system == from_spec.system == "You work in a shop."


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ('stop=["a", 1]', r"none of them empty"),
        ("stop=END&api=responses", r"left out with api=responses"),
        ("request=none.toml", r"'none.toml' cannot be read"),
        ("request=chat.toml&temperature=0", r"gives 'temperature', and so does"),
        ("extra_body.stop=END", r"use .* system, stop"),
    ],
)
def test_settings_that_contradict_are_refused(spec: str, error: str) -> None:
    Path("chat.toml").write_text("temperature = 0.5\n", encoding="utf-8")
    with pytest.raises(RecommenderError, match=error):
        OpenAIModel.from_spec(f"openai:tiny?{spec}")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (
            'service_tier = "flex"',
            r"'extra_body.service_tier', and so does 'chat.toml'",
        ),
        ('request = "b.toml"', r"'request' of 'chat.toml': .* names no other file"),
        ("cpus = 2", r"'cpus' of 'chat.toml': .* in the spec alone"),
        ("seen = 2020-01-01", r"'seen' of 'chat.toml' is datetime.* must be a text"),
        ("[a]\nb = [1, nan]", r"'a.b.1' of 'chat.toml' is nan, and must be .* finite"),
        ("temperature = nan", r"'temperature' of 'chat.toml' is nan"),
        ("stop = 3", r"'stop' of 'chat.toml' is 3, .* a text, or a list of texts"),
        ("stop = ['a', 3]", r"'stop' of 'chat.toml' is \['a', 3\]"),
        ("system = 3", r"'system' of 'chat.toml' is 3, and must be a text"),
        ('temperature = "hot"', r"temperature='hot' is not a number"),
        ('json = "maybe"', r"json='maybe' is not one of"),
        ("messages = []", r"'messages' of 'chat.toml' would replace a field"),
        ("n = 2", r"'n' of 'chat.toml' asks for what is not read"),
        ('api_key = "a"', r"'api_key' of 'chat.toml' looks like a key"),
        ("[extra_body]\nn = 2", r"'extra_body' of 'chat.toml': .* their own names"),
    ],
)
def test_an_error_on_a_file_names_its_key(settings: str, error: str) -> None:
    Path("chat.toml").write_text(settings, encoding="utf-8")
    spec = "openai:tiny?request=chat.toml&extra_body.service_tier=default"
    with pytest.raises(RecommenderError, match=error):
        OpenAIModel.from_spec(spec)


def test_a_file_may_begin_with_a_byte_order_mark() -> None:
    Path("chat.toml").write_text('system = "a"', encoding="utf-8-sig")
    assert OpenAIModel.from_spec("openai:tiny?request=chat.toml").system == "a"


def test_an_endpoint_that_takes_no_stop_is_asked_without_and_a_note_says_so(
    faulty: FaultServer,
) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        if "stop" in payload:
            error = {"message": "Unsupported parameter: 'stop'", "param": "stop"}
            return Reply({"error": error}, 400)
        return Reply(completion("Alien"))

    faulty.answer = answer
    model = OpenAIModel.from_spec("openai:tiny?stop=END&max_wait=0")
    assert [each.text for each in model.complete([PROMPT])] == ["Alien"]
    assert any("takes no stop for tiny" in note for note in model.notes)


@pytest.mark.parametrize("mode", ["auto", "replay"])
def test_a_run_of_kept_answers_notes_what_the_endpoint_did_not_take(
    faulty: FaultServer, pytester: pytest.Pytester, mode: str
) -> None:
    def answer(payload: dict[str, Any]) -> Reply:
        for refused in ("stop", "seed"):
            if refused in payload:
                error = {"message": f"Unsupported parameter: '{refused}'"}
                return Reply({"error": error}, 400)
        return first_candidates(payload)

    faulty.answer = answer
    model = "openai:tiny?max_wait=0&stop=END"
    _, first = run(pytester, model)
    asked = len(faulty.asked)
    _, again = run(pytester, model, f"--recsys-mode={mode}")
    assert len(faulty.asked) == asked
    assert again["notes"] == first["notes"]
    assert [note for note in again["notes"] if "takes no stop for tiny" in note]
    assert [note for note in again["notes"] if "takes no seed" in note]


def test_an_answer_has_the_notes_of_its_own_call_alone(faulty: FaultServer) -> None:
    faulty.answer = lambda payload: (
        Reply({"error": {"message": "no json_schema here"}}, 400)
        if "response_format" in payload
        else Reply(completion("Alien"))
    )
    model = OpenAIModel("tiny", concurrency=1)
    with_schema = replace(PROMPT, schema={"type": "object"})
    notes = [each.notes for each in model.complete([with_schema, PROMPT])]
    assert notes == [tuple(model.notes), ()]
    assert "takes no JSON schema" in model.notes[0]


def test_every_call_of_a_run_begins_with_the_system_message(
    faulty: FaultServer, pytester: pytest.Pytester
) -> None:
    faulty.answer = first_candidates
    run(pytester, "openai:tiny?max_wait=0&system=You work in a shop.")
    firsts = [payload["messages"][0] for payload in faulty.asked]
    assert firsts
    system = {"role": "system", "content": "You work in a shop."}
    assert all(first == system for first in firsts)
    # Another system message is another question: nothing kept answers it.
    asked = len(faulty.asked)
    _, again = run(pytester, "openai:tiny?max_wait=0&system=You work in a library.")
    assert len(faulty.asked) == 2 * asked
    assert again["calls"]["cached"] == 0


@pytest.mark.model
def test_a_local_model_reads_the_system_message_and_ends_at_a_stop(
    smollm_folder: Path,
) -> None:
    plain = HFModel(str(smollm_folder), max_tokens=24, device="cpu", exact=True)
    (answer,) = plain.complete([PROMPT])
    assert answer.text is not None
    middle = answer.text[len(answer.text) // 2 :][:3]
    ending = HFModel(
        str(smollm_folder), max_tokens=24, device="cpu", exact=True, stop=middle
    )
    (ended,) = ending.complete([PROMPT])
    assert ended.text == answer.text[: answer.text.index(middle)]
    assert ended.finish_reason == "stop"
    assert ended.usage is not None
    assert answer.usage is not None
    assert ended.usage.completion_tokens < answer.usage.completion_tokens
    assert ending.identity != plain.identity
    # Its template has a system message of its own, which a given one replaces.
    system = Message("system", "You answer in French. " * 9)
    longer = Prompt((system, *PROMPT.messages))
    assert plain.prompt_tokens(longer) > plain.prompt_tokens(PROMPT)

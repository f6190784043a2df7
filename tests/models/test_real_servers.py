import asyncio
import json

import pytest

from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.models import servers
from tests.support.llm import as_json
from tests.support.llm_api import OpenAIModel

pytestmark = pytest.mark.model


def prompt(text: str = "Name a film.", seed: int = 0) -> Prompt:
    return Prompt((Message("user", text),), seed)


@pytest.fixture(autouse=True)
def _endpoint(llamacpp_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", llamacpp_url)


def test_it_answers_in_order_and_counts_tokens() -> None:
    words = ["red", "green", "blue"]
    model = OpenAIModel("smollm2", temperature=0, max_tokens=12, concurrency=2)
    answers = model.complete([prompt(f"Repeat this word: {word}") for word in words])
    for word, answer in zip(words, answers, strict=True):
        assert answer.error is None
        assert word in (answer.text or "").lower()
        assert answer.usage is not None
        assert 20 < answer.usage.prompt_tokens < 60
        assert 1 <= answer.usage.completion_tokens <= 12
        assert answer.finish_reason in ("stop", "length")
        assert answer.model == "smollm2"


def test_a_seed_gives_its_answer_again() -> None:
    model = OpenAIModel("smollm2", temperature=1, max_tokens=12, concurrency=1)
    first, other, again = model.complete(
        [prompt(seed=1), prompt(seed=2), prompt(seed=1)],
    )
    assert first.text == again.text
    assert first.text != other.text


def test_it_answers_inside_a_running_event_loop() -> None:
    async def main() -> Completion:
        return OpenAIModel("smollm2", max_tokens=4).complete([prompt()])[0]

    assert asyncio.run(main()).text


def test_a_list_as_json_keeps_to_its_schema() -> None:
    model = OpenAIModel(
        "smollm2",
        temperature=1,
        max_tokens=200,
        concurrency=1,
        answer="json",
    )
    asked = [
        as_json(Prompt((Message("user", "Name films."),), seed, k=3))
        for seed in range(3)
    ]
    # Without an end to a title, an answer may also end at its last token.
    ended = [each for each in model.complete(asked) if each.finish_reason == "stop"]
    assert ended
    for answer in ended:
        found = json.loads(answer.text or "")
        assert found.keys() == {"recommendations"}
        assert len(found["recommendations"]) <= 3
        assert all(isinstance(title, str) for title in found["recommendations"])
    assert model.notes == []


def test_an_argument_the_server_refuses_is_an_answer_with_a_reason() -> None:
    (answer,) = OpenAIModel("smollm2", max_tokens=4).complete([prompt("film " * 5000)])
    assert answer.text is None
    assert answer.error is not None
    assert "HTTP 400" in answer.error


@pytest.mark.slow  # a second server of the same dialect
def test_transformers_serve_answers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with servers.transformers_server() as (url, name):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        model = OpenAIModel(name, temperature=0, max_tokens=8)
        (answer,) = model.complete([prompt()])
        model.close()
    assert answer.error is None
    assert answer.text
    assert answer.usage is not None
    assert answer.usage.completion_tokens <= 8

"""A text model answers requests through its prompt and its parser."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import pytest

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.datasets import Dataset
from pytest_recsys_mt.requests import (
    Completion,
    Prompt,
    Recommender,
    Scale,
    TextModel,
    Usage,
)
from pytest_recsys_mt.verdict.answers import Asked, Context
from tests.llm.world import CATALOGUE, HISTORY, request
from tests.support.calls import SCHEMA, TextSubject
from tests.support.llm import NAMES, LLMRecommender
from tests.support.oracles_aggregates import exposure
from tests.support.oracles_judging import kinds
from tests.support.oracles_scores import score_named


class Echo:
    """Answers each prompt with the next of its texts and keeps what it was asked."""

    deterministic = True

    def __init__(self, *texts: str) -> None:
        self.texts = texts
        self.asked: list[Prompt] = []

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        self.asked += prompts
        return [Completion(text) for text in self.texts[: len(prompts)]]


@pytest.fixture
def dataset() -> Dataset:
    rows = pd.DataFrame(
        [("1", "heat", 5.0, 0)],
        columns=["user", "item", "rating", "timestamp"],
    )
    return Dataset("films", CATALOGUE, rows, Scale())


def fitted(
    dataset: Dataset,
    model: TextModel | None = None,
    prompt: str = "person",
    seed: int = 0,
) -> LLMRecommender:
    recommender = LLMRecommender(model or Echo(), prompt)
    recommender.fit(dataset, seed)
    return recommender


def test_a_film_that_was_seen_and_not_shown_is_counted_where_it_stands(
    dataset: Dataset,
) -> None:
    model = Echo("1. Alien\n2. Heat\n3. Casino\n4. Fargo")
    recommender = fitted(dataset, model)
    asked = request(None).replace(seen=("aliens", "heat"))
    assert recommender.render(asked) == recommender.render(
        request(None),
    )  # it is not shown
    (answer,) = recommender.recommend([asked])
    assert answer.items == ("alien", "heat", "casino", "fargo")
    assert [entry.kind for entry in answer.entries] == [
        "candidate",
        "history",
        "history",
        "candidate",
    ]
    one = Asked(asked, (answer,), frozenset({"fargo"}), ("aliens", "heat", *HISTORY))
    context = Context(
        items=CATALOGUE,
        popularity={"alien": 8, "fargo": 2, "heat": 4, "aliens": 4},
    )
    expected = {
        "hit@3": 0.0,
        "hit@4": 1.0,
        "mrr@4": 1 / 4,
        "history_repeats@4": 1 / 2,
        "out_of_candidate@4": 1 / 2,
        "already_seen": 2.0,
        "invalid": 2.0,
        "compliance": 0.0,
        # ln 4, of the two films that are new, less ln 4.
        "log_popularity_difference": 0.0,
    }
    for name, value in expected.items():
        assert score_named(name).of(answer, one, context)[0] == pytest.approx(value), (
            name
        )
    assert kinds(answer, asked, CATALOGUE) == (
        "candidate",
        "history",
        "history",
        "candidate",
    )
    assert exposure([(one, answer)], context, "item_coverage", None).shown.sum() == 2


def test_a_film_that_was_seen_and_not_shown_is_an_answer_in_a_sentence_too(
    dataset: Dataset,
) -> None:
    model = Echo('After "Casino" (1995) you might enjoy "Heat" (1995).')
    (answer,) = fitted(dataset, model).recommend(
        [request(None).replace(seen=("heat",))],
    )
    assert [(entry.item, entry.kind) for entry in answer.entries] == [
        ("heat", "history"),
    ]


def test_a_batch_is_asked_once_and_answered_in_order(dataset: Dataset) -> None:
    model = Echo("1. Heat\n2. Fargo", "Alien, Aliens")
    recommender = fitted(dataset, model)
    assert recommender.reads_text
    assert recommender.deterministic
    first, second = recommender.recommend([request(), request().replace(user="2")])
    assert (first.items, second.items) == (("heat", "fargo"), ("alien", "aliens"))
    assert [
        prompt.messages[0].content.count("User 2 likes") for prompt in model.asked
    ] == [0, 1]
    assert isinstance(recommender, Recommender)


def test_items_are_the_first_k_entries_that_name_something(dataset: Dataset) -> None:
    lines = [
        "Sure!",
        "1. Heat",
        "2. Heat",
        "3. Harbour of Glass",
        "4. Click",
        "5. Up",
        "6. Fargo",
    ]
    text = "\n".join(lines)
    answer = fitted(dataset).read(request(), Completion(text, Usage(3, 4)))
    assert answer.items == ("heat", "heat", "unknown:harbourofglass", "click", "up")
    kinds = [
        "unparsed",
        "candidate",
        "duplicate",
        "unknown",
        "history",
        "catalogue",
        "candidate",
    ]
    assert [entry.kind for entry in answer.entries] == kinds
    assert (answer.text, answer.usage, answer.error) == (text, Usage(3, 4), None)


def test_text_is_sanitized_once(dataset: Dataset) -> None:
    answer = fitted(dataset).read(request(), Completion("1. \x1b[31mHeat\x1b[0m\ud800"))
    assert answer.text == "1. Heat"
    assert answer.entries[0].text == "Heat"


def test_errors_are_passed_on_and_refusals_are_none(dataset: Dataset) -> None:
    recommender = fitted(dataset)
    failed = recommender.read(
        request(),
        Completion(None, Usage(3, 0), error="HTTP 500"),
    )
    assert (failed.items, failed.error, failed.usage) == ((), "HTTP 500", Usage(3, 0))
    empty = recommender.read(
        request(),
        Completion(" \n", finish_reason="content_filter"),
    )
    assert (empty.error, empty.unread) == (None, True)
    refusal = recommender.read(request(), Completion("I cannot help with that."))
    assert (refusal.items, refusal.error) == ((), None)
    assert [entry.kind for entry in refusal.entries] == ["unparsed"]


def test_length_limit_makes_the_last_entry_doubtful(dataset: Dataset) -> None:
    recommender = fitted(dataset)
    text = "1. Heat\n2. Harbour of Gl"
    assert (
        len(recommender.read(request(), Completion(text, finish_reason="stop")).items)
        == 2
    )
    for limit in ("length", "max_tokens", "MAX_TOKENS", "model_length", "SAFETY"):
        cut_off = recommender.read(request(), Completion(text, finish_reason=limit))
        assert cut_off.items == ("heat",)


def test_seed_depends_on_run_messages_and_replicate_alone(dataset: Dataset) -> None:
    recommender = fitted(dataset, seed=7)
    base = recommender.render(request())
    content = [[m.role, m.content] for m in base.messages]
    digest = hashlib.sha256(json.dumps([7, content, 0]).encode()).digest()
    assert base.seed == int.from_bytes(digest[:8], "big") >> 1
    assert recommender.render(request(), 7) == base == recommender.render(request())
    others = [
        recommender.render(request(), 8),
        recommender.render(request().replace(replicate=1)),
        recommender.render(request().replace(k=6)),
    ]
    assert len({base.seed, *(prompt.seed for prompt in others)}) == 4
    assert all(0 <= prompt.seed < 2**63 for prompt in others)


def test_catalogue_dates_the_prompt(dataset: Dataset) -> None:
    content = fitted(dataset, prompt="wok").render(request()).messages[0].content
    assert "released after 2020." in content


def test_prompt_and_fit_are_checked_early() -> None:
    with pytest.raises(RecommenderError, match="'nope'"):
        LLMRecommender(Echo(), "nope")
    with pytest.raises(RecommenderError, match="fit"):
        LLMRecommender(Echo()).read(request(), Completion("1. Heat"))


def test_undeclared_models_are_taken_as_stochastic() -> None:
    class Plain:
        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            return [Completion("Heat") for _ in prompts]

    assert not LLMRecommender(Plain()).deterministic


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, pytest_recsys_mt.llm as llm; "
        "print(sorted({'numpy', 'pandas', 'torch', 'openai', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_the_length_of_the_list_is_part_of_the_question_and_of_its_key(
    dataset: Dataset,
) -> None:
    asks = TextSubject(fitted(dataset), "echo")
    asks.fit(dataset, 0)
    call = asks.call(request(), repeat=False)
    assert call.prompt is not None
    assert (call.prompt.k, call.prompt.choices) == (5, ())
    assert call.content["k"] == 5
    assert "choices" not in call.content


def test_candidates_are_the_choices_of_a_model_that_scores_them(
    dataset: Dataset,
) -> None:
    class Chooser(Echo):
        scores_choices = True

    recommender = fitted(dataset, Chooser("Fargo (1996)\nHeat (1995)"))
    asked = request()
    choices = recommender.render(asked).choices
    content = recommender.render(asked).messages[0].content
    assert len(choices) == len(asked.candidates or ())
    assert all(f". {choice}\n" in f"{content}\n" for choice in choices)
    assert recommender.recommend([asked])[0].items == ("fargo", "heat")
    assert recommender.render(asked.replace(candidates=None)).choices == ()
    edited = recommender.render(asked.replace(edits=(Upper(),)))
    assert edited.choices == tuple(choice.upper() for choice in choices)


@dataclass(frozen=True)
class Upper:
    def __call__(self, text: str, /) -> str:
        return text.upper()


class JSONEcho(Echo):
    """An `Echo` of which lists are asked as JSON."""

    lists_as_json = True


def test_a_list_can_be_asked_for_as_json(dataset: Dataset) -> None:
    plain = fitted(dataset).render(request())
    model = JSONEcho('{"recommendations": ["2. Alien (1979)", "Heat"]}')
    recommender = fitted(dataset, model)
    asked = recommender.render(request())
    assert (plain.schema, plain.k) == (None, 5)
    assert asked.schema == {
        "type": "object",
        "properties": {
            "recommendations": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 5,
            },
        },
        "required": ["recommendations"],
        "additionalProperties": False,
    }
    by_line = ", one per line, without any explanation"
    assert by_line in plain.messages[0].content
    said = asked.messages[0].content.removeprefix(
        plain.messages[0].content.replace(by_line, ""),
    )
    assert said.startswith("\nAnswer with JSON alone: ")
    assert said.count("\n") == 1
    (answer,) = recommender.recommend([request()])
    assert answer.items == ("alien", "heat")


@pytest.mark.parametrize("name", NAMES)
def test_a_candidate_is_found_in_an_edited_prompt_for_json_too(
    dataset: Dataset,
    name: str,
) -> None:
    recommender = fitted(dataset, JSONEcho('["HEAT"]'), name)
    edited = request().replace(edits=(str.upper,))
    (message,) = recommender.render(edited).messages
    assert "ONE PER LINE" not in message.content
    assert recommender.recommend([edited])[0].items == ("heat",)


def test_asking_for_json_is_part_of_the_key_only_where_it_is_asked(
    dataset: Dataset,
) -> None:
    contents = []
    for model in (Echo(), JSONEcho()):
        subject = TextSubject(LLMRecommender(model), "m")
        subject.fit(dataset, 0)
        contents.append(subject.call(request(), repeat=False).content)
    plain, asked = contents
    differing = {
        name for name in {*plain, *asked} if plain.get(name) != asked.get(name)
    }
    assert differing == {"messages", "json_schema", "seed"}
    assert plain["schema"] == asked["schema"] == SCHEMA
    assert plain["schema"] == SCHEMA


def test_edits_of_the_prompt_leave_the_sentence_on_json_as_it_is(
    dataset: Dataset,
) -> None:
    recommender = fitted(dataset, JSONEcho())
    edited = request().replace(edits=(str.upper,))
    (message,) = recommender.render(edited).messages
    question, _, sentence = message.content.rpartition("\n")
    assert question == question.upper()
    assert sentence.startswith("Answer with JSON alone: ")

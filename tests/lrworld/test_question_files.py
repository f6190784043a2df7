"""Questions come back from their file as they were, or not at all."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.suites.lrworld import (
    KINDS,
    LASTFM,
    MEASURES,
    Question,
    header,
    load,
    save,
)


def question(**changes: Any) -> Question:
    fields: dict[str, Any] = {
        "id": "genre-0000",
        "measure": "genre",
        "scale": "knowledgeability",
        "factor": "<entity, attribute>",
        "domain": "movie",
        "shown": {"history": ["Alien (1979)", "Amélie (2001)"]},
        "options": ("Drama", "Comedy", "Horror", "War"),
        "answer": 2,
        "images": ("data:image/png;base64,AA==",),
        "popularity": 12.0,
        "evidence": {"item": "m1"},
    }
    return Question(**{**fields, **changes})


def test_the_measures_are_those_of_the_paper() -> None:
    assert Counter(measure.dataset for measure in MEASURES) == {
        "movielens": 10,
        "netflix": 10,
        "amazon": 11,
    }
    assert len({(measure.dataset, measure.name) for measure in MEASURES}) == 31
    assert Counter(measure.scale for measure in MEASURES) == {
        "association": 3,
        "personalization": 12,
        "knowledgeability": 16,
    }
    # Table 1: measures of each factor.
    assert sorted(Counter(measure.factor for measure in MEASURES).values()) == [2] + [
        3,
    ] * 8 + [5]
    assert all(
        measure.options == (4 if measure.scale == "knowledgeability" else 10)
        for measure in MEASURES
    )
    assert {measure.kind.name for measure in (*MEASURES, *LASTFM)} == set(KINDS)


def test_questions_come_back_from_their_file(tmp_path: Path) -> None:
    questions = (
        question(),
        question(id="genre-0001", answer=0, popularity=None, images=()),
    )
    path = tmp_path / "questions.jsonl"
    save(questions, path, seed=7, settings={"dataset": "tiny"})
    assert load(path) == questions
    assert load(path)[0].right == "Horror"
    first = header(path)
    assert (first["seed"], first["settings"]) == (7, {"dataset": "tiny"})
    again = tmp_path / "again.jsonl"
    save(load(path), again, seed=7, settings={"dataset": "tiny"})
    assert again.read_bytes() == path.read_bytes()


def test_a_file_without_questions_is_one(tmp_path: Path) -> None:
    save((), tmp_path / "none.jsonl")
    assert load(tmp_path / "none.jsonl") == ()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("Horror", "Terror"),
        lambda text: text.replace('"seed":7', '"seed":8'),
        lambda text: text[: text.rindex("\n", 0, -1) + 1],
        lambda text: text + text.splitlines()[1] + "\n",
        lambda text: text[:-20],
    ],
    ids=["a changed option", "another seed", "a line less", "a line more", "cut short"],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "questions.jsonl"
    save((question(), question(id="genre-0001")), path, seed=7)
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(DataError, match=r"questions\.jsonl.*SHA-256.*generate it anew"):
        load(path)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    with pytest.raises(DataError, match=r"other\.jsonl' cannot be read"):
        load(path)
    for text in ("", "[]\n", "{}\n", "no JSON\n"):
        path.write_text(text)
        with pytest.raises(
            DataError,
            match="not the first line of a file of questions",
        ):
            load(path)
    save((), path)
    path.write_text(path.read_text().replace("questions/1", "questions/2"))
    with pytest.raises(
        DataError,
        match="'lrworld-questions/2' is not 'lrworld-questions/1'",
    ):
        load(path)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000])
def test_a_deep_file_is_refused(deep: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(deep)
    with pytest.raises(DataError, match="not the first line of a file of questions"):
        load(path)


@pytest.mark.parametrize("wrong", [[], {}, None, float("nan"), 7])
@pytest.mark.parametrize("name", ["id", "measure", "domain", "factor"])
def test_a_name_that_is_no_text_is_refused(
    name: str,
    wrong: Any,
    tmp_path: Path,
) -> None:
    path = tmp_path / "questions.jsonl"
    asked = question()
    object.__setattr__(asked, name, wrong)
    save([asked], path)
    with pytest.raises(
        DataError,
        match=rf"questions.jsonl:2: not a question: {name} .* is no text",
    ):
        load(path)


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    save((question(),), path)
    fields = json.loads(path.read_text(encoding="utf-8").splitlines()[1])
    from tests.support.suites_lrworld import question as module

    about: dict[str, Any] = {"schema": module.SCHEMA, "seed": None, "settings": {}}
    line = json.dumps({**fields, "answer": 9})
    path.write_text(
        json.dumps({**about, "digest": module._digest(about, [line])}) + f"\n{line}\n",
    )
    with pytest.raises(
        DataError,
        match=r"questions\.jsonl:2: .*answer 9 is not a place among its 4",
    ):
        load(path)


def test_a_question_without_one_right_answer_is_refused() -> None:
    with pytest.raises(DataError, match="not a place among its 4 options"):
        question(answer=4)
    with pytest.raises(DataError, match="two equal options"):
        question(options=("a", "b", "a", "c"))

"""Recorded answers are given to the recorded questions, and to no others."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError, NotApplicable, RecommenderError
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.requests import Item, Rating, Recommendation, Request, Scale
from tests.plugin.conftest import record_of
from tests.support.engine import Split
from tests.support.recommenders import Recorded, resolve
from tests.support.requests import Design

SHARED = Path(__file__).resolve().parents[2].parent / "shared/data/recorded"
LOGGED = {
    "RankZero": {
        "hit@1": 0.245, "hit@5": 0.635, "hit@10": 0.790, "hit@20": 0.985,
        "ndcg@5": 0.4484, "ndcg@10": 0.4983, "ndcg@20": 0.5471,
    },
    "RankFixed": {
        "hit@1": 0.195, "hit@5": 0.580, "hit@10": 0.760, "hit@20": 1.0,
        "ndcg@5": 0.3969, "ndcg@10": 0.4539, "ndcg@20": 0.5138,
    },
}  # fmt: skip

ANN = {
    "user": "ann",
    "history": ["Casino (1995)", "Fargo (1996)"],
    "candidates": ["Toy Story", "Toy Story 2", "Heat (1995)", "Heat (1995)"],
    "target": "Toy Story 2",
    "text": "1. Toy Story 2\n2. Casino\n3. Heat\n4. The Unfilmed",
}
BOB = {
    **ANN,
    "user": 7,
    "history": ["Alien"],
    "target": "Toy Story",
    "text": "1. Toy Story",
}


def written(folder: Path, *rows: object) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", encoding="utf-8")
    return path


def requests_of(path: Path, **design: Any) -> dict[str, Request]:
    cases = Split(load(path), seed=0).cases(
        Design(**{"k": 4, "candidates": 20, **design}),
    )
    return {case.request.user: case.request for case in cases}


def ask(path: Path, request: Request, ranked: str = "all") -> Recommendation:
    return resolve(f"recorded:{path}?ranked={ranked}").recommend([request])[0]  # type: ignore[union-attr]


def test_a_recording_is_a_dataset_with_the_recorded_questions(tmp_path: Path) -> None:
    path = written(tmp_path, ANN, BOB)
    split = Split(load(path), seed=0)
    assert split.held_out == {"ann": {"Toy Story 2"}, "7": {"Toy Story"}}
    request = requests_of(path)["ann"]
    assert [rating.item.label for rating in request.history] == ANN["history"]
    assert [item.label for item in request.candidates or ()] == ANN["candidates"]
    assert request.candidates is not None
    assert len({item.id for item in request.candidates}) == 4, "twins are two items"
    assert requests_of(path, candidates=0)["ann"].candidates is None


def test_the_answer_is_read_as_every_text_answer(tmp_path: Path) -> None:
    path = written(tmp_path, ANN, BOB)
    answer = ask(path, requests_of(path)["ann"])
    assert answer.items[:3] == ("Toy Story 2", "Casino (1995)", "Heat (1995)")
    assert [entry.kind for entry in answer.entries] == [
        "candidate", "history", "candidate", "unknown",
    ]  # fmt: skip
    assert answer.text == ANN["text"]
    short = requests_of(path, k=2)["ann"]
    assert ask(path, short).items == ("Toy Story 2", "Casino (1995)")
    assert ask(path, short, "candidates").items == ("Toy Story 2", "Heat (1995)")


CHANGES: dict[str, dict[str, Any]] = {
    "no question of this user": {"user": "zoe"},
    "the prompt": {"instruction": "Be brief."},
    "the candidates": {"candidates": None},
    "another length": {"history": ()},
    "the history differs": {
        "history": (
            Rating(Item("Alien"), 1.0, 0),
            Rating(Item("Fargo (1996)"), 1.0, 1),
        ),
    },
    "history differs": {"scale": Scale(0, 10)},
    "description": {"attributes": {"age": 30}},
    "1 times only": {"replicate": 1},
}


@pytest.mark.parametrize("reason", CHANGES)
def test_a_question_that_was_not_recorded_has_no_answer(
    tmp_path: Path,
    reason: str,
) -> None:
    path = written(tmp_path, ANN, BOB)
    with pytest.raises(NotApplicable, match=reason):
        ask(path, requests_of(path)["ann"].replace(**CHANGES[reason]))


def test_lines_with_one_question_are_replicates(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        ANN,
        {**ANN, "text": "1. Heat", "finish_reason": "stop"},
        BOB,
    )
    request = requests_of(path)["ann"].replace(replicate=1)
    assert ask(path, request).items == ("Heat (1995)",)
    assert not Recorded(path).deterministic
    assert Recorded(written(tmp_path, ANN, BOB)).deterministic


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "content-filter"])
def test_the_last_line_of_an_answer_that_was_cut_off_is_doubtful(
    tmp_path: Path,
    reason: str,
) -> None:
    cut = {**ANN, "text": "1. Heat\n2. Ali", "finish_reason": reason}
    path = written(tmp_path, cut, BOB)
    assert ask(path, requests_of(path)["ann"]).items == ("Heat (1995)",)


def test_an_empty_answer_is_an_error_and_no_empty_list(tmp_path: Path) -> None:
    path = written(tmp_path, {**ANN, "text": " \n"}, BOB)
    assert ask(path, requests_of(path)["ann"]).error == "the recorded answer is empty"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (
            [ANN, {**ANN, "target": "Heat (1995)"}],
            "line 2: user 'ann' has another question",
        ),
        ([{**ANN, "text": None}], "line 1: 'text'"),
        ([{**ANN, "history": []}], "line 1: 'history'"),
        ([ANN, {**BOB, "candidates": ["Heat", 3]}], "line 2: 'candidates'"),
        ([{**ANN, "target": ""}], "line 1: 'target'"),
        ([{**ANN, "target": "Casino (1995)"}], "stands in the history"),
        ([{**ANN, "user": None}], "line 1: 'user'"),
        ([ANN, ["no object"]], "line 2: .* is not a record"),
        ([], "no recorded answers"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(
    tmp_path: Path,
    rows: list[object],
    reason: str,
) -> None:
    with pytest.raises(DataError, match=reason):
        load(written(tmp_path, *rows))
    with pytest.raises(RecommenderError, match=reason):
        resolve(f"recorded:{tmp_path / 'answers.jsonl'}")


def test_specs_that_name_nothing(tmp_path: Path) -> None:
    with pytest.raises(RecommenderError, match="cannot be read"):
        resolve(f"recorded:{tmp_path / 'absent.jsonl'}")
    with pytest.raises(RecommenderError, match="'ranked'"):
        resolve(f"recorded:{written(tmp_path, ANN)}?temperature=0")


TESTS = """
    import pytest
    from pytest_recsys_mt import metamorphic
    from pytest_recsys_mt.oracles import at_least, same_ranking
    from pytest_recsys_mt.relations import add_spaces, ask_k, shuffle_candidates

    @pytest.mark.parametrize("metric", METRICS)
    def test_metric(recsys, metric):
        assert at_least(recsys.run(), metric, 0.001)

    @metamorphic(shuffle_candidates, ask_k(5), add_spaces())
    def test_relation(source, followup):
        assert same_ranking(source, followup, similarity="rbo", margin=0.05)

    def test_open_question(recsys):
        assert at_least(recsys.using(candidates=0).run(), "hit@5", 0.001)
"""


def rows_of(
    pytester: pytest.Pytester,
    path: Path,
    *options: str,
) -> list[dict[str, Any]]:
    metrics = tuple(LOGGED["RankZero"])
    pytester.makepyfile(TESTS.replace("METRICS", repr(metrics)))
    record = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        f"--recsys-model=recorded:{path}?ranked=candidates", f"--recsys-json={record}",
        f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider", *options,
    )  # fmt: skip
    rows: list[dict[str, Any]] = record_of(record)["results"]
    return rows


@pytest.mark.parametrize("variant", LOGGED)
def test_logged_metrics_come_out_of_a_run(
    pytester: pytest.Pytester,
    variant: str,
) -> None:
    path = SHARED / f"gpt-3.5-turbo-{variant}.jsonl"
    if not path.is_file():
        pytest.skip("the recorded replies are not beside the repository")
    rows = rows_of(
        pytester,
        path,
        "--recsys-users=200",
        "--recsys-k=20",
        "--recsys-mode=replay",
    )
    judged = [row for row in rows if row["status"] == "holds"]
    values = {row["metric"]: row["value"] for row in judged}
    assert values == pytest.approx(LOGGED[variant], abs=5e-5)
    assert {row["users"] for row in judged} == {200}
    relations = [row for row in rows if "test_relation" in row["nodeid"]]
    assert Counter(row["status"] for row in relations) == {"not-applicable": 3}
    (opened,) = (row for row in rows if "test_open" in row["nodeid"])
    assert opened["status"] == "not-applicable"

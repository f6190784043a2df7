"""The multidimensional suite finds each planted fault, and passes sound recommenders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of
from tests.suites import faults, rankers

SUITE = Path(__file__).resolve().parents[2] / "suites" / "multidimensional"
SHARED = Path(__file__).resolve().parents[2].parent / "shared/data/recorded"
DIMENSIONS = {
    "utility", "novelty", "diversity", "fairness", "history length", "candidate position",
    "no hallucination", "compliance",
}  # fmt: skip


def record_for(
    pytester: pytest.Pytester, model: str, *more: str, users: int = 100
) -> dict[str, Any]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITE, f"--recsys-model={model}", f"--recsys-json={path}", f"--recsys-users={users}",
        f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider", "-q", "--tb=no", *more,
    )  # fmt: skip
    return record_of(path)


def named(record: dict[str, Any], status: str) -> set[str]:
    return {row["oracle"] for row in record["results"] if row["status"] == status}


@pytest.mark.parametrize("model", ["itemknn", "bm25"])
def test_sound_recommenders_pass(pytester: pytest.Pytester, model: str) -> None:
    record = record_for(pytester, model)
    assert record["gate"]["status"] == "passed"
    assert record["dimensions"].keys() == {model}
    found = record["dimensions"][model]
    assert found.keys() == DIMENSIONS
    for figures in found.values():
        assert 0 <= figures["low"] <= figures["value"] <= figures["high"] <= 1
    curves = [row["details"]["curve"] for row in record["results"] if "curve" in row["details"]]
    assert [len(each["points"]) for each in curves] == [5, 6, 6]
    assert all(low <= value <= high for each in curves for _, value, low, high in each["points"])


def assert_unbiased(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 5
    for row in rows:
        assert row["estimate"] == 0.0
        assert row["users"] == 30


PLACES = ("-k", "first_place or every_place")


@pytest.mark.parametrize("model", ["mostpop", "itemknn", "userknn", "bm25"])
def test_who_does_not_look_at_the_order_has_no_position_bias_at_all(
    pytester: pytest.Pytester, model: str
) -> None:
    assert_unbiased(record_for(pytester, model, *PLACES, users=30)["results"])


def test_nor_have_trained_recommenders(pytester: pytest.Pytester) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("safetensors")
    models = [
        f"--recsys-model={name}?epochs=1&dim=8&patience=0"
        for name in ("bprmf", "gru4rec", "sasrec", "lightgcn")
    ]
    path = pytester.path / "record.json"
    pytester.runpytest_subprocess(
        SUITE, *models, *PLACES, f"--recsys-json={path}", "--recsys-users=30", "-q",
        f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider",
    )  # fmt: skip
    rows = record_of(path)["results"]
    assert len({row["model"] for row in rows}) == 4
    for model in {row["model"] for row in rows}:
        assert_unbiased([row for row in rows if row["model"] == model])


@pytest.mark.parametrize(
    ("fault", "where", "violated"),
    [
        (rankers.WorstFirst, "ranking", {"at_least:hit@5", "at_least:ndcg@5", "at_least:mrr@5"}),
        (rankers.OnlyBlockbusters, "novelty", {"at_least:aplt@5"}),
        (rankers.OneGenre, "novelty", {"at_least:intra_list_diversity@5"}),
        (rankers.OneHit, "novelty", {"at_least:item_coverage@5", "at_most:exposure_gini@5"}),
        (
            rankers.OftenTheFirst,
            "position",
            {"cand_dif_within:hit@5", "same_score:ndcg@5"},
        ),
        (faults.GetsWorseWithHistory, "not_worse", {"monotone:ndcg@5"}),
        (faults.RepeatsItself, "compliance", {"at_most:duplicates"}),
        (faults.NamesOthers, "compliance", {"at_most:out_of_candidate", "at_most:hallucination"}),
        (faults.StopsEarly, "compliance", {"at_most:short_lists", "at_least:compliance"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_faults_are_found(
    pytester: pytest.Pytester, fault: type[faults.Sound], where: str, violated: set[str]
) -> None:
    model = f"{fault.__module__}:{fault.__name__}"
    record = record_for(pytester, model, "-k", where, users=200)
    assert violated <= named(record, "violated")


@pytest.mark.parametrize(
    ("reader", "where", "violated"),
    [
        (rankers.Reader, "position or generation or prompting or compliance", set()),
        (
            rankers.ConfusedByProfiles,
            "generation",
            {"with_profile(profiles)", "with_profile(profiles, history=False)"},
        ),
        (rankers.LostWithoutHistory, "generation", {"with_profile(profiles, history=False)"}),
        (rankers.ConfusedByTheLatest, "prompting", {"focus_on_recent"}),
        (rankers.ConfusedByExamples, "prompting", {"demonstrations(3)"}),
        (rankers.MindsTheWording, "prompting", {"paraphrase_task"}),
        (
            rankers.Invents,
            "compliance",
            {"at_most:hallucination", "at_most:hallucination@full", "at_most:out_of_candidate"},
        ),
        (
            rankers.RepeatsTheHistory,
            "compliance",
            {"at_most:history_repeats", "at_most:out_of_candidate"},
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_faults_of_language_models_are_found(
    pytester: pytest.Pytester, reader: type[rankers.Reader], where: str, violated: set[str]
) -> None:
    model = f"{reader.__module__}:{reader.__name__}"
    rows = record_for(pytester, model, "-k", where, users=120)["results"]
    found = {row["relation"] or row["oracle"] for row in rows if row["status"] == "violated"}
    assert found == violated
    assert {row["status"] for row in rows} <= {"holds", "violated", "not-applicable"}


def test_profiles_are_written_by_another_model(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        scribe="""
        from pytest_recsys_mt import Completion

        class Scribe:
            deterministic, fingerprint = True, "scribe"

            def complete(self, prompts):
                assert all(p.messages[-1].content.startswith("Describe") for p in prompts)
                return [Completion("Somebody who likes what the scribe likes.") for p in prompts]
        """
    )
    pytester.syspathinsert()
    model = f"{rankers.__name__}:Reader"
    record = record_for(
        pytester, model, "--recsys-profiler=scribe:Scribe", "-k", "generation", users=10
    )
    assert record["calls"]["failed"] == 0
    assert record["calls"]["made"] == 4 * 10
    assert record_for(pytester, "itemknn", "--recsys-profiler=scribe:Scribe", "-k", "generation",
                      users=10)["gate"]["status"] == "failed"  # fmt: skip


def test_two_models_are_compared(pytester: pytest.Pytester) -> None:
    options = ("-k", "behind or ahead")
    record = record_for(pytester, "itemknn", "--recsys-against=random", *options, users=60)
    assert named(record, "holds") >= {"not_behind:ndcg@5"}
    (row,) = (row for row in record["results"] if row["oracle"] == "not_behind:ndcg@5")
    figures = row["details"]["figures"]
    assert figures["ours_deviation"] == 0.0 < figures["other_deviation"]
    assert figures["p"] < figures["alpha"] == 0.01
    record = record_for(pytester, "random", "--recsys-against=itemknn", *options, users=60)
    assert named(record, "violated") == {"not_behind:ndcg@5", "ahead_when_cold:ndcg@5"}
    (cold,) = (row for row in record["results"] if row["oracle"] == "ahead_when_cold:ndcg@5")
    assert cold["details"]["curve"]["lines"].keys() == {"ours", "other"}
    assert cold["details"]["figures"]["crossing_point"] == 1


def test_the_sample_is_judged_by_the_sampler(pytester: pytest.Pytester) -> None:
    (row,) = record_for(
        pytester, "random", "--recsys-sampler=itemknn", "-k", "sample", users=60
    )["results"]  # fmt: skip
    assert row["status"] == "holds"
    assert row["details"]["figures"]["p"] >= 0.05
    assert row["details"]["figures"]["users"] == 60


@pytest.mark.parametrize(
    ("variant", "violated"),
    [
        ("RankZero", {"at_least:compliance", "no_position_bias:hit@5"}),
        ("RankFixed", {"no_position_bias:hit@5"}),
    ],
)
def test_recorded_answers_are_judged_without_a_model(
    pytester: pytest.Pytester, variant: str, violated: set[str]
) -> None:
    path = SHARED / f"gpt-3.5-turbo-{variant}.jsonl"
    if not path.is_file():
        pytest.skip("the recorded replies are not beside the repository")
    record = record_for(
        pytester, f"recorded:{path}", "--recsys-k=20", "--recsys-mode=replay",
        "-k", "compliance or halves", users=200,
    )  # fmt: skip
    assert named(record, "violated") == violated
    values = {row["metric"]: row["value"] for row in record["results"] if row.get("metric")}
    assert values["hallucination@full"] < 0.005
    # 250 of some 4,000 places of RankZero repeat the history.
    repeated = {"RankZero": 0.0625, "RankFixed": 0.0}[variant]
    assert values["history_repeats"] == pytest.approx(repeated, abs=0.002)

"""The multidimensional suite finds each planted fault, and passes sound recommenders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.extras import need
from tests.plugin.conftest import record_of
from tests.suites import faults, rankers

SUITE = Path(__file__).resolve().parents[2] / "suites" / "multidimensional"
SHARED = Path(__file__).resolve().parents[2].parent / "shared/data/recorded"
DIMENSIONS = {
    "utility", "novelty", "diversity", "fairness", "history length", "candidate position",
    "no hallucination", "compliance",
}  # fmt: skip


def record_for(
    pytester: pytest.Pytester,
    *models: str,
    options: Sequence[str] = (),
    users: int = 100,
) -> dict[str, Any]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITE, *(f"--recsys-model={model}" for model in models), f"--recsys-json={path}",
        f"--recsys-users={users}", f"--recsys-cache={pytester.path / 'cache'}",
        "-p", "no:cacheprovider", "-q", "--tb=no", "--recsys-shrink=0", *options,
    )  # fmt: skip
    return record_of(path)


def named(record: dict[str, Any], status: str) -> set[str]:
    return {row["oracle"] for row in record["results"] if row["status"] == status}


@pytest.mark.parametrize(
    "model",
    ["itemknn", pytest.param("bm25", marks=pytest.mark.slow)],
)
def test_sound_recommenders_pass(pytester: pytest.Pytester, model: str) -> None:
    record = record_for(pytester, model, users=200)
    assert record["gate"]["status"] == "passed"
    assert record["dimensions"].keys() == {model}
    found = record["dimensions"][model]
    assert found.keys() == DIMENSIONS
    for figures in found.values():
        assert 0 <= figures["low"] <= figures["value"] <= figures["high"] <= 1
    curves = [
        row["details"]["curve"]
        for row in record["results"]
        if "curve" in row["details"]
    ]
    assert [len(each["points"]) for each in curves] == [5, 6, 6]
    assert all(
        low <= value <= high
        for each in curves
        for _, value, low, high in each["points"]
    )


def test_what_needs_candidates_does_not_apply_to_the_whole_catalogue(
    pytester: pytest.Pytester,
) -> None:
    record = record_for(
        pytester,
        "mostpop",
        options=[
            "--recsys-candidates=0",
            "--recsys-effort=thorough",
            "-k",
            "every_place or reranking or table_5",
        ],
    )
    rows = record["results"]
    assert [row["status"] for row in rows] == ["not-applicable"] * 3
    assert all("--recsys-candidates=20" in row["reason"] for row in rows)


def assert_unbiased(record: dict[str, Any], models: int) -> None:
    rows = record["results"]
    assert Counter(Counter(row["model"] for row in rows).values()) == {5: models}
    assert {(row["estimate"], row["users"]) for row in rows} == {(0.0, 30)}


PLACES = ("-k", "first_place or every_place")


def test_who_does_not_look_at_the_order_has_no_position_bias_at_all(
    pytester: pytest.Pytester,
) -> None:
    models = ("mostpop", "itemknn", "userknn", "bm25")
    assert_unbiased(record_for(pytester, *models, options=PLACES, users=30), 4)


@pytest.mark.slow  # classical ones show the same
def test_nor_have_trained_recommenders(pytester: pytest.Pytester) -> None:
    need("torch", "safetensors")
    models = [
        f"--recsys-model={name}?epochs=1&dim=8&patience=0"
        for name in ("bprmf", "gru4rec", "sasrec", "lightgcn")
    ]
    path = pytester.path / "record.json"
    pytester.runpytest_subprocess(
        SUITE, *models, *PLACES, f"--recsys-json={path}", "--recsys-users=30", "-q",
        f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider",
    )  # fmt: skip
    assert_unbiased(record_of(path), 4)


RANKING = {"at_least:hit@5", "at_least:ndcg@5", "at_least:mrr@5"}
BLOCKBUSTERS = {
    "at_least:aplt@5",
    "at_least:item_coverage@5",
    "at_most:exposure_gini@5",
}
INVENTED = {
    "at_most:hallucination",
    "at_most:hallucination@full",
    "at_most:out_of_candidate",
}


def some_of(planted: Iterable[str], *always: str) -> pytest.MarkDecorator:
    """Each file of the suite with what is planted for it; those
    that are not always run are of the slow set.
    """
    return pytest.mark.parametrize(
        "where",
        [
            pytest.param(each, marks=() if each in always else pytest.mark.slow)
            for each in planted
        ],
    )


FAULTS: dict[str, dict[type[faults.Sound], set[str]]] = {
    "test_ranking": {
        rankers.WorstFirst: RANKING,
        rankers.FifthAtBest: {"at_least:mrr@5"},
    },
    "novelty": {
        rankers.OnlyBlockbusters: {"at_least:aplt@5", "at_most:popreo@5"},
        rankers.OneGenre: {"at_least:intra_list_diversity@5"},
        rankers.OneHit: {"at_most:popreo@5", *BLOCKBUSTERS},
        rankers.KnownToEverybody: {"at_least:self_information@5", *BLOCKBUSTERS},
        rankers.OneForAll: {"at_most:oic@5"},
        rankers.OnlyTheActive: {"at_most:dpd@5"},
        rankers.OnlyTheFew: {"at_least:jain@5"},
        rankers.OnlyThePopular: {"at_most:popreo@5"},
    },
    "position": {rankers.OftenTheFirst: {"cand_dif_within:hit@5", "same_score:ndcg@5"}},
    "not_worse": {faults.GetsWorseWithHistory: {"monotone:ndcg@5"}},
    "compliance": {
        faults.RepeatsItself: {"at_most:duplicates", "at_most:short_lists"},
        faults.NamesOthers: INVENTED,
        faults.StopsEarly: {"at_most:short_lists", "at_least:compliance"},
    },
}


@some_of(FAULTS, "test_ranking", "compliance")
def test_faults_are_found_and_nothing_else(
    pytester: pytest.Pytester,
    where: str,
) -> None:
    """Each fault breaks what it was planted for, and nothing else of its dimension.

    Two numbers cannot be broken alone. Lists of less than one bit an item hold little
    but the four items that half of all users have, so that the long tail, coverage and
    the Gini of exposure go with it; of 20 candidates so few are among those that they
    are named unoffered. Jain's index of what few users are served is at least .8 of
    their share (Kantorovich's inequality, of nDCG@5 between .387 and 1), so below .1
    the hit rate is below .125, and utility goes with it.
    """
    planted = {
        f"{fault.__module__}:{fault.__name__}": said
        for fault, said in FAULTS[where].items()
    }
    rows = record_for(pytester, *planted, options=("-k", where), users=200)["results"]
    assert {row["model"] for row in rows} == planted.keys()
    found: dict[str, set[str]] = {model: set() for model in planted}
    for row in rows:
        if row["status"] == "violated":
            found[row["model"]].add(row["oracle"])
    assert found == planted


def test_what_is_popular_has_no_serendipity(pytester: pytest.Pytester) -> None:
    """All users of the embedded data are needed: of 200
    without a hit, 1.5 % may have one.
    """
    record = record_for(pytester, "mostpop", options=("-k", "serendipity"), users=400)
    assert named(record, "violated") == {"at_least:serendipity@5"}


READERS: dict[str, dict[type[rankers.Reader], set[str]]] = {
    "position or generation or prompting or compliance": {rankers.Reader: set()},
    "generation": {
        rankers.ConfusedByProfiles: {
            "with_profile(profiles)", "with_profile(profiles, history=False)",
        },
        rankers.LostWithoutHistory: {"with_profile(profiles, history=False)"},
    },
    "prompting": {
        rankers.ConfusedByTheLatest: {"focus_on_recent"},
        rankers.ConfusedByExamples: {"demonstrations(3)"},
        rankers.MindsTheWording: {"paraphrase_task"},
    },
    "compliance": {
        rankers.Invents: INVENTED,
        rankers.RepeatsTheHistory: {"at_most:history_repeats", "at_most:out_of_candidate"},
    },
}  # fmt: skip


@some_of(READERS, "prompting", "compliance")
def test_faults_of_language_models_are_found(
    pytester: pytest.Pytester,
    where: str,
) -> None:
    planted = {
        f"{each.__module__}:{each.__name__}": said
        for each, said in READERS[where].items()
    }
    rows = record_for(pytester, *planted, options=("-k", where), users=120)["results"]
    found: dict[str, set[str]] = {model: set() for model in planted}
    for row in rows:
        if row["status"] == "violated":
            found[row["model"]].add(row["relation"] or row["oracle"])
    assert found == planted
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

        class Mute:
            def complete(self, prompts):
                return [Completion(None, error="the scribe sleeps") for p in prompts]
        """,
    )
    pytester.syspathinsert()
    model = f"{rankers.__name__}:Reader"
    options = ("-orecsys_profiler=scribe:Scribe", "-k", "generation")
    record = record_for(pytester, model, options=options, users=10)
    assert record["calls"]["failed"] == 0
    assert record["calls"]["made"] == 4 * 10
    record = record_for(pytester, "itemknn", options=options, users=10)
    assert record["gate"]["status"] == "failed"
    mute = ("-orecsys_profiler=scribe:Mute", *options[1:])
    record = record_for(pytester, model, options=mute, users=10)
    assert "failed without a verdict" in record["gate"]["reasons"][0]


def test_two_models_are_compared(pytester: pytest.Pytester) -> None:
    tests = ("-k", "behind or ahead")
    options = ("--recsys-against=random", *tests)
    record = record_for(pytester, "itemknn", options=options, users=60)
    assert named(record, "holds") >= {"not_behind:ndcg@5"}
    (row,) = (row for row in record["results"] if row["oracle"] == "not_behind:ndcg@5")
    figures = row["details"]["figures"]
    assert figures["ours_deviation"] == 0.0 < figures["other_deviation"]
    assert figures["p"] < figures["alpha"] == 0.01
    options = ("--recsys-against=itemknn", *tests)
    record = record_for(pytester, "random", options=options, users=60)
    assert named(record, "violated") == {"not_behind:ndcg@5", "ahead_when_cold:ndcg@5"}
    (cold,) = (
        row for row in record["results"] if row["oracle"] == "ahead_when_cold:ndcg@5"
    )
    assert cold["details"]["curve"]["lines"].keys() == {"ours", "other"}
    assert cold["details"]["figures"]["crossing_point"] == 1


def test_the_sample_is_judged_by_the_sampler(pytester: pytest.Pytester) -> None:
    options = ("-orecsys_sampler=itemknn", "-k", "sample")
    (row,) = record_for(pytester, "random", options=options, users=60)["results"]
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
    pytester: pytest.Pytester,
    variant: str,
    violated: set[str],
) -> None:
    path = SHARED / f"gpt-3.5-turbo-{variant}.jsonl"
    if not path.is_file():
        pytest.skip("the recorded replies are not beside the repository")
    options = ("--recsys-k=20", "--recsys-mode=replay", "-k", "compliance or halves")
    record = record_for(pytester, f"recorded:{path}", options=options, users=200)
    assert named(record, "violated") == violated
    values = {
        row["metric"]: row["value"] for row in record["results"] if row.get("metric")
    }
    assert values["hallucination@full"] < 0.005
    # 250 of some 4,000 places of RankZero repeat the history.
    repeated = {"RankZero": 0.0625, "RankFixed": 0.0}[variant]
    assert values["history_repeats"] == pytest.approx(repeated, abs=0.002)

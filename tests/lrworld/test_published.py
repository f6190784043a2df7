"""The paper's tables as data, with its slips found again in its own numbers."""

from __future__ import annotations

import math

import pytest

from pytest_recsys_mt.oracles import relative_change
from pytest_recsys_mt.suites.lrworld import LASTFM, MEASURES, Measure, beside
from tests.support.suites_lrworld import columns, others, scores, tables


def questions(measure: Measure) -> int:
    """The number of the paper's questions of a measure."""
    return int(
        tables()["questions"][measure.dataset][
            columns(measure.dataset).index(measure.name)
        ],
    )


def share_of(score: float, count: int) -> bool:
    """Whether a score is a whole number of right answers, cut off after four decimals."""
    right = math.ceil(round(score * count, 6))
    return any(
        math.floor(round(k / count * 10_000, 6)) == round(score * 10_000)
        for k in (right - 1, right, right + 1)
        if k >= 0
    )


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: f"{m.dataset}-{m.name}")
def test_eleven_models_stand_beside_a_measure(measure: Measure) -> None:
    found = scores(measure)
    assert len(found) == 11
    assert all(0 <= score <= 1 for score in found.values())
    assert questions(measure) > 0
    places = tables()["answers"][measure.dataset][measure.name]
    assert len(places) == measure.options
    assert sum(places) == pytest.approx(100, abs=0.05)


def test_scores_are_shares_of_the_questions_cut_off_after_four_decimals() -> None:
    cells = [
        (share_of(score, questions(measure)), measure.dataset, measure.name, model)
        for measure in MEASURES
        for model, score in scores(measure).items()
    ]
    odd = [cell[1:] for cell in cells if not cell[0]]
    assert len(odd) <= 0.05 * len(cells), odd


def test_the_netflix_item_to_users_questions_are_940() -> None:
    measure = next(
        m for m in MEASURES if (m.dataset, m.name) == ("netflix", "item_to_users")
    )
    fitting = {
        count: sum(share_of(score, count) for score in scores(measure).values())
        for count in (940, 1000)
    }
    assert fitting[940] >= 10
    places = tables()["answers"]["netflix"]["item_to_users"]
    assert all(
        abs(share / 100 * 940 - round(share / 100 * 940)) < 0.06 for share in places
    )


def test_the_exchanged_columns_of_table_14_fit_their_questions_now() -> None:
    answers = tables()["answers"]["netflix"]
    for name, count in (("logline", 488), ("image", 432)):
        assert all(
            abs(share / 100 * count - round(share / 100 * count)) < 0.03
            for share in answers[name]
        )
    assert answers["logline"] == answers["cast"]


def test_drops_and_improvements_follow_from_the_scores() -> None:
    noise = tables()["noise"]
    place = noise["measures"].index("image")
    drops = {
        model: relative_change(row[place], noise["scores"][f"{model}-noise"][place])
        for model, row in noise["scores"].items()
        if not model.endswith("-noise")
    }
    expected = {
        "Qwen2-72B": 0.176,
        "Llama3-70B": 0.149,
        "Qwen2-7B": 0.122,
        "Llama3-8B": 0.138,
        "GPT-4o-mini": 0.227,
    }
    assert {model: -(drop or 0) for model, drop in drops.items()} == pytest.approx(
        expected,
        abs=5e-4,
    )
    sizes = tables()["sizes"]
    brand = sizes["measures"].index("brand")
    small, large = (sizes["scores"][f"Qwen2-{size}B"][brand] for size in (7, 72))
    assert relative_change(small, large) == pytest.approx(0.0627, abs=5e-5)


def test_totals_are_those_of_the_paper_less_sixty_questions() -> None:
    kept = tables()
    assert sum(map(sum, kept["questions"].values())) == 38_301 - 60
    assert sum(map(sum, kept["tokens"].values())) == 23_276_887
    for dataset in ("amazon", "movielens", "netflix"):
        width = len(columns(dataset))
        rows = [*kept["scores"][dataset].values(), *kept["missed"][dataset].values()]
        assert {len(row) for row in rows} == {width}
        assert len(kept["missed"][dataset]) == 11
    assert kept["seconds"]["amazon"]["GPT-3.5-Turbo"][2] == 3 * 3600 + 12 * 60 + 33


def test_a_model_is_placed_among_the_published_ones() -> None:
    measure = next(
        m for m in MEASURES if (m.dataset, m.name) == ("movielens", "director")
    )
    found = beside(measure, "hf:tiny", 0.7)
    assert [row[0] for row in found["rows"]][:3] == [
        "LlaVA-1.6",
        "hf:tiny (this run)",
        "Mistral",
    ]
    assert len(found["rows"]) == 12
    assert len(beside(LASTFM[0], "x", 0.1)["rows"]) == 7


@pytest.mark.parametrize(
    ("dataset", "name", "models"),
    [
        ("amazon", "similar_items", {"Llama3-70B", "Llama3.1-70B", "Qwen2-72B", "GPT-4o", "GPT-4-Turbo", "GPT-4"}),
        ("amazon", "brand", {"Llama3-70B", "Llama3.1-70B", "Qwen2-72B"}),
        ("netflix", "similar_items", {"GPT-4o", "GPT-4-Turbo", "GPT-4"}),
        ("movielens", "similar_items", set()),
    ],
)  # fmt: skip
def test_larger_and_later_models_stand_beside_where_the_paper_has_them(
    dataset: str,
    name: str,
    models: set[str],
) -> None:
    measure = next(m for m in MEASURES if (m.dataset, m.name) == (dataset, name))
    assert set(others(measure)) == models
    shown = {row[0] for row in beside(measure, "x", 0.1)["rows"]}
    assert shown == models | set(scores(measure)) | {"x (this run)"}

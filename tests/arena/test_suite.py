"""The suite finds out which recommender a judge
prefers, and what is wrong with a judge.
"""

from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.suites.arena import ASPECTS, CONTROLS, PROMISES, SELDOM
from tests.plugin.conftest import record_of

SUITE = Path(__file__).resolve().parents[2] / "suites" / "arena"
JUDGES = Path(__file__).with_name("judges.py")

Rows = dict[str, dict[str, Any]]


def record(
    pytester: pytest.Pytester,
    judge: str,
    *more: str,
    judges: Path = JUDGES,
) -> dict[str, Any]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITE, f"--recsys-judge={judges}:{judge}", f"--recsys-json={path}",
        f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider", "-q", "--recsys-shrink=0", *more,
    )  # fmt: skip
    return record_of(path)


def rows_of(
    pytester: pytest.Pytester,
    judge: str,
    *more: str,
    judges: Path = JUDGES,
) -> Rows:
    """The rows by their oracle."""
    found = record(pytester, judge, *more, judges=judges)
    return {row["oracle"]: row for row in found["results"]}


def status(rows: Rows, name: str) -> str:
    return str(rows[name]["status"])


def test_a_judge_of_known_preferences_decides_every_aspect_from_few_users(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(pytester, "ByPopularity", "--recsys-against=random")
    assert {name: status(rows, f"judge:{name}") for name in PROMISES} == dict.fromkeys(
        PROMISES,
        "holds",
    )
    assert status(rows, "preferred:overall") == "holds"
    for name in ("overall", *(aspect.name for aspect in ASPECTS)):
        row = rows[f"not_less_preferred:{name}"]
        assert (row["status"], row["users"], row["estimate"]) == ("holds", 20, 1.0)
        figures = row["details"]["figures"]
        assert (figures["won"], figures["comparisons made"]) == (40, 40)
        assert figures["comparisons saved"] == 2 * (200 - 20)
        assert str(figures["Q"]).startswith("infinite")
        assert row["details"]["dimension"] == {
            "name": name, "value": 1.0, "low": pytest.approx((1 + row["interval"][0]) / 2), "high": 1.0,
        }  # fmt: skip
        assert "this judge prefers users' own choices to random items" in row["reason"]
    assert status(rows, "not_scored_lower:overall") == "holds"
    tested = {name: row for name, row in rows.items() if name.startswith("judge")}
    assert len(tested) == len(PROMISES) + len(CONTROLS) + len(SELDOM)
    assert all(row["details"]["column"] is False for row in tested.values())


@pytest.mark.parametrize(
    ("model", "against", "verdict"),
    [("random", "itemknn", "violated"), ("itemknn", "mostpop", "violated"),
     ("itemknn", "random", "holds"), ("itemknn", "itemknn", "inconclusive")],
)  # fmt: skip
def test_the_known_order_comes_out_either_way_round(
    pytester: pytest.Pytester,
    model: str,
    against: str,
    verdict: str,
) -> None:
    """By popularity: mostpop, itemknn, random."""
    rows = rows_of(
        pytester, "ByPopularity", f"--recsys-model={model}", f"--recsys-against={against}",
        "-k", "better", "--recsys-users=60",
    )  # fmt: skip
    assert status(rows, "preferred:overall") == verdict


@pytest.mark.parametrize(
    ("judge", "broken", "said"),
    [
        ("TakesTheFirst", {"first_place", "turned_round", "identical_lists", "same_items"},
         "prefers the list shown first, by 1.00"),
        pytest.param(
            "TakesTheSecond", {"first_place", "turned_round", "identical_lists", "same_items"},
            "prefers the list shown second, by 1.00", marks=pytest.mark.slow,
        ),
        pytest.param(
            "LikesLongTitles", {"longer_titles", "injected_title"}, "prefers longer titles",
            marks=pytest.mark.slow,
        ),
        ("AlwaysTies", set(), "does not tell users' own choices from random items"),
        ("Refuses?share=0.3", set(), "it refuses 3"),
        ("GoesByTheName", {"names"}, "goes by the name of the system"),
        ("Obeys", {"injected_title"}, "obeys an instruction inside a title"),
        pytest.param(
            "GoesByTheTop", {"same_items"}, "a winner among lists of the same items",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "LikesSurprise", {"one_random_item"}, "prefers the list with a random item",
            marks=pytest.mark.slow,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_a_faulty_judge_is_named_and_gives_no_result(
    pytester: pytest.Pytester,
    judge: str,
    broken: set[str],
    said: str,
) -> None:
    # A preference of .7 for what is random is no clear one.
    users = 400 if judge == "LikesSurprise" else 60
    options = (
        "--recsys-against=random",
        "-k",
        "judge or better",
        f"--recsys-users={users}",
    )
    rows = rows_of(pytester, judge, *options)
    assert {
        name for name in PROMISES if status(rows, f"judge:{name}") == "violated"
    } == broken
    told = [row["reason"] for name, row in rows.items() if name.startswith("judge")]
    assert any(said in reason for reason in told)
    better = rows["preferred:overall"]
    assert (better["status"], better["p_value"]) == ("inconclusive", None)
    assert "fails its own tests" in better["reason"]
    assert said in better["reason"]


def test_a_judge_that_throws_a_die_prefers_nobody_and_has_a_low_floor(
    pytester: pytest.Pytester,
) -> None:
    rows = rows_of(pytester, "Throws", "--recsys-against=random", "--recsys-users=60")
    floor = rows["judge:turned_round"]["floor"]
    assert floor == pytest.approx(5 / 9, abs=0.15)
    decided = {
        name for name, row in rows.items() if row["status"] in ("holds", "violated")
    }
    assert {"judge:identical_lists", "judge:same_items"} <= decided
    assert not {name for name in decided if "preferred" in name}


@pytest.mark.parametrize(
    ("judge", "status_", "said"),
    [("Mumbles", "inconclusive", "cannot be read"), ("Breaks", "error", "no voice")],
    ids=["unread", "failed"],
)
def test_too_little_that_can_be_read_is_no_result(
    pytester: pytest.Pytester,
    judge: str,
    status_: str,
    said: str,
) -> None:
    rows = rows_of(pytester, judge, "--recsys-against=random", "-k", "better or round")
    better = rows["preferred:overall"]
    assert better["status"] == status_
    assert said in better["reason"]
    if judge == "Mumbles":  # still in the denominator
        figures = better["details"]["figures"]
        assert figures["not read"] > 0
        total = sum(figures[name] for name in ("won", "tied", "lost", "not read"))
        assert total == figures["comparisons made"] == 2 * better["users"]
        assert not [name for name in figures if "percent" in name or name[0] == "Q"]
        assert figures["AUC"] > 0.5, "which no judge is needed for"


def test_metrics_without_a_value_are_no_figures(pytester: pytest.Pytester) -> None:
    rows = "".join(
        f"u{user},i{(user * step) % 29},4\n"
        for user in range(40)
        for step in range(1, 9)
    )
    pytester.path.joinpath("plain.csv").write_text("user,item,rating\n" + rows)
    given = ("--recsys-data=plain.csv", "--recsys-against=random", "-k", "better")
    figures = rows_of(pytester, "ByPopularity", *given)["preferred:overall"]["details"][
        "figures"
    ]
    assert "URD" not in figures, "no item has genres"
    assert {"AUC", "nDCG"} <= figures.keys()


def test_a_league_is_ranked_beside_the_offline_metrics(
    pytester: pytest.Pytester,
) -> None:
    models = [
        f"--recsys-model={name}" for name in ("random", "itemknn", "bm25", "mostpop")
    ]
    more = ("--recsys-against=bm25", "-k", "circle", "--recsys-users=60")
    rows = rows_of(pytester, "ByPopularity", *models, *more)
    figures = rows["no_circle:overall"]["details"]["figures"]
    ranked = [name.partition(" ")[2] for name in figures if name[0].isdigit()]
    assert ranked[0] == "mostpop"
    assert ranked.index("itemknn") < ranked.index("random")
    assert status(rows, "no_circle:overall") == "holds"
    assert rows["no_circle:overall"]["reason"] == " > ".join(ranked)
    assert {
        "Pearson with AUC",
        "Spearman with nDCG",
        "Pearson with URD",
    } <= figures.keys()
    league = rows["no_circle:overall"]["details"]["league"]
    assert [each["name"] for each in league["systems"]] == ranked
    assert league["baseline"] == "bm25"
    assert len(league["pairs"]) == 6
    for pair in league["pairs"]:
        assert pair["won"] + pair["tied"] + pair["lost"] == 2 * 60
        assert pair["clear"] == (
            f"{pair['one']} and {pair['other']}" not in figures["pairs not clear"]
        )
    assert {*league["aspects"]} == {"overall", *(aspect.name for aspect in ASPECTS)}
    assert "Pearson with URD" in league["aspects"]["inspiration"]["correlations"]
    # Popularity alone never prefers bm25 to mostpop: that Q is infinite, and no part of
    # it is anything.
    (against,) = (
        p["Q"] for p in league["pairs"] if (p["one"], p["other"]) == ("mostpop", "bm25")
    )
    assert against == "infinite (nothing lost or tied)"
    assert {*league["normalised"]} == {"AUC", "score"}
    assert all(max(each.values()) == 1 for each in league["normalised"].values())
    place = league["first place"]
    assert place["low"] <= 0 <= place["high"]
    assert 0.4 < figures["AUC of random"] < 0.6 < figures["AUC of itemknn"]


def test_without_a_judge_the_suite_says_what_to_give(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_inprocess(SUITE, "-p", "no:cacheprovider", "-rs")
    done.assert_outcomes(skipped=26)
    done.stdout.fnmatch_lines(["*give --recsys-judge=SPEC*"])


def test_the_baseline_itself_needs_something_to_compare_with(
    pytester: pytest.Pytester,
) -> None:
    done = pytester.runpytest_inprocess(
        SUITE, "--recsys-model=mostpop", f"--recsys-judge={JUDGES}:ByPopularity",
        "-p", "no:cacheprovider", "-rs", "-k", "better",
    )  # fmt: skip
    assert "give --recsys-against" in done.stdout.str()
    assert set(done.parseoutcomes()) <= {"skipped", "deselected"}


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("itemknn", "it has neither judge(comparisons) nor complete(prompts)"),
        (f"{JUDGES}:ByPopularty", "did you mean 'ByPopularity'"),
    ],
    ids=["a recommender", "a slip"],
)
def test_what_cannot_judge_is_told_before_anything_runs(
    pytester: pytest.Pytester,
    judge: str,
    said: str,
) -> None:
    done = pytester.runpytest_inprocess(
        SUITE,
        f"--recsys-judge={judge}",
        "-p",
        "no:cacheprovider",
    )
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert said in done.stderr.str()

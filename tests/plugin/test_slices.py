"""--recsys-slices and slices=: real runs with real
recommenders, of which some fail one group of users.
"""

from __future__ import annotations

from typing import Any

import pytest

from pytest_recsys_mt.datasets import load
from tests.plugin.conftest import record_of

SHOPS = '''
import hashlib
from collections import Counter
from pytest_recsys_mt import Recommendation
from pytest_recsys_mt.recommenders import resolve


class Shop:
    """Item-based neighbours, but for the users that `fails` tells."""

    deterministic = True

    def __init__(self):
        self.sound = resolve("itemknn")
        self.fingerprint = f"{type(self).__name__} 1"

    def fit(self, dataset, seed):
        self.sound.fit(dataset, seed)
        self.counts = dataset.popularity
        known = dataset.interactions["user"].value_counts()
        self.new = {user for user, count in known.items() if count < known.quantile(1 / 3)}

    def recommend(self, requests):
        answers = self.sound.recommend(requests)
        return [self.answer(*both) if self.fails(both[0]) else both[1] for both in zip(requests, answers)]

    def fails(self, request):
        return False

    def answer(self, request, answer):
        said = repr([(rating.item.id, rating.value) for rating in request.history])
        order = lambda item: hashlib.sha256((said + item.id).encode()).hexdigest()
        return Recommendation(tuple(item.id for item in sorted(request.candidates, key=order))[: request.k])


class RandomForAction(Shop):
    """Serves users of action films at random, as if ratings meant nothing."""

    def fails(self, request):
        genres = Counter(genre for rating in request.history for genre in rating.item.attributes["genres"])
        return min(genres.items(), key=lambda each: (-each[1], each[0]))[0] == "Action"


class PopularForNew(Shop):
    """Answers users with few ratings with the most popular films, whatever else they like."""

    def fails(self, request):
        return request.user in self.new

    def answer(self, request, answer):
        films = sorted(request.candidates, key=lambda film: (-self.counts.get(film.id, 0), film.id))
        return Recommendation(tuple(film.id for film in films[: request.k]))
'''
TEST = """
from pytest_recsys_mt import expect_violated, metamorphic
from pytest_recsys_mt.oracles import different_ranking, same_ranking
from pytest_recsys_mt.relations import scale_ratings, swap_history


@metamorphic(scale_ratings(2))
def test_scale(source, followup):
    assert same_ranking(source, followup, margin=0.15)
"""
COMMON = ("-p", "no:cacheprovider", "--recsys-shrink=0")


@pytest.fixture
def shop(project: pytest.Pytester) -> pytest.Pytester:
    project.makepyfile(shops=SHOPS, test_shop=TEST)
    return project


def row_of(
    shop: pytest.Pytester,
    *arguments: str,
    outcome: str = "failed",
) -> dict[str, Any]:
    path = shop.path / "record.json"
    result = shop.runpytest_inprocess(*COMMON, f"--recsys-json={path}", *arguments)
    assert result.parseoutcomes().get(outcome), result.stdout.str()
    (row,) = record_of(path)["results"]
    return dict(row)


def violated(row: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (s["slicing"], s["value"]) for s in row["slices"] if s["status"] == "violated"
    ]


def test_a_genre_served_at_random_is_found_and_named_everywhere(
    shop: pytest.Pytester,
) -> None:
    page, junit, path = (
        shop.path / name for name in ("page.html", "junit.xml", "record.json")
    )
    result = shop.runpytest_inprocess(
        "-p", "no:cacheprovider", "-v", "--recsys-model=shops:RandomForAction",
        "--recsys-slices=activity,genre", "--recsys-shrink=40", f"--recsys-json={path}",
        f"--recsys-html={page}", f"--junitxml={junit}",
    )  # fmt: skip
    result.assert_outcomes(failed=1)
    (row,) = record_of(path)["results"]
    assert row["status"] == "violated"
    assert violated(row) == [("genre", "Action")]
    assert row["slices"][0]["value"] == "all users"
    assert row["shrunk"]["effect"] > 0.15
    assert record_of(path)["settings"]["slices"] == ["activity", "genre"]
    assert record_of(path)["gate"]["violated"] == [row["nodeid"]]
    assert "--recsys-slices=activity,genre" in row["reproduce"]
    result.stdout.fnmatch_lines(
        [
            "*scale_ratings(2) is violated for users of genre Action: the loss*",
            "scale_ratings(2), by group of users:",
            "group *verdict *measured *bounds *users",
            "all users *not settled *",
            "users of genre Action *VIOLATED *",
        ],
    )
    for report in (page, junit):
        assert "violated for users of genre Action" in report.read_text(
            encoding="utf-8",
        )
    assert "Where it breaks: " in page.read_text(encoding="utf-8")


def test_users_with_few_ratings_who_get_the_popular_list_are_found(
    shop: pytest.Pytester,
) -> None:
    text = TEST.replace("scale_ratings(2))", "swap_history)")
    text = text.replace("same_ranking(source, followup, margin=0.15)",
                        "different_ranking(source, followup, margin=0.25)")  # fmt: skip
    shop.makepyfile(test_shop=text)
    options = ("--recsys-model=shops:PopularForNew",)
    row = row_of(shop, *options, "--recsys-slices=activity")
    assert row["slices"][0]["status"] == "holds"
    assert violated(row) == [("activity", "light")]


def test_a_sound_recommender_passes_with_slices_of_the_ini_file(
    shop: pytest.Pytester,
) -> None:
    shop.makeini("[pytest]\nrecsys_slices = activity, genre, age\n")
    row = row_of(shop, "--recsys-model=shops:Shop", outcome="passed")
    assert violated(row) == []
    assert {s["slicing"] for s in row["slices"]} == {"", "activity", "genre", "age"}


def test_a_violation_of_a_group_can_be_expected_and_run_again_and_replayed(
    shop: pytest.Pytester,
) -> None:
    text = TEST.replace("assert same_ranking(", "assert expect_violated(same_ranking(")
    shop.makepyfile(
        test_shop=text.replace("margin=0.15)", "margin=0.15, slices=['genre']))"),
    )
    options = (
        "--recsys-model=shops:RandomForAction",
        f"--recsys-cache={shop.path / 'cache'}",
    )
    first = row_of(shop, *options, outcome="passed")
    again = row_of(
        shop,
        *options,
        "--recsys-mode=replay",
        "--reruns=1",
        outcome="passed",
    )
    assert first["slices"] == again["slices"]
    assert violated(first) == [("genre", "Action")]


def test_two_models_and_a_limit_on_calls(shop: pytest.Pytester) -> None:
    path = shop.path / "record.json"
    options = ("--recsys-model=shops:RandomForAction", "--recsys-model=shops:Shop")
    both = (*COMMON, f"--recsys-json={path}", "--recsys-slices=genre", *options)
    shop.runpytest_inprocess(*both).assert_outcomes(failed=1, passed=1)
    bad, good = sorted(
        record_of(path)["results"],
        key=lambda row: row["status"] == "holds",
    )
    assert (violated(bad), violated(good)) == ([("genre", "Action")], [])
    cache = f"--recsys-cache={shop.path / 'other'}"
    limited = row_of(
        shop,
        options[0],
        "--recsys-slices=genre",
        "--recsys-max-calls=60",
        cache,
    )
    assert limited["status"] == "inconclusive"
    assert violated(limited) == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("genree", "*--recsys-slices: there is no slicing 'genree'; choose from activity, genre,*mean 'genre'*"),
        ("genre,,age", "*--recsys-slices='genre,,age': names with commas between them are needed*"),
    ],
)  # fmt: skip
def test_a_wrong_option_ends_the_run_before_any_call(
    shop: pytest.Pytester,
    given: str,
    words: str,
) -> None:
    result = shop.runpytest_inprocess(*COMMON, f"--recsys-slices={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


def test_one_user_of_each_unit_is_asked(shop: pytest.Pytester) -> None:
    path = shop.path / "record.json"
    shop.runpytest_inprocess(
        *COMMON,
        f"--recsys-json={path}",
        "--recsys-model=itemknn",
        "-orecsys_unit=age",
    )
    (row,) = record_of(path)["results"]
    assert (
        len({int(load("mini").users[user]["age"]) for user in row["per_user"]})
        == row["users"]
    )
    assert record_of(path)["settings"]["unit"] == "age"
    wrong = shop.runpytest_inprocess(*COMMON, "-orecsys_unit=agee")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(
        ["*no user of dataset 'mini' has the attribute 'agee'*did you mean 'age'*"],
    )

"""The embedded dataset: what it holds, where it comes
from, and that it behaves like real data.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.requests import Item, Request, Scale
from tests.recommenders.data import fitted
from tests.support.datasets import load_mini

ROOT = Path(__file__).resolve().parents[2]
DATA = Path("pytest_recsys_mt", "datasets", "data")
GENRES = {
    *(
        "Action",
        "Adventure",
        "Animation",
        "Children",
        "Comedy",
        "Crime",
        "Documentary",
        "Drama",
    ),
    *(
        "Fantasy",
        "Film-Noir",
        "Horror",
        "Musical",
        "Mystery",
        "Romance",
        "Sci-Fi",
        "Thriller",
    ),
    *("War", "Western"),
}
DAY = 86400

needs_facts = pytest.mark.skipif(
    importlib.util.find_spec("bokeh_sampledata") is None,
    reason="needs bokeh_sampledata: scripts/setup --dev",
)


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return load_mini()


@pytest.fixture(scope="module")
def films(mini: Dataset) -> list[Item]:
    return list(mini.items.values())


def standard_errors_above_zero(differences: npt.NDArray[np.float64]) -> float:
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean() / error)


def make(
    root: Path,
    action: str,
    script: str = "mini",
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"scripts/make_{script}.py", action]
    return subprocess.run(
        command,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


def test_files_are_small() -> None:
    files = list((ROOT / DATA).glob("mini-*.csv"))
    assert len(files) == 3
    assert sum(file.stat().st_size for file in files) < 400_000


def test_counts(mini: Dataset) -> None:
    activity = Counter(mini.interactions["user"])
    assert (mini.name, mini.scale) == ("mini", Scale(1, 5))
    assert len(mini.items) == 351
    assert len(activity) == 400
    assert min(activity.values()) == 25
    assert 100 < max(activity.values()) <= 120
    assert min(mini.popularity.values()) > 0
    assert load("mini").digest == mini.digest


def test_films_are_facts_with_a_logline_each(films: list[Item]) -> None:
    assert len({item.label for item in films}) == len(films)
    assert len({item.attributes["logline"] for item in films}) == len(films)
    for item in films:
        assert re.fullmatch(r"m\d{3}", item.id)
        assert item.title == item.title.strip() != ""
        assert not re.search(r"\(\d{4}\)", item.title)
        assert item.year is not None
        assert 1940 <= item.year <= 2014
        assert set(item.attributes) == {"genres", "directors", "cast", "logline"}
        assert item.attributes["genres"]
        assert set(item.attributes["genres"]) <= GENRES
        assert item.attributes["directors"]
        assert all((*item.attributes["directors"], *item.attributes["cast"]))
        assert len(item.attributes["cast"]) <= 3
        assert 8 <= len(item.attributes["logline"].split()) <= 18
        assert item.attributes["logline"].endswith(".")
        title = rf"\b{re.escape(item.title.casefold())}\b"
        assert not re.search(title, item.attributes["logline"].casefold()), item.label


def test_every_kind_of_hard_title_is_there(films: list[Item]) -> None:
    titles = [item.title for item in films]
    years = dict.fromkeys(range(1940, 2020, 10), 0)
    for item in films:
        years[(item.year or 0) // 10 * 10] += 1
    assert min(years.values()) >= 8
    assert len([title for title, times in Counter(titles).items() if times > 1]) >= 15
    assert {"Alien", "Aliens", "Psycho", "American Psycho", "300", "Up", "8½"} <= set(
        titles,
    )
    assert sum(not title.isascii() for title in titles) >= 15
    assert (
        sum(
            "'" in title or "\N{RIGHT SINGLE QUOTATION MARK}" in title
            for title in titles
        )
        >= 8
    )
    assert sum(":" in title for title in titles) >= 12
    assert sum(title.startswith(("The ", "A ", "An ")) for title in titles) >= 80
    nested = [
        (a, b) for a, b in combinations(sorted(set(titles)), 2) if a in b or b in a
    ]
    assert len(nested) >= 25
    assert {genre for item in films for genre in item.attributes["genres"]} == GENRES


def test_ids_do_not_tell_popularity(mini: Dataset) -> None:
    counts = [mini.popularity[item] for item in sorted(mini.items)]
    assert abs(np.corrcoef(np.arange(len(counts)), np.log(counts))[0, 1]) < 0.1


def test_users_have_an_age_and_an_occupation(mini: Dataset) -> None:
    assert set(mini.users) == set(mini.histories)
    for user in mini.users.values():
        assert set(user) == {"age", "occupation"}
        assert 16 <= user["age"] <= 80
        assert (user["occupation"] == "retired") == (user["age"] > 66)


@needs_facts
@pytest.mark.parametrize("script", ["mini", "film_facts"])
def test_the_script_makes_the_files(script: str) -> None:
    done = make(ROOT, "--check", script)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_facts
def test_the_script_tells_where_a_file_differs(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "scripts" / "mini", tmp_path / "scripts" / "mini")
    for name in ("make_mini.py", "film_source.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    shutil.copytree(ROOT / DATA, tmp_path / DATA)
    ratings = tmp_path / DATA / "mini-ratings.csv"
    lines = ratings.read_bytes().split(b"\n")
    lines[6] = lines[6].replace(b"u001", b"u999")
    ratings.write_bytes(b"\n".join(lines))
    (tmp_path / DATA / "mini-users.csv").unlink()

    done = make(tmp_path, "--check")

    assert done.returncode == 1
    assert "mini-ratings.csv:7: has 'u999," in done.stdout
    assert "mini-users.csv: missing" in done.stdout
    assert "mini-items.csv" not in done.stdout
    assert make(tmp_path, "--write").returncode == 0
    for name in ("mini-items.csv", "mini-users.csv", "mini-ratings.csv"):
        assert (tmp_path / DATA / name).read_bytes() == (
            ROOT / DATA / name
        ).read_bytes()


def test_popularity_is_heavy_tailed(mini: Dataset) -> None:
    counts = np.sort(np.array(list(mini.popularity.values()), dtype=float))
    n = len(counts)
    gini = (2 * np.arange(1, n + 1) - n - 1) @ counts / (n * counts.sum())
    assert counts[-n // 5 :].sum() / counts.sum() > 0.5
    assert 0.45 < gini < 0.75
    assert counts[-1] > 10 * np.median(counts)

    # A log-normal law fits, and by its likelihood better than one with an exponential
    # tail.
    logs = np.log(counts)
    assert stats.kstest(logs, "norm", args=(logs.mean(), logs.std())).statistic < 0.08
    log_normal = -n * (np.log(logs.std() * np.sqrt(2 * np.pi)) + logs.mean() + 0.5)
    exponential = -n * (np.log(counts.mean()) + 1)
    assert log_normal - exponential > 5


def test_activity_is_heavy_tailed(mini: Dataset) -> None:
    activity = np.array([len(history) for history in mini.histories.values()])
    assert stats.skew(activity) > 1.5
    assert np.median(activity) < activity.mean() < activity.max() / 3


def test_ratings_are_spread_as_in_real_data(mini: Dataset) -> None:
    shares = mini.interactions["rating"].value_counts(normalize=True).sort_index()
    assert list(shares.index) == [1, 2, 3, 4, 5]
    assert 3.3 < mini.interactions["rating"].mean() < 3.8
    assert shares[1] == shares.min()
    assert shares[4] == shares.max()
    assert shares.min() > 0.01


def test_time_goes_forward_in_sessions(mini: Dataset) -> None:
    gaps = []
    for history in mini.histories.values():
        times = [rating.timestamp or 0 for rating in history]
        gaps.append(np.diff(times))
        assert times[0] >= 1420070400  # 2015, when all the films were out
    assert min(gap.min() for gap in gaps) > 0
    assert all(((gap < 300) | (gap > DAY / 2)).all() for gap in gaps)
    assert 3 < np.mean([1 + (gap > DAY / 2).sum() for gap in gaps]) < 8


def test_neighbours_in_time_are_more_alike_than_chance(mini: Dataset) -> None:
    def alike(order: list[Item]) -> float:
        sets = [set(item.attributes["genres"]) for item in order]
        return float(np.mean([len(a & b) / len(a | b) for a, b in pairwise(sets)]))

    rng = np.random.default_rng(0)
    excess = []
    for history in mini.histories.values():
        order = [rating.item for rating in history]
        excess.append(
            alike(order) - alike([order[i] for i in rng.permutation(len(order))]),
        )
    assert standard_errors_above_zero(np.array(excess)) > 4


def held_out_ranks(
    mini: Dataset,
    spec: str,
    candidates: int,
) -> npt.NDArray[np.float64]:
    """Ranks of everybody's last item, from 0; inf where it is not in the list of 10.

    With `candidates`, it is ranked among that many items, the others drawn of those not
    rated.
    """
    rng = np.random.default_rng(0)
    held_out = {user: history[-1].item for user, history in mini.histories.items()}
    requests = []
    for user, history in mini.histories.items():
        chosen = None
        if candidates:
            seen = {rating.item.id for rating in history}
            unseen = [item for item in mini.items.values() if item.id not in seen]
            drawn = [
                unseen[i]
                for i in rng.choice(len(unseen), candidates - 1, replace=False)
            ]
            drawn.append(held_out[user])
            chosen = tuple(drawn[i] for i in rng.permutation(candidates))
        requests.append(Request(user, history[:-1], mini.scale, chosen, k=10))
    train = mini.without({user: [item.id] for user, item in held_out.items()})
    answers = fitted(spec, train).recommend(requests)
    targets = [held_out[request.user].id for request in requests]
    return np.array(
        [
            answer.items.index(target) if target in answer.items else np.inf
            for answer, target in zip(answers, targets, strict=True)
        ],
    )


@pytest.mark.parametrize("candidates", [20, 0], ids=["20 candidates", "catalogue"])
def test_itemknn_beats_mostpop_beats_random(mini: Dataset, candidates: int) -> None:
    specs = ("random", "mostpop", "itemknn")
    ranks = {spec: held_out_ranks(mini, spec, candidates) for spec in specs}
    hits = {spec: np.isfinite(ranks[spec]) for spec in specs}
    gains = {spec: 1 / np.log2(ranks[spec] + 2) for spec in specs}
    for worse, better in pairwise(specs):
        for values in (hits, gains):
            difference = values[better].astype(float) - values[worse]
            assert standard_errors_above_zero(difference) > 3
    if candidates:
        assert 0.4 < hits["random"].mean() < 0.6
        assert 0.65 < hits["mostpop"].mean() < 0.8
        assert hits["itemknn"].mean() > 0.8
    else:
        assert (
            hits["itemknn"].mean()
            > 1.5 * hits["mostpop"].mean()
            > 3 * hits["random"].mean()
        )


def test_collaborative_filtering_knows_more_than_the_attributes(mini: Dataset) -> None:
    neighbours, content = (
        np.isfinite(held_out_ranks(mini, spec, 20)).astype(float)
        for spec in ("itemknn", "bm25")
    )
    assert standard_errors_above_zero(neighbours - content) > 3

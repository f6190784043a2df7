"""Relations on training data: what is fitted to what, with
which seeds, and what the verdict is about.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from benchmarks.promises import settings_of
from pytest_recsys_mt import DataError, NotApplicable, RecommenderError, RelationError
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.oracles import same_answer, same_ranking
from pytest_recsys_mt.relations import (
    Transformation,
    fit_again,
    invalid_ratings,
    permute_rows,
    renumber_items,
    renumber_users,
)
from pytest_recsys_mt.requests import Recommendation, Request
from tests.plugin.conftest import record_of
from tests.support.engine import Recsys, Run
from tests.support.recommenders import ItemKNN
from tests.support.requests import Design

MINI = load("mini")


class Counting:
    """Orders candidates by a number of the item that its fit
    draws, and writes down what it is fitted to.
    """

    fits: ClassVar[list[tuple[str, int]]] = []
    asked: ClassVar[list[tuple[str, str]]] = []
    spread = 0.0

    def fit(self, dataset: Dataset, seed: int) -> None:
        self.fits.append((dataset.digest, seed))
        self.title = {item.id: item.title for item in dataset.items.values()}
        draw = np.random.default_rng(seed)
        noise = dict(
            zip(
                sorted(self.title.values()),
                draw.random(len(self.title)),
                strict=False,
            ),
        )
        self.height = {
            item: dataset.popularity[item] / 250 + self.spread * noise[title]
            for item, title in self.title.items()
        }

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        answers = []
        for request in requests:
            offered = {item.id: item.title for item in request.candidates or ()}
            self.asked.extend((request.user, self.title[item]) for item in offered)
            assert all(self.title[item] == title for item, title in offered.items())
            best = sorted(
                offered,
                key=lambda item: (-self.height[item], self.title[item]),
            )
            answers.append(Recommendation(tuple(best[: request.k])))
        return answers


class Drawing(Counting):
    """The seed of a fit decides most of the order."""

    spread = 0.2


class Refusing(Counting):
    def fit(self, dataset: Dataset, seed: int) -> None:
        if dataset.interactions["rating"].isna().any():
            raise ValueError("a rating is missing")
        super().fit(dataset, seed)


@pytest.fixture(autouse=True)
def _afresh() -> None:
    Counting.fits.clear()
    Counting.asked.clear()


def recsys_of(tmp_path: Path, recommender: object = Counting, **changes: Any) -> Recsys:
    settings = dataclasses.replace(
        settings_of(Design(users=100), 0, tmp_path),
        **changes,
    )
    opened = Run(settings, name="refits")
    return Recsys(
        lambda design: opened.runner(recommender, "mine", design),
        settings.design,
        lambda verdict: verdict,
    ).using(refits=True)


def test_each_replicate_has_a_fit_and_no_seed_is_on_both_sides(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path)
    pairs = recsys.run().pair(recsys.run(permute_rows), users=10)
    digests = [digest for digest, _ in Counting.fits]
    assert len(digests) == 4
    assert len(set(digests)) == 2, "both fits of a side learn from the same data"
    assert len({seed for _, seed in Counting.fits}) == 4
    assert {len(asked.answers) for asked in (*pairs.source, *pairs.followup)} == {2}
    assert pairs.refits


def test_fits_are_shared_by_all_tests_of_a_run(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path)
    for relation in (permute_rows, renumber_users, permute_rows):
        recsys.rewind()
        recsys.run().pair(recsys.run(relation), users=10)
    assert len(Counting.fits) == 6  # two of the source, two of each relation


def test_answers_of_different_fits_do_not_mix(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path)
    sides = [recsys.run(), recsys.run(permute_rows), recsys.run(fit_again)]
    keys = [call.key for side in sides for _, call in side.calls(side, 2)]
    assert len(set(keys)) == 3 * 2 * 2


def test_the_same_seed_is_on_both_sides_where_the_relation_says_so(
    tmp_path: Path,
) -> None:
    recsys = recsys_of(tmp_path, Drawing)
    verdict = same_answer(recsys.run(), recsys.run(fit_again))
    assert verdict.status == "holds"
    seeds = [seed for _, seed in Counting.fits]
    assert sorted(seeds[:2]) == sorted(seeds[2:])


def test_new_ids_reach_the_recommender_and_old_ones_come_back(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path)
    pairs = recsys.run().pair(recsys.run(renumber_items), users=20)
    for before, after in zip(pairs.source, pairs.followup, strict=True):
        assert before.answers[0].items == after.answers[0].items
    Counting.asked.clear()
    recsys.run().pair(recsys.run(renumber_users), users=20)
    users = {case.request.user for case in recsys.runner.cases[:20]}
    assert {user for user, _ in Counting.asked} - users, "users have other names, too"


def test_the_spread_of_seeds_is_noise(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path, Drawing)
    verdict = same_ranking(recsys.run(), recsys.run(permute_rows), margin=0.2)
    assert verdict.floor is not None
    assert 0.2 < verdict.floor < 0.95
    assert verdict.status == "holds"


def test_a_claimed_violation_is_fitted_anew(tmp_path: Path) -> None:
    def reversed_ratings(dataset: Dataset, rng: np.random.Generator) -> Dataset:
        counts = dataset.popularity
        few = dataset.interactions["item"].map(counts) <= 30
        return dataset.replace(interactions=dataset.interactions[few])

    recsys = recsys_of(tmp_path)
    worse = recsys.run(Transformation("few", training=reversed_ratings))
    assert same_ranking(recsys.run(), worse).status == "violated"
    assert len(Counting.fits) == 8


def test_who_may_refuse_is_not_applicable_and_who_may_not_fails(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path, Refusing)
    with pytest.raises(
        NotApplicable,
        match=r"refused, as it may be: .*a rating is missing",
    ):
        same_ranking(recsys.run(), recsys.run(invalid_ratings("nan")))
    strict = dataclasses.replace(invalid_ratings("nan"), may_refuse=False)
    with pytest.raises(Exception, match="raised ValueError: a rating is missing"):
        same_ranking(recsys.run(), recsys.run(strict))


def test_without_refits_and_with_two_changes_it_says_what_to_do(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path)
    with pytest.raises(RelationError, match=r"recsys\.using\(refits=True\)"):
        recsys.using(refits=False).run(permute_rows)
    with pytest.raises(RelationError, match="one change can be made at a time"):
        recsys.run(permute_rows, renumber_users)
    with pytest.raises(ValueError, match="needs refits=True"):
        Design(trained_on=permute_rows)


def test_two_relations_of_one_name_are_two(tmp_path: Path) -> None:
    recsys = recsys_of(tmp_path)
    one, two = (
        Transformation("same name", training=lambda dataset, rng: dataset.latest(10)),
        Transformation("same name", training=lambda dataset, rng: dataset.latest(20)),
    )
    for relation in (one, two):
        recsys.rewind()
        recsys.like(recsys.design, lambda verdict: verdict).run(relation).sample(2)
    assert (
        len({digest for digest, _ in Counting.fits}) == 3
    )  # the usual data, and two changes


def test_one_object_cannot_be_fitted_anew(tmp_path: Path) -> None:
    with pytest.raises(NotApplicable, match="name its class instead"):
        recsys_of(tmp_path, Counting())


def test_built_in_recommenders_refuse_what_is_no_number_and_sort_what_is_not_sorted() -> (
    None
):
    from tests.support.recommenders import Catalogue

    spoilt = invalid_ratings("nan").training
    assert spoilt is not None
    with pytest.raises(
        RecommenderError,
        match="not finite numbers; the first is nan, of user",
    ):
        ItemKNN().fit(spoilt(MINI, np.random.default_rng(0)), 0)  # type: ignore[arg-type]
    pytest.importorskip("torch")
    from tests.support.recommenders_trained import Training

    assert permute_rows.training is not None
    permuted = permute_rows.training(MINI, np.random.default_rng(0))
    assert isinstance(permuted, Dataset)
    one, other = (Training.of(each, Catalogue.of(each)) for each in (MINI, permuted))
    assert (one.columns == other.columns).all()
    assert (one.starts == other.starts).all()


def test_a_dataset_taken_as_it_is_is_another_one() -> None:
    as_is = MINI.replace(as_is=True)
    assert as_is.digest != MINI.digest
    rows = [("u001", "m001", 99.0, 0)]
    with pytest.raises(DataError, match="outside the scale"):
        MINI.adding(rows)
    assert len(MINI.adding(rows, as_is=True).interactions) == len(MINI.interactions) + 1


SUITE = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import permute_rows, unseen_in_history

@metamorphic(permute_rows, unseen_in_history)
def test_it(source, followup):
    assert same_ranking(source, followup)
"""

MODELS = """
from pathlib import Path
from pytest_recsys_mt import Completion, Recommendation

class Fitted:
    deterministic = True
    def fit(self, dataset, seed):
        with Path(__file__).with_name("fits").open("a") as file:
            file.write("x")
    def recommend(self, requests):
        return [Recommendation(tuple(i.id for i in each.candidates)[: each.k]) for each in requests]

class Unfitted:
    deterministic = True
    recommend = Fitted.recommend

class Text:
    def complete(self, prompts):
        return [Completion("1. Alien") for _ in prompts]
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(test_mine=SUITE, models=MODELS)
    return pytester


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Unfitted", "has no fit(dataset, seed)"),
        ("Text", "answers from a prompt, and is not fitted"),
    ],
)
def test_what_is_not_fitted_is_skipped_with_one_reason(
    project: pytest.Pytester,
    name: str,
    reason: str,
) -> None:
    done = project.runpytest_inprocess(
        f"--recsys-model=models.py:{name}",
        "--recsys-json=r.json",
        "-p",
        "no:cacheprovider",
    )
    done.assert_outcomes(skipped=2)
    record = record_of(project.path / "r.json")
    rows = record["results"]
    assert record["calls"]["made"] == 0, "nothing is asked ahead for it either"
    assert {row["relation"] for row in rows} == {"permute_rows", "unseen_in_history"}
    assert all(reason in row["reason"] for row in rows)


def test_a_plan_counts_the_calls_and_fits_nothing_anew(
    project: pytest.Pytester,
) -> None:
    options = (
        "--recsys-model=models.py:Fitted",
        "-p",
        "no:cacheprovider",
        "--recsys-users=30",
    )
    done = project.runpytest_inprocess("--recsys-plan", *options)
    # Two fits on both sides for one relation, one fit on both sides for the other; one
    # source is shared.
    done.stdout.fnmatch_lines(["  150 calls planned, 0 cached, 150 to make*"])
    assert (project.path / "fits").read_text() == "x"
    done = project.runpytest_inprocess(*options, "--recsys-json=r.json")
    assert record_of(project.path / "r.json")["calls"]["planned"] == 150


@pytest.mark.slow
def test_two_workers_find_the_same(project: pytest.Pytester) -> None:
    options = (
        "--recsys-model=models.py:Fitted",
        "-p",
        "no:cacheprovider",
        "--recsys-users=80",
    )
    found = []
    for workers in ("0", "2"):
        project.runpytest_subprocess(*options, f"-n{workers}", "--recsys-json=r.json")
        rows = record_of(project.path / "r.json")["results"]
        found.append(
            sorted((row["relation"], row["status"], row["estimate"]) for row in rows),
        )
    assert found[0] == found[1]

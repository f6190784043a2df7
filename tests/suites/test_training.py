"""The training suite finds what a recommender learns wrongly, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of
from tests.suites import learners

SUITES = Path(__file__).resolve().parents[2] / "suites"

BAD = (
    "invalid_ratings('infinite')",
    "invalid_ratings('nan')",
    "invalid_ratings('negative')",
    "invalid_ratings('zero')",
)
FEW_USERS = ("add_unconnected_user(5)", "duplicate_user(5)", "split_user(5)")

# What the suite must call violated in each, and nothing else; the file that finds it.
BROKEN: dict[type[learners.Sound], tuple[str, ...]] = {
    learners.DrawsWithoutSeed: ("test_same_data.py", "fit_again"),
    learners.StopsAfterManyRows: ("test_quickly.py", "permute_rows", "renumber_users"),
    learners.TakesLabelsForPlaces: ("test_same_data.py", "other_form"),
    learners.SamplesByUserNumber: ("test_quickly.py", "renumber_users"),
    learners.LearnsByItemNumber: ("test_quickly.py", "renumber_items"),
    learners.LearnsFromRawRatings: ("test_same_data.py", "rescale_training(2)"),
    learners.ComparesExactly: ("test_same_data.py", "jitter_ratings(1e-09)"),
    learners.ForgetsWhatIsLate: ("test_same_data.py", "shift_times(520)"),
    learners.MindsTheNumberOfUsers: ("test_little_more.py", *FEW_USERS),
    learners.LearnsTheLastUsersOnly: ("test_little_more.py", *FEW_USERS),
    learners.NamesByPlace: ("test_little_more.py", "add_unconnected_item(5)"),
    learners.SpoiltBySums: ("test_little_more.py", *BAD),
    learners.FollowsTheNewest: ("test_one_item.py", "shilling('m241', 5)"),
    learners.HidesBestSellers: (
        "test_one_item.py",
        "chosen_together('m297', 'm275', 40)",
    ),
    learners.BeginsAnewAtStrangers: ("test_unseen.py", "unseen_in_history"),
}
ALWAYS = (learners.LearnsByItemNumber,)
"""What every run tries; the others are of the slow set."""
EVERY = pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            fault,
            id=fault.__name__,
            marks=() if fault in ALWAYS else pytest.mark.slow,
        )
        for fault in BROKEN
    ],
)


def rows_of(
    pytester: pytest.Pytester,
    suite: str,
    fault: type[learners.Sound],
    *options: str,
) -> list[dict[str, Any]]:
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITES / suite, f"--recsys-json={path}", "-p", "no:cacheprovider", "-q",
        f"--recsys-model={fault.__module__}:{fault.__name__}", *options,
    )  # fmt: skip
    rows: list[dict[str, Any]] = record_of(path)["results"]
    return rows


VANDAL = """
from pytest_recsys_mt.recommenders import resolve


class Vandal:
    deterministic = True

    def fit(self, dataset, seed):
        self.sound = resolve("mostpop")
        self.sound.fit(dataset, seed)
        dataset.interactions["rating"] = 1.0
        dataset.interactions.loc[::2, "item"] = dataset.interactions["item"].iloc[0]

    def recommend(self, requests):
        return self.sound.recommend(requests)
"""


def test_what_a_fit_does_to_its_data_is_its_own_affair(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(vandal=VANDAL)
    path = pytester.path / "record.json"
    pytester.runpytest_inprocess(
        SUITES / "training/test_same_data.py", SUITES / "training/test_quickly.py", "-q",
        "-k", "permute_rows or fit_again",
        "--recsys-model=vandal.py:Vandal", "--recsys-model=mostpop", f"--recsys-json={path}",
        "-p", "no:cacheprovider", "--recsys-users=100",
    )  # fmt: skip
    rows = record_of(path)["results"]
    assert {row["status"] for row in rows} == {"holds"}
    assert len({(row["relation"], row["users"], row["estimate"]) for row in rows}) == 2


@EVERY
def test_the_suite_finds_the_fault(
    pytester: pytest.Pytester,
    fault: type[learners.Sound],
) -> None:
    file, *promises = BROKEN[fault]
    found = rows_of(pytester, f"training/{file}", fault, "--recsys-users=100")
    assert not [row for row in found if row["status"] == "error"]
    assert {row["relation"] for row in found if row["status"] == "violated"} == set(
        promises,
    )


@pytest.mark.slow  # a run of the default suites has most of it
def test_a_sound_recommender_keeps_every_promise(pytester: pytest.Pytester) -> None:
    rows = rows_of(pytester, "training", learners.Sound, "--recsys-effort=thorough")
    others = {
        row["relation"]: row["status"] for row in rows if row["status"] != "holds"
    }
    refused = ("invalid_ratings('nan')", "invalid_ratings('infinite')")
    assert others == dict.fromkeys(refused, "not-applicable")


@pytest.mark.slow
@EVERY
def test_no_relation_on_requests_finds_it(
    pytester: pytest.Pytester,
    fault: type[learners.Sound],
) -> None:
    rows = rows_of(pytester, "metamorphic", fault)
    assert rows
    found = {row["relation"] for row in rows if row["status"] in ("violated", "error")}
    # A new process fits it once more, so a draw without a seed shows there, too, if a
    # spec makes it. What is learnt of few items leaves short histories without an
    # answer of their own.
    others = {
        learners.DrawsWithoutSeed: {"ask_elsewhere"},
        learners.LearnsByItemNumber: {"truncate_history(3), swap_history"},
    }
    assert found <= others.get(fault, set())

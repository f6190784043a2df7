"""What users are too few to show is left out of the
shipped suites, and says how many would do.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from pytest_recsys_mt.oracles import different_ranking, same_ranking
from pytest_recsys_mt.verdict.answers import Answers, Context, Drawn, Pairs
from tests.oracles.support import DETERMINISTIC, FakeAnswers, ask, plackett_luce, sides
from tests.plugin.conftest import record_of
from tests.support.oracles import chance_agreement
from tests.support.oracles_judging import Effects, least_change, users_needed
from tests.support.oracles_similarities import similarity_named

METAMORPHIC = Path(__file__).resolve().parents[2] / "suites" / "metamorphic"
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("effect", "reach", "few"),
    [
        (np.zeros(40), (-0.5, 1.0), True),
        (np.zeros(61), (-0.5, 1.0), True),
        (np.zeros(100), (-0.5, 1.0), False),
        (np.clip(RNG.normal(0.01, 0.05, 200), -0.5, 1), (-0.5, 1.0), False),
        (np.clip(RNG.normal(0.01, 0.3, 200), -0.5, 1), (-0.5, 1.0), True),
        ((np.arange(100) < 1).astype(float), (0.0, 1.0), True),
        ((np.arange(2000) < 20).astype(float), (0.0, 1.0), False),
    ],
)
def test_as_many_users_are_needed_as_show_a_promise_that_is_kept(
    effect: np.ndarray,
    reach: tuple[float, float],
    few: bool,
) -> None:
    effects = Effects(np.arange(len(effect)), effect, reach)
    needed = users_needed(effects, 0.05, True, 0.05, room=0.05)
    assert (needed is not None) is few
    assert needed is None or needed > len(effect)


def test_the_least_change_falls_with_the_users() -> None:
    changes = [least_change(users, 0.05) for users in (20, 40, 62, 200)]
    assert changes == sorted(changes, reverse=True)
    assert changes[2] <= 0.05 < least_change(61, 0.05)


def test_random_orders_agree_as_far_as_can_be_counted() -> None:
    overlap = similarity_named("overlap")
    assert chance_agreement(overlap, 20, 10) == pytest.approx(0.5, abs=0.01)
    assert chance_agreement(overlap, 100, 5) == pytest.approx(0.05, abs=0.005)
    assert chance_agreement(overlap, 3, 3) == pytest.approx(2 / 3)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_a_difference_is_asked_relative_to_what_noise_leaves(
    temperature: float,
) -> None:
    """Another user's taste is another answer at every noise; a
    recommender that reads no taste never passes.
    """
    rng = np.random.default_rng(3)
    offered = [f"i{item}" for item in range(20)]
    tastes = rng.normal(size=(150, 20))
    for other, broken in ((rng.permuted(tastes, axis=1), False), (tastes, True)):
        lists = [
            plackett_luce(each, 2, temperature, rng, 10) for each in (tastes, other)
        ]
        context = Context()
        ours, theirs = (FakeAnswers(ask(side, 10, offered), context) for side in lists)
        verdict = different_ranking(
            ours,
            dataclasses.replace(theirs, label="x"),
            margin=0.1,
        )
        assert (verdict.status == "holds") is not broken, verdict.summary


def test_the_mean_of_a_whole_population_is_what_it_is() -> None:
    ours, theirs = sides(
        [[["a", "b", "c"]]] * 30,
        [[["a", "b", "c"]]] * 29 + [[["d", "e", "f"]]],
        DETERMINISTIC,
        k=3,
    )

    class Whole(FakeAnswers):
        def pair(self, followup: Answers, /, users: int | None = None) -> Pairs:
            drawn = (
                frozenset[Drawn]()
                if users in (None, 30)
                else frozenset[Drawn]({"users"})
            )
            return dataclasses.replace(
                FakeAnswers.pair(ours, followup, users),
                drawn=drawn,
            )

    assert same_ranking(ours, theirs, margin=0.05).status == "inconclusive"
    exact = same_ranking(Whole(ours.asked, ours.context), theirs, margin=0.05)
    assert exact.status == "holds"
    assert exact.interval == (exact.estimate, exact.estimate)
    assert (
        same_ranking(Whole(ours.asked, ours.context), theirs, margin=0.03).status
        == "violated"
    )


FAMILY = """
from pathlib import Path
from pytest_recsys_mt.plugin.state import run_of

def pytest_runtest_teardown(item):
    with Path(__file__).with_name("families").open("a") as stream:
        print(run_of(item.config).settings.family, len(item.session.items), file=stream)
"""


def test_workers_say_once_what_few_users_cannot_show(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(family=FAMILY)
    pytester.syspathinsert()
    done = pytester.runpytest_subprocess(
        str(METAMORPHIC / "test_ratings.py"), "-p", "no:cacheprovider", "-n2", "-p", "family",
        "--recsys-users=40", "--recsys-model=itemknn",
    )  # fmt: skip
    lines = done.stdout.lines
    (place,) = (
        at for at, line in enumerate(lines) if "40 users are too few for some" in line
    )
    assert place < next(at for at, line in enumerate(lines) if "100%]" in line)
    # Saying so makes the run, which must know by then how many tests may find a
    # violation.
    families = (pytester.path / "families").read_text().split("\n")
    assert {(found := line.split())[0] == found[1] for line in families if line} == {
        True,
    }


def test_a_small_suite_is_honest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history

        @metamorphic(reorder_history)
        def test_own(source, followup):
            assert same_ranking(source, followup, margin=0.05)
        """,
    )
    options = (
        "-p",
        "no:cacheprovider",
        "--recsys-users=40",
        "--recsys-json=record.json",
        "--recsys-model=itemknn",
    )
    # What another process answers is no matter of how many users there are.
    done = pytester.runpytest_inprocess(
        str(METAMORPHIC),
        "-k",
        "not ask_elsewhere",
        *options,
    )
    done.stdout.fnmatch_lines(
        [
            "40 users are too few for some limits below 0.08: such tests of the suites*",
            "*too few to show it*",
            "*--recsys-users=*",
        ],
    )
    assert done.ret == 0
    rows = record_of(pytester.path / "record.json")["results"]
    left = [row for row in rows if "users_needed" in row["details"]]
    assert len(left) > 5
    assert {row["status"] for row in left} == {"not-applicable"}
    assert all(row["details"]["users_needed"] > 40 for row in left)
    own = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-users=40",
        "--recsys-model=itemknn",
    )
    own.assert_outcomes(failed=1)
    own.stdout.fnmatch_lines(["*reorder_history is inconclusive*"])

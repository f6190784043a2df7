"""Two recommenders side by side: what differs beyond the noise of both is found, and
noise is not taken for it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.promises import settings_of
from pytest_recsys_mt import OracleError, Verdict
from pytest_recsys_mt.oracles import served_as_trained, unmoved
from pytest_recsys_mt.relations import shuffle_candidates
from pytest_recsys_mt.requests import Recommendation, Request
from tests.support.engine import Run, Side
from tests.support.requests import Design

DESIGN = Design(users=200)


class Ranker:
    """Ranks by a fixed score of user and item; optionally with noise, and with an index
    that lacks some items.

    Args:
        noise: Standard deviation of what is added to each score; scores lie between 0
            and 1.
        stale: The share of items that the index lacks: they come last.
        fails: The share of users whose requests fail.
    """

    def __init__(
        self,
        noise: float = 0.0,
        stale: float = 0.0,
        fails: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.deterministic = not noise
        self._noise = noise
        self._stale = stale
        self._fails = fails
        self._random = random.Random(seed)
        self.asked = 0

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        self.asked += len(requests)
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Recommendation:
        if unit(request.user, "fails") < self._fails:
            raise ValueError("no such user")
        assert request.candidates is not None
        scores = {
            item.id: self._score(request.user, item.id) for item in request.candidates
        }
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)
        return Recommendation(tuple(ranked[: request.k]))

    def _score(self, user: str, item: str) -> float:
        if unit(item, "index") < self._stale:
            return -1.0 + unit(user, item) / 10
        return unit(user, item) + self._random.gauss(0, self._noise)


def unit(*texts: str) -> float:
    digest = hashlib.sha256("|".join(texts).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    opened = Run(settings_of(DESIGN, 0, tmp_path), name="two")
    yield opened
    opened.close()


def side(run: Run, recommender: object, name: str, design: Design = DESIGN) -> Side:
    runner = run.runner(recommender, name, design, "a fixture")
    return Side(runner, runner.context())


def parity(run: Run, ours: Ranker, theirs: Ranker) -> Verdict:
    verdict: Verdict = served_as_trained(
        side(run, ours, "ours"),
        side(run, theirs, "theirs"),
        changed=0.05,
    )
    return verdict


NOISE = 0.05

SLOW = """
import pathlib, time
from pytest_recsys_mt import Recommendation

class A:
    deterministic = True

    def recommend(self, requests):
        pathlib.Path("asked").touch()
        time.sleep(0.5)
        return [Recommendation(tuple(i.id for i in r.candidates[: r.k])) for r in requests]

class B(A):
    pass
"""


@pytest.mark.parametrize(
    ("ours", "theirs", "oracle", "status"),
    [
        (Ranker(), Ranker(), "served_as_trained:any:rbo", "holds"),
        (Ranker(), Ranker(stale=0.3), "served_as_trained:any:rbo", "violated"),
        (
            Ranker(noise=NOISE),
            Ranker(noise=NOISE, seed=1),
            "served_as_trained:rbo",
            "holds",
        ),
        (
            Ranker(noise=NOISE),
            Ranker(noise=2 * NOISE, seed=1),
            "served_as_trained:rbo",
            "holds",
        ),
        (
            Ranker(noise=NOISE),
            Ranker(noise=NOISE, stale=0.3),
            "served_as_trained:rbo",
            "violated",
        ),
        (Ranker(), Ranker(noise=NOISE / 5), "served_as_trained:rbo", "holds"),
        (Ranker(noise=NOISE / 5), Ranker(), "served_as_trained:rbo", "holds"),
        (Ranker(), Ranker(noise=NOISE, stale=0.3), "served_as_trained:rbo", "violated"),
        (Ranker(noise=NOISE, stale=0.3), Ranker(), "served_as_trained:rbo", "violated"),
        (Ranker(), Ranker(fails=0.3), "served_as_trained:any:rbo", "error"),
        (Ranker(fails=0.3), Ranker(noise=NOISE), "served_as_trained:rbo", "error"),
    ],
)
def test_a_difference_beyond_the_noise_of_both_is_found(
    run: Run,
    ours: Ranker,
    theirs: Ranker,
    oracle: str,
    status: str,
) -> None:
    verdict = parity(run, ours, theirs)
    assert (verdict.oracle, verdict.status) == (oracle, status)
    assert verdict.relation == "against theirs"


def test_the_deterministic_one_of_two_is_asked_once_a_user(run: Run) -> None:
    exact, noisy = Ranker(), Ranker(noise=NOISE / 5)
    verdict = parity(run, exact, noisy)
    assert noisy.asked == 2 * exact.asked
    assert exact.asked == verdict.users
    assert verdict.floor is not None
    assert verdict.floor < 1, "the mean of no noise and of the noise of the other one"


def test_one_recommender_against_itself_is_no_pair_of_two(run: Run) -> None:
    ours = Ranker()
    source = side(run, ours, "ours")
    with pytest.raises(
        OracleError,
        match="both sides are the same answers, those of ours",
    ):
        unmoved(source, side(run, ours, "ours"))


def test_a_relation_may_be_asked_of_both(run: Run) -> None:
    ours, theirs = (
        Side(runner, runner.context(), (shuffle_candidates,), 1)
        for runner in (
            run.runner(Ranker(), "ours", DESIGN, "a"),
            run.runner(Ranker(), "theirs", DESIGN, "b"),
        )
    )
    verdict = unmoved(ours, theirs)
    assert (verdict.status, verdict.relation) == (
        "holds",
        "shuffle_candidates against theirs",
    )


def test_both_need_one_design(run: Run) -> None:
    with pytest.raises(OracleError, match="answers to one design"):
        unmoved(
            side(run, Ranker(), "ours"),
            side(run, Ranker(), "theirs", Design(users=200, k=5)),
        )


class Longer(Ranker):
    """Names two items more than it is asked for."""

    def _answer(self, request: Request) -> Recommendation:
        return super()._answer(request.replace(k=request.k + 2))


def test_lists_that_are_longer_than_asked_are_counted(run: Run) -> None:
    verdict = parity(run, Ranker(), Longer())
    assert verdict.status == "holds", "the first k items are compared"
    assert run.recommenders.notes == [
        f"{verdict.users} answers of theirs name more items than were asked for; only the first k of each count",
    ]


ABOUT_PARITY = """
from pytest_recsys_mt import Recommendation

class A:
    deterministic = True

    def recommend(self, requests):
        return [Recommendation(tuple(i.id for i in r.candidates[: r.k])) for r in requests]

class B(A):
    def recommend(self, requests):
        lists = super().recommend(requests)
        return [Recommendation(a.items[::-1]) if r.user == "u086" else a for a, r in zip(lists, requests)]
"""


def parity_in(folder: Path, *typed: str) -> subprocess.CompletedProcess[str]:
    (folder / "two.py").write_text(ABOUT_PARITY)
    (folder / "pytest.ini").write_text("[pytest]\n")
    program = "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", program, *typed], cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_too_few_users_for_a_share_are_told_of_the_exact_way(tmp_path: Path) -> None:
    done = parity_in(
        tmp_path,
        "parity",
        "two:A",
        "two:B",
        "--users=40",
        f"--recsys-cache={tmp_path}/cache",
    )
    told = " ".join(done.stdout.split())
    assert "inconclusive: promise.py::test_served_as_trained_by_default[two-A]" in told
    assert (
        "note: both declare that they always answer alike: --exact needs no more users"
        in told
    )
    kept = parity_in(tmp_path, "runs")
    assert "two:A against two:B on mini" in kept.stdout


def test_a_service_that_cannot_be_reached_is_named_at_once(tmp_path: Path) -> None:
    done = parity_in(
        tmp_path, "parity", "two:A", "http://127.0.0.1:9/rank?max_wait=0", "--users=20",
        f"--recsys-cache={tmp_path}/cache",
    )  # fmt: skip
    lines = done.stdout.splitlines()
    told = next(
        place for place, line in enumerate(lines) if "cannot be reached" in line
    )
    assert told < 5, done.stdout
    assert len(lines) < 20, done.stdout


@pytest.mark.slow  # 100 pairs in a minute: the error rate, which one case above cannot show
def test_sound_pairs_are_seldom_called_violated(tmp_path: Path) -> None:
    violated = 0
    for seed in range(100):
        opened = Run(settings_of(DESIGN, seed, tmp_path / str(seed)), name="two")
        noise = NOISE * (1 + seed % 3)
        verdict = parity(
            opened,
            Ranker(noise, seed=seed),
            Ranker(noise, seed=1000 + seed),
        )
        violated += verdict.status == "violated"
        opened.close()
    assert violated <= 5


@pytest.mark.skipif(
    os.name == "nt",
    reason="signals of a process group are those of POSIX",
)
def test_ctrl_c_ends_parity_as_it_ends_pytest(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-c",
        "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())",
    ]
    process = subprocess.Popen(
        [*command, "parity", "slow:A", "slow:B", "--recsys-json=record.json", f"--recsys-cache={tmp_path}/cache"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    while not (tmp_path / "asked").exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert "Traceback" not in output
    record = json.loads((tmp_path / "record.json").read_text())
    assert "it was interrupted" in record["gate"]["sentence"]

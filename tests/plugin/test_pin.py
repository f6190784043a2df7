"""`pinned` and --recsys-pin through the command line."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run, record_of

TEST = """
from pytest_recsys_mt.oracles import pinned

def test_pinned(recsys):
    assert pinned(recsys.run(), "pinned.toml")
"""
MODELS = """
from pytest_recsys_mt import NotApplicable, Recommendation

class Shop:
    deterministic = True
    turned = ()
    refuses = ()
    fails = ()

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        if request.user in self.refuses:
            raise NotApplicable("no such customer")
        if request.user in self.fails:
            raise RuntimeError("429")
        ids = sorted((item.id for item in request.candidates), reverse=request.user in self.turned)
        return Recommendation(tuple(ids[: request.k]))

class Turned(Shop):
    turned = ("u001", "u002", "u073")

class Refusing(Shop):
    refuses = ("u001",)

class Raising(Shop):
    fails = ("u001",)
"""


@pytest.fixture
def pins(project: pytest.Pytester) -> pytest.Pytester:
    project.makepyfile(models=MODELS, test_pins=TEST)
    return project


TOLD = "pinned.toml written: it is new, and pins the lists of 10 users; review the diff"


@ON_WORKERS_TOO
def test_a_run_that_writes_the_file_fails_and_its_rerun_too(
    run: Run,
    pins: pytest.Pytester,
) -> None:
    record, junit = pins.path / "r.json", pins.path / "junit.xml"
    shop = [
        "--recsys-model=models:Shop",
        f"--recsys-json={record}",
        f"--junitxml={junit}",
    ]
    assert run(*shop, "--recsys-pin", "--reruns=1").ret == 1
    assert (pins.path / "pinned.toml").read_text().count("[users.") == 10
    found = record_of(record)
    assert TOLD in found["notes"]
    (row,) = found["results"]
    assert (row["status"], row["reason"], row["attempts"]) == ("inconclusive", TOLD, 2)
    assert TOLD in junit.read_text()


def test_a_file_is_written_kept_broken_and_written_anew(
    run: Run,
    pins: pytest.Pytester,
) -> None:
    file, record = pins.path / "pinned.toml", pins.path / "r.json"
    missing = run("--recsys-model=models:Shop")
    missing.stdout.fnmatch_lines(
        ["*there is no file 'pinned.toml'; pytest --recsys-pin writes it*"],
    )
    assert run("--recsys-model=models:Shop", "--recsys-pin").ret == 1

    assert run("--recsys-model=models:Shop", f"--recsys-json={record}").ret == 0
    (row,) = record_of(record)["results"]
    assert (row["status"], row["oracle"], row["users"]) == (
        "holds",
        "pinned:pinned.toml",
        10,
    )

    turned, before = (
        ["--recsys-model=models:Turned", f"--recsys-json={record}"],
        file.read_text(),
    )
    broken = run(*turned)
    assert broken.ret == 1
    broken.stdout.fnmatch_lines(["*1 of 10 pinned lists is broken: user*"])
    assert file.read_text() == before

    again = run(*turned, "--recsys-pin")
    assert again.ret == 1
    (note,) = [each for each in record_of(record)["notes"] if "written" in each]
    assert note == "pinned.toml written: 1 of 10 lists changed; review the diff"
    again.stdout.fnmatch_lines(["pinned.toml: user 'u073': came: *; went: *"])
    assert run(*turned, "--recsys-pin").ret == 0, "nothing was left to write"


def test_users_outside_the_sample_are_asked_and_planned(
    run: Run,
    pins: pytest.Pytester,
) -> None:
    text = "[users.u001]\nexcludes = ['m999']\nk = 3\n[users.u002]\nexcludes = ['m001']\ncandidates = 30\n"
    (pins.path / "pinned.toml").write_text(text.replace("m999", "m001"))
    record = pins.path / "r.json"
    planned = run("--recsys-model=models:Shop", "--recsys-plan")
    planned.stdout.fnmatch_lines(["*  2 calls planned, 0 cached, 2 to make*"])
    assert run("--recsys-model=models:Shop", f"--recsys-json={record}").ret == 0
    found = record_of(record)
    assert found["calls"]["made"] == 2
    (row,) = found["results"]
    assert set(row["per_user"]) == {"u001", "u002"}
    stopped = run(
        "--recsys-model=models:Shop",
        "--recsys-max-calls=1",
        f"--recsys-json={record}",
    )
    assert stopped.ret == 1
    (row,) = record_of(record)["results"]
    assert (row["status"], "max-calls" in row["reason"]) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("model", "status", "why"),
    [("Refusing", "error", "no such customer"), ("Raising", "error", "429")],
)
def test_users_without_an_answer_are_named(
    run: Run,
    pins: pytest.Pytester,
    model: str,
    status: str,
    why: str,
) -> None:
    # Of its own k, so that the recommender refuses every request of this side.
    text = (
        "[users.u001]\nexcludes = ['m001']\nk = 3\n[users.u002]\nexcludes = ['m001']\n"
    )
    (pins.path / "pinned.toml").write_text(text)
    record = pins.path / "r.json"
    assert run(f"--recsys-model=models:{model}", f"--recsys-json={record}").ret == 1
    (row,) = record_of(record)["results"]
    assert row["status"] == status
    assert "1 of 2 users have no list (user 'u001': " in row["reason"]
    assert why in row["reason"]
    assert row["account"]["answered"] == 1


def test_one_recommender_is_pinned_at_a_time(run: Run, pins: pytest.Pytester) -> None:
    two = run(
        "--recsys-model=models:Shop",
        "--recsys-model=models:Turned",
        "--recsys-pin",
    )
    assert two.ret == 4
    two.stderr.fnmatch_lines(["*writes the lists of one recommender*"])


def test_a_run_without_such_a_test_says_so(run: Run, pins: pytest.Pytester) -> None:
    pins.makepyfile(test_pins="def test_other(recsys):\n    assert recsys.model\n")
    other = run("--recsys-model=models:Shop", "--recsys-pin")
    assert other.ret == 4
    other.stdout.fnmatch_lines(
        ["*--recsys-pin wrote nothing: no test of this run calls pinned*"],
    )

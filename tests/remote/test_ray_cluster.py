"""Runs whose calls go to a real Ray cluster of two nodes on this machine."""

import base64
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.remote.conftest import Project, TwoNodes

KEY = "sk-sentinel-of-this-test+/="


def wait_until(
    true: Callable[[], bool],
    run: subprocess.Popen[str] | None = None,
) -> None:
    """Wait for something that comes; ends with the run, should it end before."""
    for _ in range(1200):
        if true():
            return
        if run is not None and run.poll() is not None:
            pytest.fail(f"the run ended early:\n{run.communicate()[0]}")
        time.sleep(0.1)
    pytest.fail("waited two minutes for nothing")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["Doomed", "Writer"])
def test_killing_a_node_loses_no_answer(
    project: Project,
    cluster: TwoNodes,
    model: str,
) -> None:
    spec = f"--recsys-model=models:{model}"
    _, local = project.run(spec, executor="local")
    planned = set(project.asked())
    (project.folder / "doomed").write_text(cluster.nodes[1])
    run = project.start(spec)
    try:
        wait_until((project.folder / "stuck").exists, run)
        cluster.order("kill")
        output, _ = run.communicate(timeout=120)
    finally:
        run.kill()
        cluster.order("add")
    # The writer names films that were not offered, so nothing can hold.
    assert ("2 failed" if model == "Writer" else "2 passed") in output
    asked = project.asked()
    assert set(asked) == planned
    assert set(asked.values()) == {1, 2}, (
        "what the dead node had not answered is asked again"
    )
    if model == "Writer":
        assert sum(asked.values()) == len(asked) + 1, "its five answers had arrived"
    # Everything is cached: no cluster is needed, and the verdicts are those of the
    # local run.
    project.address = "127.0.0.1:9"
    output, record = project.run(spec)
    assert record["results"] == local["results"]
    assert record["calls"]["cached"] == local["calls"]["made"]
    assert local["calls"]["made"] + local["calls"]["again"] == len(planned)
    assert project.asked() == {}


@pytest.mark.slow  # a minute and a half: Ray makes twelve actors anew
def test_a_call_that_kills_its_actor_costs_no_other_call(project: Project) -> None:
    project.run(
        "--recsys-model=models:Neighbours",
        "--recsys-users=12",
        executor="local",
    )
    planned = project.asked()
    user = min(planned).split()[0]
    (project.folder / "poison").write_text(user)
    output, record = project.run("--recsys-model=models:Poisoned", "--recsys-users=12")
    poisoned = {call for call in planned if call.split()[0] == user}
    asked = project.asked()
    assert set(asked) == set(planned)
    assert max(asked.values()) == 4, "by two actors, and once more"
    assert {asked[call] for call in poisoned} == {4}
    assert record["calls"]["failed"] == len(poisoned)
    assert record["calls"]["made"] == len(planned) - len(poisoned)
    assert [row["errors"] for row in record["results"]] == [1, 1]
    assert "asked 2 times, and its Ray actor died each time" in output


def test_a_fixture_of_conftest_travels_and_the_key_does_not(
    project: Project,
    cluster: TwoNodes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.pytester.makeconftest(
        """
        import pytest
        from models import Neighbours

        class Mine(Neighbours):
            name = "mine"

        @pytest.fixture
        def recommender():
            return Mine()
        """,
    )
    project.pytester.makepyfile(
        test_it="""
        from dataclasses import dataclass
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking

        @dataclass(frozen=True)
        class Shout:
            loud: bool = True

            def __call__(self, text):
                return text.upper()

        def shout(request, rng):
            return request.replace(edits=(*request.edits, Shout()))

        @metamorphic(shout)
        def test_shout(source, followup):
            assert same_ranking(source, followup, margin=0.5)
        """,
    )
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    output, _ = project.run("--import-mode=importlib", "-o", "pythonpath=.")
    assert "1 passed" in output, output
    assert set(project.lines("nodes.log")) <= set(cluster.nodes)
    assert max(project.asked().values()) == 1
    assert set(project.lines("keys.log")) == {"None"}
    forms = [form.encode() for form in (KEY, quote(KEY, safe=""))]
    forms.append(base64.b64encode(KEY.encode()))
    artefacts = [*Path(cluster.folder).rglob("*"), *project.folder.rglob("*")]
    for path in artefacts:
        if path.is_file():
            text = path.read_bytes()
            assert not any(form in text for form in forms), path


@pytest.mark.slow
def test_the_smallest_counterexample_is_that_of_a_local_run(project: Project) -> None:
    options = ("--recsys-model=models:Turning", "--recsys-shrink=30", "-k", "scale")
    _, local = project.run(*options, executor="local")
    output, record = project.run(*options)
    assert "1 failed" in output, output
    assert record["results"] == local["results"]
    assert project.lines("nodes.log").count("local") == 0


@pytest.mark.slow
def test_two_workers_take_turns_at_the_cluster(project: Project) -> None:
    output, record = project.run("--recsys-model=models:Neighbours", "-n", "2")
    assert "2 passed" in output, output
    assert record["calls"]["made"] == len(project.asked())
    assert set(project.asked().values()) == {1}


@pytest.mark.slow
def test_what_cannot_be_asked_there_says_why(project: Project) -> None:
    specs = ["models:Neighbours?gpus=1", "models:Elsewhere", "models:Unmade"]
    output, _ = project.run(
        *(f"--recsys-model={spec}" for spec in specs),
        "-k",
        "reorder",
        "-W",
        "default",
    )
    assert "has room for models:Neighbours?gpus=1, which needs cpus=1, gpus=1" in output
    assert "it is another recommender there: fingerprint is" in output
    assert "no Ray actor could make the recommender models:Unmade" in output
    assert "no weights on this machine" in output
    project.pytester.makeconftest(
        """
        import pytest
        from models import Neighbours, threading

        @pytest.fixture
        def recommender():
            made = Neighbours()
            made.lock = threading.Lock()
            return made
        """,
    )
    output, _ = project.run("-k", "reorder")
    assert (
        "cannot be sent to Ray's actors: pickling the recommender raised TypeError"
        in output
    )


@pytest.mark.slow  # durability/test_interrupts stops runs; Ray ends actors with their driver
def test_an_interrupt_ends_the_actors(project: Project) -> None:
    run = project.start("--recsys-model=models:Sleepy")
    try:
        wait_until((project.folder / "stuck").exists, run)
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=60)
    finally:
        run.kill()
    assert "KeyboardInterrupt" in output
    pids = set(project.lines("pids.log"))
    assert pids
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:9", pytest.param("ray://127.0.0.1:10001", marks=pytest.mark.slow)],
)
def test_without_a_cluster_the_error_says_how_to_start_one(
    project: Project,
    address: str,
) -> None:
    project.address = address
    output, _ = project.run("--recsys-model=itemknn", "-k", "reorder")
    assert f"no Ray cluster to reach at RAY_ADDRESS='{address}'" in output
    assert "start one with 'ray start --head'" in output


def test_without_ray_the_run_ends_before_it_begins(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    done = pytester.runpytest_inprocess(
        "-orecsys_executor=ray",
        "-p",
        "no:cacheprovider",
    )
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*pip install 'pytest-recsys-mt[[]ray]'*"])
    assert os.environ.get("RAY_ADDRESS") is None

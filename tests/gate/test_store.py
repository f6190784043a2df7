"""Runs are kept in the project, and one is accepted as
what later ones are compared with.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import PolicyError
from tests.plugin.conftest import TOYS
from tests.support.cli import main
from tests.support.gate import DAY, MOST, Store, decoded

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.05)
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    pytester.makepyfile(toys=TOYS, test_it=TEST)
    pytester.syspathinsert()

    def run(model: str, *arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", "--recsys-users=70", "--recsys-shrink=0", f"--recsys-model={model}",
            *arguments,
        )  # fmt: skip

    return run


def kept(folder: Path, document: dict[str, Any], **more: Any) -> int:
    return Store.of(folder).keep(
        document,  # type: ignore[arg-type]
        [json.dumps(document)],
        folder,
        everybody=True,
        **more,
    )


@pytest.fixture
def document(run: Run, pytester: pytest.Pytester) -> dict[str, Any]:
    """The record of a whole run, kept nowhere."""
    run("itemknn", "--recsys-json=one.json", "--recsys-keep=no")
    assert not (pytester.path / ".recsys").exists()
    return dict(json.loads((pytester.path / "one.json").read_text()))


def test_a_release_is_compared_with_the_accepted_run(
    run: Run,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("itemknn")
    assert main(["runs", "accept"]) == 2
    assert "repeat its command with --recsys-keep=baseline" in capsys.readouterr().err
    assert run("itemknn", "--recsys-keep=baseline").ret == 0
    assert main(["runs", "accept"]) == 0
    assert run("itemknn", "--recsys-baseline").ret == 0
    refused = run("toys.py:ScaleSensitive", "--recsys-baseline")
    assert refused.ret == 1
    refused.stdout.fnmatch_lines(
        ["*toys.py:ScaleSensitive against itemknn of run 2*", "*REGRESSED*"],
    )
    capsys.readouterr()
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0].strip() for line in lines[1::2]] == [
        "gate passed", "gate passed", "gate passed", "gate failed",
    ]  # fmt: skip
    assert [
        number for number, line in enumerate(lines[1::2], 1) if "baseline" in line
    ] == [2]
    assert main(["report", "4"]) == 0
    assert "regressed" in (pytester.path / "run-4.html").read_text()
    assert (pytester.path / ".recsys" / ".gitignore").read_text() == "*\n"

    inner = pytester.mkdir("another project")
    kept = str(pytester.path / ".recsys" / "runs")
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(inner)
        assert main(["runs"]) == main(["runs", "accept"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"of {kept!r}, as no run is kept in this folder:\n")
    assert f"run 4 in {kept!r} is the baseline" in said


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are of POSIX")
def test_a_full_disk_leaves_no_empty_list_of_what_git_ignores(
    document: dict[str, Any],
    tmp_path: Path,
) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            kept(tmp_path, document)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    kept(tmp_path, document)
    assert (tmp_path / ".recsys" / ".gitignore").read_text() == "*\n"


@pytest.mark.slow  # test_a_known_violation_passes_until_its_last_day keeps one run of two workers
def test_workers_keep_one_run(run: Run, pytester: pytest.Pytester) -> None:
    run("itemknn", "-n2")
    (one,) = Store.of(pytester.path).runs()
    assert one.head["counts"] == {"holds": 1}


def test_the_baseline_is_that_with_the_same_tests(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    run("itemknn", "--recsys-keep=baseline")
    pytester.makepyfile(test_other=TEST)
    run("itemknn", "--recsys-keep=baseline", "test_other.py")
    store = Store.of(pytester.path)
    assert [store.accept(number).number for number in (1, 2)] == [1, 2]
    again = run("itemknn", "--recsys-baseline", "--recsys-json=r.json", "test_it.py")
    again.stdout.fnmatch_lines(["*itemknn against itemknn of run 1*"])
    assert [each.number for each in store.runs() if each.accepted] == [1, 2]
    store.accept(3)
    assert [each.number for each in store.runs() if each.accepted] == [2, 3], (
        "of the same tests"
    )


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("--recsys-baseline", "no run of '*' is accepted as a baseline"),
        (
            "--recsys-baseline=.",
            "that is no record; for the accepted run write --recsys-baseline=accepted",
        ),
    ],
)
def test_a_baseline_that_is_none_ends_the_run_before_a_test(
    run: Run,
    value: str,
    why: str,
) -> None:
    done = run("itemknn", value)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines([f"*{why}*"])


def test_a_damaged_run_is_named_and_the_others_are_listed(
    document: dict[str, Any],
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in range(4):
        kept(pytester.path, document)
    runs = pytester.path / ".recsys" / "runs"
    (runs / "1" / "head.json").write_text('{"schema": "recsys-mt-run/1", "models": 3}')
    (runs / "2" / "head.json").unlink()
    record = runs / "3" / "record.json.gz"
    record.write_bytes(record.read_bytes()[:50])
    (runs / "accepted.json").write_text("[" * 100_000)
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:13] for line in lines[:2]] == ["   1  damaged", "   2  damaged"]
    assert len(lines) == 7
    assert "is damaged: remove it" in lines[-1]
    assert main(["runs", "accept"]) == 2
    assert "is damaged: remove it" in capsys.readouterr().err
    (runs / "accepted.json").unlink()
    for command, name in (("view", "view.html"), ("monitor", "night")):
        assert main([command]) == 0
        said = capsys.readouterr()
        assert "run 3 is left out: " in said.err
        assert "remove the folder of this kept run" in said.err
        assert name in said.out + said.err
    later = json.loads((runs / "4" / "head.json").read_text()) | {
        "schema": "recsys-mt-run/9",
    }
    (runs / "2" / "head.json").write_text(json.dumps(later))
    for number, why in (
        (1, "run 1 is damaged"),
        (2, "run 2 is damaged, or kept by another version"),
        (3, "it cannot be read"),
        (9, "there is no run 9"),
    ):
        with pytest.raises(PolicyError, match=why):
            Store.of(pytester.path).accept(number)
    assert Store.of(pytester.path).accept(4).number == 4
    (runs / "lock").unlink()
    (runs / "lock").mkdir()
    assert main(["runs", "accept"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_old_runs_make_room_and_baselines_stay(
    document: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_recsys_mt.gate.store.MOST", 3)
    assert MOST == 1000
    store = Store.of(tmp_path)
    assert kept(tmp_path, document) == 1
    store.accept()
    left = store.folder / ".new-killed"
    left.mkdir()
    long_ago = time.time() - 2 * DAY
    os.utime(left, (long_ago, long_ago))
    assert [kept(tmp_path, document) for _ in range(4)] == [2, 3, 4, 5]
    assert [each.number for each in store.runs()] == [1, 3, 4, 5]
    assert not left.exists()


@pytest.mark.parametrize("name", [".recsys", ".recsys/runs"])
def test_a_link_is_not_followed_to_folders_of_others(
    run: Run,
    pytester: pytest.Pytester,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pytest_recsys_mt.gate.store.MOST", 1)
    photos = pytester.path / "photos"
    for year in range(2001, 2004):
        (photos / "runs" / str(year)).mkdir(parents=True)
        (photos / str(year)).mkdir()
    (pytester.path / name).parent.mkdir(exist_ok=True)
    (pytester.path / name).symlink_to(photos)
    before = sorted(photos.rglob("*"))
    run("itemknn").stdout.fnmatch_lines(
        ["*this run is not kept in '*.recsys/runs': *it is a link*"],
    )
    assert sorted(photos.rglob("*")) == before


def test_a_folder_that_cannot_be_written_costs_no_verdict(
    run: Run,
    pytester: pytest.Pytester,
) -> None:
    (pytester.path / ".recsys").write_text("a file")
    done = run("itemknn")
    assert done.ret == 0
    done.stdout.fnmatch_lines(
        ["*this run is not kept in '*.recsys/runs': *; --recsys-keep=no keeps none*"],
    )


KEEP = """
import json, sys
from pathlib import Path
from pytest_recsys_mt.gate.store import Store

root = Path(sys.argv[1])
document = json.loads((root / "one.json").read_text())
store = Store.of(root)
for _ in range(int(sys.argv[2])):
    number = store.keep(document, [json.dumps(document)], root, everybody=True)
    print(number, flush=True)
    store.accept(number)
"""


def test_two_runs_at_once_get_numbers_of_their_own(
    document: dict[str, Any],
    pytester: pytest.Pytester,
) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", KEEP, str(pytester.path), "10"],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    numbers = [
        int(line) for each in both for line in each.communicate()[0].splitlines()
    ]
    assert sorted(numbers) == list(range(1, 21))


@pytest.mark.slow  # 200 processes that are killed
def test_no_kill_loses_an_accepted_run(
    document: dict[str, Any],
    pytester: pytest.Pytester,
) -> None:
    store = Store.of(pytester.path)
    kept(pytester.path, document)
    store.accept()
    before = 1
    for kill in range(200):
        with subprocess.Popen(
            [sys.executable, "-c", KEEP, str(pytester.path), "1000"],
            stdout=subprocess.PIPE,
            text=True,
        ) as writing:
            assert writing.stdout is not None
            writing.stdout.readline()
            time.sleep(kill % 20 / 500)
            writing.send_signal(signal.SIGKILL)
        (accepted,) = (each for each in store.runs() if each.accepted)
        assert accepted.number >= before
        before = accepted.number
        assert decoded(accepted.record)["schema"] == document["schema"]
        assert store.baselines()[0][0] == f"run {before}"


def test_nights_are_those_of_the_kept_runs(
    run: Run,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("itemknn", "--recsys-seed=1")
    run("mostpop", "--recsys-seed=1")
    run("itemknn", "--recsys-seed=2")
    capsys.readouterr()
    assert main(["monitor"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("2 nights, 1 verdict;")
    assert said.err == ""
    shutil.rmtree(Store.of(pytester.path).folder / "1")
    assert main(["monitor"]) == 0
    assert "earlier runs are kept no more" in capsys.readouterr().err


def test_what_is_accepted_is_not_lost_where_the_list_of_it_is_damaged(
    run: Run,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("itemknn", "--recsys-keep=baseline")
    accepted = pytester.path / ".recsys" / "runs" / "accepted.json"
    accepted.write_text('{"accepted": [1')
    assert main(["runs"]) == 0
    assert "which says what is accepted, cannot be read" in capsys.readouterr().out
    assert main(["runs", "accept"]) == 2
    assert "which says what is accepted, cannot be read" in capsys.readouterr().err
    run("itemknn").stdout.fnmatch_lines(["gate: passed*"])
    run("itemknn", "--recsys-baseline").stderr.fnmatch_lines(
        ["*is accepted, cannot be read or is damaged*"],
    )
    assert accepted.read_text() == '{"accepted": [1'


def test_what_no_run_wrote_is_not_replaced(
    run: Run,
    pytester: pytest.Pytester,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("itemknn", "--recsys-json=one.json", "--recsys-cache=c")
    for name in ("one.html", "run-1.html", "notes.txt"):
        (pytester.path / name).write_text("notes")
    assert main(["report", "one.json"]) == main(["report", "1"]) == 2
    for name in ("notes.txt", "one.json"):
        assert main(["cache", "export", "--cache=c", name]) == 2
        assert f"{name!r} is no export" in capsys.readouterr().err
    assert {
        (pytester.path / f"{name}.html").read_text() for name in ("one", "run-1")
    } == {"notes"}


@pytest.mark.parametrize("option", ["baseline", "data", "model"])
def test_a_name_that_no_system_takes_is_one_line(
    run: Run,
    option: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "a" * 300
    spec = f"{name}.py:Shop" if option == "model" else "itemknn"
    result = run(spec, *[f"--recsys-{option}={name}"] * (option != "model"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
    assert main(["compare", f"{name}.json", f"{name}.json"]) == 2


def test_a_test_of_two_recommenders_is_not_mixed_up_with_one_of_others(
    document: dict[str, Any],
    pytester: pytest.Pytester,
) -> None:
    store = Store.of(pytester.path)
    (nodeid,) = {row["nodeid"] for row in document["results"]}
    for against in (None, "shop:Online"):
        kept(
            pytester.path,
            {**document, "settings": {**document["settings"], "against": against}},
        )
    alone, beside = (
        store.states(document["data"], against) for against in (None, "shop:Online")
    )
    assert (alone[nodeid].run, beside[nodeid].run) == (1, 2)
    assert store.states(document["data"], "shop:Other") == {}

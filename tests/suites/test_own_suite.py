"""The suite of `examples/own_suite`: a package of others, installed, with tests, a
fixture, a table and a command.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which the package is installed."""
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "target"))
    example = ROOT / "examples" / "own_suite"
    for path in example.rglob("*"):
        if path.is_file() and path.suffix in (".py", ".toml"):
            copied = source / path.relative_to(example)
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(path.read_bytes())
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "-q",
        "--no-deps",
    )
    subprocess.run(
        [*pip, "--no-build-isolation", "--target", target, source],
        check=True,
    )
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(target), str(ROOT)))}


def run(
    installed: dict[str, str],
    folder: Path,
    *words: str,
    fails: bool = False,
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=installed, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert bool(done.returncode) is fails, done.stdout + done.stderr
    return done


RECSYS_MT = ("-c", "from pytest_recsys_mt.cli import main; raise SystemExit(main())")


def test_it_runs_fills_its_table_and_has_its_command(
    installed: dict[str, str],
    tmp_path: Path,
) -> None:
    said = run(
        installed, tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "decades", "--recsys-users=40",
        "--recsys-model=itemknn", "--recsys-model=userknn", "--recsys-json=record.json",
    ).stdout  # fmt: skip
    assert "decades, itemknn  2 hold" in said
    assert "gate: passed; 4 held" in said

    table = run(
        installed,
        tmp_path,
        *RECSYS_MT,
        "paper",
        "decades",
        "record.json",
    ).stdout
    cells = [line.split("|")[1:3] for line in table.splitlines() if "knn" in line]
    assert [name.strip() for name, _ in cells] == ["itemknn", "userknn"]
    assert all(0.1 <= float(share) <= 0.7 for _, share in cells)

    assert "1990s 79" in run(installed, tmp_path, *RECSYS_MT, "decades").stdout
    assert "decades" in run(installed, tmp_path, *RECSYS_MT, "--help").stdout


def test_its_option_is_in_the_record_the_gate_and_the_printed_command(
    installed: dict[str, str],
    tmp_path: Path,
) -> None:
    words = (
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--pyargs",
        "decades",
        "--recsys-users=40",
    )
    run(installed, tmp_path, *words, "--recsys-json=ten.json")
    record = json.loads((tmp_path / "ten.json").read_text())
    assert record["settings"]["period"] == 10

    century = run(
        installed, tmp_path, *words, "--recsys-period=100", "--recsys-baseline=ten.json", fails=True,
    ).stdout  # fmt: skip
    commands = [
        line for line in century.splitlines() if line.startswith("python -m pytest")
    ]
    assert commands
    assert all("--recsys-period=100" in line for line in commands)
    assert (
        "refused: other --recsys-period: 10 in the baseline, 100 in this run" in century
    )

    wrong = run(installed, tmp_path, *words, "--recsys-period=ten", fails=True).stderr
    assert "--recsys-period='ten': a whole number of years is needed" in wrong
    misspelt = run(installed, tmp_path, *words, "--recsys-perod=10", fails=True).stderr
    assert "did you mean '--recsys-period'?" in misspelt


def test_options_that_cannot_be_given_are_named_and_the_others_work(
    installed: dict[str, str],
    tmp_path: Path,
) -> None:
    (tmp_path / "taken.py").write_text(
        "from pytest_recsys_mt.extensions import SuiteOption\n"
        "OPTIONS = (SuiteOption('seed', 'mine'), SuiteOption('fold', 'mine'), 'no option')\n",
    )
    info = tmp_path / "broken_suite-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken-suite\nVersion: 1.0\n",
    )
    (info / "entry_points.txt").write_text(
        "[pytest_recsys_mt.options]\ngone = nowhere:OPTIONS\ntaken = taken:OPTIONS\n",
    )
    path = os.pathsep.join((str(tmp_path), installed["PYTHONPATH"]))
    told = run(
        {**installed, "PYTHONPATH": path}, tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "decades",
        "--recsys-users=40", "--recsys-period=5",
    ).stdout  # fmt: skip
    assert (
        "the options of the suite 'gone' of broken-suite cannot be given: ModuleNotFoundError"
        in told
    )
    assert "pytest-recsys-mt has an option or a setting 'seed' too" in told
    assert "pytest-recsys-mt has an option or a setting 'fold' too" in told
    assert "'no option' is no SuiteOption" in told
    assert "2 hold" in told


def test_values_that_no_record_can_have_and_two_wrappings_are_refused_at_the_start(
    tmp_path: Path,
) -> None:
    (tmp_path / "odd.py").write_text(
        "from pytest_recsys_mt.extensions import SuiteOption\n"
        "OPTIONS = (SuiteOption('odd', 'mine', make=lambda text: text and {text}),\n"
        "    SuiteOption('lid', 'mine', wraps=True), SuiteOption('on', 'mine', flag=True))\n",
    )
    (tmp_path / "test_on.py").write_text(
        "def test_on(recsys): assert recsys.option('on') is False\n",
    )
    info = tmp_path / "odd_suite-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: odd-suite\nVersion: 1.0\n",
    )
    (info / "entry_points.txt").write_text(
        "[pytest_recsys_mt.options]\nodd = odd:OPTIONS\ngone = nowhere:OPTIONS\n",
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT))),
    }
    words = ("-m", "pytest", "-p", "no:cacheprovider", "test_on.py")

    odd = run(environment, tmp_path, *words, "--recsys-odd=x", fails=True).stderr
    assert "--recsys-odd: {'x'} cannot stand in a record" in odd
    fault = ("-o", "recsys_fault=repeats")
    both = run(
        environment,
        tmp_path,
        *words,
        "--recsys-lid=x",
        *fault,
        fails=True,
    ).stderr
    assert "each wraps the recommender under test; leave one of them out" in both
    gone = run(environment, tmp_path, *words, "--recsys-far=1", fails=True).stderr
    assert "the options of the suite 'gone' of odd-suite cannot be given" in gone
    run(environment, tmp_path, *words, "-o", "recsys_on=false")


def test_a_table_or_a_command_that_cannot_be_loaded_is_named_and_the_others_work(
    installed: dict[str, str],
    tmp_path: Path,
) -> None:
    info = tmp_path / "broken" / "broken_suite-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken-suite\nVersion: 1.0\n",
    )
    (info / "entry_points.txt").write_text(
        "[pytest_recsys_mt.commands]\ngone = nowhere.command:add\nends = sys:exit\nsilent = silent:add\n"
        "[pytest_recsys_mt.tables]\ngone = nowhere.suite\ndecades = decades\n",
    )
    (info.parent / "silent.py").write_text(
        "def add(groups):\n    groups.add_parser('silent')\n",
    )
    path = os.pathsep.join((str(info.parent), installed["PYTHONPATH"]))
    done = run(
        {**installed, "PYTHONPATH": path},
        tmp_path,
        *RECSYS_MT,
        "silent",
        fails=True,
    )
    assert "its package should call parser.set_defaults(command=...)" in done.stderr
    done = run(
        {**installed, "PYTHONPATH": path},
        tmp_path,
        *RECSYS_MT,
        "decades",
        "mini",
    )
    assert "1990s 79" in done.stdout
    assert (
        "the command 'gone' of broken-suite cannot be loaded: ModuleNotFoundError"
        in done.stderr
    )
    assert (
        "the command 'ends' of broken-suite cannot be loaded: SystemExit" in done.stderr
    )

    run(
        installed, tmp_path, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "decades", "--recsys-users=40",
        "--recsys-model=mostpop", "--recsys-json=record.json",
    )  # fmt: skip
    done = run(
        {**installed, "PYTHONPATH": path}, tmp_path, *RECSYS_MT, "paper", "gone", "record.json", fails=True,
    )  # fmt: skip
    assert "the suite 'gone' of broken-suite has no folder 'tables'" in done.stderr
    assert "Traceback" not in done.stderr
    done = run(
        {**installed, "PYTHONPATH": path}, tmp_path, *RECSYS_MT, "paper", "decades", "record.json", fails=True,
    )  # fmt: skip
    assert "several packages, broken-suite and recsys-decades; uninstall" in done.stderr


def test_a_test_of_other_recommenders_alone_is_planned(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        from pytest_recsys_mt.oracles import at_least

        def test_all(recsys_recommenders):
            for each in recsys_recommenders.compared(["openai:one", "openai:two"]).values():
                assert at_least(each.run(), "hit@10", 0.1)
        """,
    )
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-plan",
        "--recsys-users=10",
    )
    result.stdout.fnmatch_lines(["*at most 40 calls*"])


def test_options_are_named_as_on_the_command_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from pytest_recsys_mt.safety.errors import RecommenderError

        def test_it(recsys_session, recsys_recommenders):
            assert recsys_session.option("seed") == 3
            assert recsys_session.option("model") == ("mostpop", "itemknn")
            assert recsys_session.option("against") is None
            with pytest.raises(RecommenderError, match="'sead'.*did you mean 'seed'"):
                recsys_session.option("sead")
            assert recsys_recommenders.design.users == 7
            assert recsys_recommenders("mostpop").model == "mostpop"
            with pytest.raises(RecommenderError, match="no recommender 'mostpob'"):
                recsys_recommenders("mostpob")
            for wrong in ("mostpop", []):
                with pytest.raises(RecommenderError, match="a list of specs is needed"):
                    recsys_recommenders.compared(wrong)
            with pytest.raises(RecommenderError, match="a spec is needed"):
                recsys_recommenders(recsys_session.option("against"))
            assert list(recsys_recommenders.compared(["itemknn", "mostpop"])) == ["itemknn", "mostpop"]
        """,
    )
    result = pytester.runpytest_inprocess(
        "-p", "no:cacheprovider", "--recsys-model=mostpop", "--recsys-model=itemknn", "--recsys-seed=3",
        "--recsys-users=7",
    )  # fmt: skip
    result.assert_outcomes(passed=1)


def test_a_test_of_several_uses_no_recsys_beside_them(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        def test_it(recsys, recsys_recommenders):
            recsys_recommenders.compared(["mostpop", "userknn"])
        """,
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*and the test uses recsys too*"])
    result.assert_outcomes(failed=1)

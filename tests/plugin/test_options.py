"""Options, their ini twins, and what a bad value says."""

import pytest

from tests.plugin.conftest import record_of
from tests.support.plugin import changed, settings_of

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.3)
"""


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("--recsys-users=many", "*--recsys-users='many'*whole number from 2*"),
        ("--recsys-users=1", "*--recsys-users='1'*whole number from 2*"),
        ("--recsys-alpha=0.5", "*--recsys-alpha='0.5'*between 0 and 0.5*"),
        ("--recsys-alpha=nan", "*--recsys-alpha='nan'*between 0 and 0.5*"),
        ("--recsys-mode=repla", "*--recsys-mode='repla'*did you mean 'replay'*"),
        ("--recsys-inconclusive=pass", "*--recsys-inconclusive='pass'*fail, skip*"),
        ("--recsys-json=.", "*--recsys-json='.'*it is a folder*"),
        (
            "--recsys-json=toys.py/record.json",
            "*--recsys-json='toys.py/record.json'*name a file*",
        ),
        ("--recsys-k=30", "*k=30*20 candidates*"),
        ("--recsys-model=itemkn", "*--recsys-model='itemkn'*itemknn*"),
        ("--recsys-model=toys:Nobody", "*toys:Nobody*"),
        (
            "--recsys-against=itemkn",
            "*--recsys-against='itemkn'*did you mean 'itemknn'*",
        ),
        (
            "-orecsys_sampler=mostpp",
            "*-o recsys_sampler='mostpp'*did you mean 'mostpop'*",
        ),
        (
            "--recsys-judge=toys:Jury",
            "*--recsys-judge='toys:Jury'*did you mean 'Judge'*",
        ),
        (
            "--recsys-judge=mostpop",
            "*--recsys-judge='mostpop'*neither judge(comparisons) nor*",
        ),
        (
            "-orecsys_profiler=toys:Scrib",
            "*-o recsys_profiler='toys:Scrib'*did you mean 'Scribe'*",
        ),
        (
            "-orecsys_profiler=toys:Noisy",
            "*-o recsys_profiler='toys:Noisy'*without 'complete(*",
        ),
        ("--recsys-data=minni", "*--recsys-data='minni'*mini*"),
        ("--recsys-prompt=persn", "*--recsys-prompt='persn'*person*"),
    ],
)
def test_a_bad_value_is_a_usage_error_that_names_it(
    project: pytest.Pytester,
    argument: str,
    says: str,
) -> None:
    project.makepyfile(TEST)
    result = project.runpytest_inprocess(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}"])


def test_what_only_some_tests_ask_is_taken_where_it_exists(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(TEST)
    project.runpytest_inprocess(
        "--recsys-model=toys:Faithful", "--recsys-against=toys:Noisy", "-orecsys_sampler=mostpop",
        "--recsys-judge=toys:Judge", "-orecsys_profiler=toys:Scribe", "--recsys-users=20",
    ).assert_outcomes(passed=1)  # fmt: skip


def test_a_bad_value_in_the_ini_file_names_its_key(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nrecsys_k = ten\n")
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: ini option recsys_k='ten'*whole number*"])


def test_the_ini_file_sets_and_the_command_line_overrides(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(TEST)
    project.makeini(
        "[pytest]\nrecsys_model = toys:Faithful\nrecsys_users = 30\nrecsys_seed = 7\n",
    )
    path = project.path / "record.json"
    project.runpytest_inprocess(f"--recsys-json={path}").assert_outcomes(passed=1)
    record = record_of(path)
    assert (record["models"], record["seed"]) == (["toys:Faithful"], 7)
    assert (record["settings"]["users"], record["calls"]["planned"]) == (30, 2 * 30)
    project.runpytest_inprocess(
        f"--recsys-json={path}",
        "--recsys-users=25",
    ).assert_outcomes(passed=1)
    record = record_of(path)
    assert (record["settings"]["users"], record["calls"]["planned"]) == (25, 2 * 25)


def test_native_toml_configuration_is_read(project: pytest.Pytester) -> None:
    project.makepyfile(TEST)
    project.makepyprojecttoml(
        "[tool.pytest]\nrecsys_model = ['toys:Faithful']\nrecsys_users = '20'\n",
    )
    project.runpytest_inprocess().assert_outcomes(passed=1)


def test_several_models_are_several_tests(project: pytest.Pytester) -> None:
    project.makepyfile(TEST)
    result = project.runpytest_inprocess(
        "--recsys-model=toys:Faithful",
        "--recsys-model=toys:ScaleSensitive",
        "-v",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_it?toys-Faithful-scale_ratings-2? PASSED*",
            "*test_it?toys-ScaleSensitive-scale_ratings-2? FAILED*",
        ],
    )


def test_a_model_named_twice_is_a_usage_error(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess(
        "--recsys-model=random",
        "--recsys-model=random",
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_the_list_names_promises_and_needs_and_runs_nothing(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(TEST)
    result = project.runpytest_inprocess(
        "--recsys-list",
        "--recsys-model=toys:OftenFailing",
    )
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "scale_ratings(2)",
            "    needs ratings in the history",
            "*in *::test_it",
            "1 relation",
        ],
    )
    result.assert_outcomes()


def test_the_list_in_a_folder_without_tests_is_that_of_the_package(
    pytester: pytest.Pytester,
) -> None:
    result = pytester.runpytest_inprocess("--recsys-list", "-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "no test is here; these are in the package:",
            "* relations, and * tests without one",
        ],
    )
    empty = pytester.mkdir("empty")
    named = pytester.runpytest_inprocess("--recsys-list", str(empty))
    named.stdout.fnmatch_lines(["0 relations"])


@pytest.mark.parametrize(
    ("argument", "ini", "exact"),
    [
        ("", "", False),
        ("-orecsys_exact=true", "", True),
        ("", "recsys_exact = true", True),
        ("-orecsys_exact=true", "recsys_exact = no", True),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_flag_has_an_ini_twin(
    pytester: pytest.Pytester,
    argument: str,
    ini: str,
    exact: bool,
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    config = pytester.parseconfig(*argument.split())
    assert settings_of(config).exact is exact
    assert {option.name: value for option, value in changed(config).items()}.get(
        "exact",
        False,
    ) is exact


def test_what_a_project_settles_is_no_option_and_its_former_one_says_what_to_type(
    project: pytest.Pytester,
    pytester: pytest.Pytester,
) -> None:
    project.makepyfile(
        "def test_it(pytestconfig): assert pytestconfig.getoption('recsys_core') == '3'",
    )
    result = project.runpytest_inprocess("--recsys-core=3")
    result.assert_outcomes(passed=1, warnings=1)
    assert "or give -o recsys_core=VALUE" in result.stdout.str()
    told = pytester.runpytest_inprocess("--help").stdout.str()
    assert "--recsys-core" not in told
    assert 20 < told.count("\n  --recsys-") <= 32


def test_a_flag_in_the_ini_file_is_true_or_false(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrecsys_exact = maybe\n")
    with pytest.raises(pytest.UsageError, match=r"recsys_exact='maybe'.*true, false"):
        settings_of(pytester.parseconfig())


def test_the_list_of_a_suite_fits_80_columns_and_has_a_promise_and_a_need_for_every_relation(
    project: pytest.Pytester,
) -> None:
    result = project.runpytest_inprocess(
        "--pyargs",
        "pytest_recsys_mt.suites.metamorphic",
        "--recsys-list",
        "-q",
    )
    lines = [line for line in result.stdout.lines if line]
    assert max(map(len, lines)) <= 80
    heads = [place for place, line in enumerate(lines) if not line.startswith(" ")][:-2]
    assert len(heads) > 20
    for place in heads:
        assert lines[place + 1].startswith("    ")
        block = lines[place : place + 8]
        assert any(line.startswith("    needs ") for line in block)
    assert "no promise given" not in result.stdout.str()

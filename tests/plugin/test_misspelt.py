"""What is nearly a name of ours is answered with the name, before any test runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.test_options import TEST
from tests.support.calls import AnswerCache, key_of

KEY = "https://api.openai.com/v1 needs a key: set OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("--recsys-modle=x", "no option '--recsys-modle'; did you mean '--recsys-model'[?]*--help*"),
        ("--recsys-modle", "no option '--recsys-modle'; did you mean '--recsys-model'[?]*"),
        ("--recsys_model=x", "no option '--recsys_model'; did you mean '--recsys-model'[?]*"),
        ("--recsys-mod=x", "no option '--recsys-mod'; did you mean '--recsys-mode'[?]*"),
        ("--recsys-max_calls=9", "*did you mean '--recsys-max-calls'[?]*"),
        ("--Recsys-Users=9", "*did you mean '--recsys-users'[?]*"),
        ("--resys-users=9", "*did you mean '--recsys-users'[?]*"),
        ("--recsys-userz", "*did you mean '--recsys-users'[?]*"),
        ("--recsys-bananas=1", "no option '--recsys-bananas'; 'pytest --help' lists all options*"),
        ("--recsys=itemknn", "no option '--recsys'; did you mean '--recsys-model'?*"),
        ("-orecsys_modle=x", "-o has the unknown key 'recsys_modle'; did you mean 'recsys_model'[?]*"),
        ("-orecsys-users=9", "-o has the unknown key 'recsys-users'; did you mean 'recsys_users'[?]*"),
        ("-orecsys_json=x", "-o has 'recsys_json', *give --recsys-json on the command line"),
        ("-orecsys_judge=x", "-o has 'recsys_judge', *give --recsys-judge on the command line"),
        ("-orecsys_bananas=x", "*unknown key 'recsys_bananas'; 'pytest --help' lists all keys*"),
        ("-orecsys_recall=mostpp", "-o recsys_recall='mostpp'*did you mean 'mostpop'*"),
        ("--recsys-judge=foo", f"--recsys-judge='foo': no recommender has this name, so it counts as a chat model; {KEY}*"),
        ("--recsys-against=gpt-4o", f"--recsys-against='gpt-4o': *{KEY}*"),
        ("-orecsys_profiler=openai:gpt-4o", f"-o recsys_profiler='openai:gpt-4o': {KEY}*"),
        ("--recsys-model=gpt-4o", f"--recsys-model='gpt-4o': *{KEY}*"),
    ],
)  # fmt: skip
def test_it_is_one_usage_error(
    project: pytest.Pytester,
    argument: str,
    says: str,
) -> None:
    project.makepyfile(TEST)
    result = project.runpytest_inprocess(argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    says = says if says[0] in "-*" else f"there is {says}"
    result.stderr.fnmatch_lines([f"ERROR: {says}"])
    assert result.stderr.str().count("ERROR") == 1


def test_options_and_keys_of_others_are_theirs(project: pytest.Pytester) -> None:
    project.makeconftest(
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--recsys-modle')\n"
        "    parser.addini('recsys_userz', 'theirs')\n"
        "def pytest_configure(config):\n"
        "    config.addinivalue_line('markers', 'recsys_quik: theirs')\n",
    )
    project.makepyfile("import pytest\n@pytest.mark.recsys_quik\ndef test_it(): pass")
    project.runpytest_inprocess("--recsys-modle=x", "-orecsys_userz=9").assert_outcomes(
        passed=1,
    )


def test_an_unknown_option_of_others_is_left_to_pytest(
    project: pytest.Pytester,
) -> None:
    result = project.runpytest_inprocess("--bananas")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*unrecognized arguments: --bananas"])


def test_the_ini_file_is_named(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nrecsys_modle = random\n")
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: the ini file (*tox.ini) has the unknown key 'recsys_modle'*"],
    )


def test_a_misspelt_variable_is_named(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECSYS_SHOP", "of somebody else")
    project.makepyfile("def test_it(): pass")
    project.runpytest_inprocess().assert_outcomes(passed=1)
    monkeypatch.setenv("RECSYS_HTTP_AUTHORISATION", "secret-1234")
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*'RECSYS_HTTP_AUTHORISATION'; did you mean 'RECSYS_HTTP_AUTHORIZATION'*"],
    )
    assert "secret-1234" not in result.stderr.str()


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        (
            "recsys_quik",
            "there is no mark 'recsys_quik'; did you mean 'recsys_quick'[?]",
        ),
        (
            "recsys_thoroug()",
            "there is no mark 'recsys_thoroug'; did you mean 'recsys_thorough'[?]",
        ),
        ("recsys_bananas", "there is no mark 'recsys_bananas'; choose one of recsys_*"),
        (
            "recsys_design(user=9)",
            "the mark recsys_design has no 'user'; did you mean 'users'[?]",
        ),
        ("recsys_design(users='x')", "*users must be a whole number from 2, got 'x'"),
        ("recsys_design(50)", "the mark recsys_design takes names, got 50; write *"),
    ],
)
def test_a_misspelt_mark_is_named_with_its_test(
    project: pytest.Pytester,
    mark: str,
    says: str,
) -> None:
    project.makepyfile(f"import pytest\n@pytest.mark.{mark}\ndef test_it(recsys): pass")
    result = project.runpytest_inprocess("-Wignore::pytest.PytestUnknownMarkWarning")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: recsys-mt: *::test_it[[]itemknn[]]: {says}"])


def test_a_mark_that_goes_well_with_an_option_only_is_no_error(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        "import pytest\n@pytest.mark.recsys_design(candidates=5)\ndef test_it(recsys): recsys.run()",
    )
    result = project.runpytest_inprocess("--recsys-k=5")
    assert result.ret != pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize("where", ["option", "ini"])
def test_a_missing_key_is_one_usage_error_before_the_first_test(
    project: pytest.Pytester,
    where: str,
) -> None:
    project.makepyfile(TEST)
    project.makeini("[pytest]\n" + "recsys_model = openai:gpt-4o\n" * (where == "ini"))
    given = ["--recsys-model=openai:gpt-4o"] * (where == "option")
    for workers in ([], ["-n2"])[: 1 + (where == "option")]:
        result = project.runpytest_inprocess(*given, *workers)
        printed = result.stdout.str() + result.stderr.str()
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert printed.count(KEY) == 1
        assert "Traceback" not in printed
    for asks_nothing in ("--recsys-plan", "--recsys-list", "--collect-only"):
        assert project.runpytest_inprocess(*given, asks_nothing).ret == 0


def test_no_key_is_needed_where_answers_may_be_in_the_cache(
    project: pytest.Pytester,
    tmp_path: Path,
) -> None:
    project.makepyfile(TEST)
    from tests.support.llm_api import OpenAIModel

    cache = AnswerCache(tmp_path / "kept")
    model = {"model": OpenAIModel.from_spec("openai:gpt-4o").identity}
    cache.put(key_of(model), model, {"text": "1. Alien"})
    cache.close()
    given = (f"--recsys-cache={tmp_path / 'kept'}", "--recsys-users=2")
    for spec, code in (("openai:gpt-4o", 1), ("openai:gpt-4o-mini", 4)):
        result = project.runpytest_inprocess(*given, f"--recsys-model={spec}")
        assert result.ret == code
    result = project.runpytest_inprocess(
        *given,
        "--recsys-model=openai:gpt-4o",
        "--recsys-mode=replay",
    )
    assert KEY not in result.stdout.str() + result.stderr.str()


def test_where_files_were_written_is_said(
    project: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.makepyfile(TEST)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    given = ("--recsys-model=toys:Faithful", "--recsys-users=20")
    result = project.runpytest_inprocess(
        *given,
        "--recsys-json=out/r.json",
        "--junitxml=j.xml",
    )
    result.stdout.fnmatch_lines(["wrote out/r.json, j.xml"])
    assert "Wrote out/r.json, j.xml." in (project.path / "summary.md").read_text()
    result = project.runpytest_inprocess(*given)
    assert "wrote" not in result.stdout.str()
    (project.path / "r.json").mkdir()
    (project.path / "summary.md").unlink()

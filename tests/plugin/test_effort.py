"""What takes many calls runs where it is asked for."""

from __future__ import annotations

import json
import re

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run

TEST = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history

{mark}
@metamorphic(reorder_history)
def test_{name}(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""
MODEL = "--recsys-model=toys:Faithful"


@pytest.fixture
def two(project: pytest.Pytester) -> pytest.Pytester:
    """A file of tests that take many calls, and one of usual tests."""
    project.makepyfile(
        test_usual=TEST.format(mark="", name="usual"),
        test_dear=TEST.format(mark="@pytest.mark.recsys_thorough", name="dear"),
    )
    return project


@ON_WORKERS_TOO
def test_it_is_left_out_and_said_so(run: Run, two: pytest.Pytester) -> None:
    result = run(MODEL)
    assert result.parseoutcomes()["passed"] == 1
    result.stdout.fnmatch_lines(
        [
            "tests that did not run because they make many calls: 1; *",
            "*=thorough or name their file",
        ],
    )


@pytest.mark.parametrize(
    "named",
    ["--recsys-effort=thorough", "test_dear.py", "test_dear.py::test_dear"],
)
def test_it_runs_where_it_is_wanted(run: Run, two: pytest.Pytester, named: str) -> None:
    result = run(MODEL, named)
    assert result.parseoutcomes()["passed"] == (2 if named.startswith("--") else 1)
    assert "left out" not in result.stdout.str()


def test_a_named_file_is_that_file_alone(run: Run, two: pytest.Pytester) -> None:
    for place in ("one", "other"):
        two.mkpydir(place)
        (two.path / place / "test_dear.py").write_text(
            TEST.format(mark="@pytest.mark.recsys_thorough", name="dear"),
            encoding="utf-8",
        )
    assert run(MODEL, "one", "other/test_dear.py").parseoutcomes()["passed"] == 1


def test_what_is_given_is_given_were_it_the_default(
    run: Run,
    two: pytest.Pytester,
) -> None:
    (two.path / "test_quick.py").write_text(
        TEST.format(mark="@pytest.mark.recsys_quick", name="quick").replace(
            "0.2",
            "0.0",
        ),
        encoding="utf-8",
    )
    for given, users in (
        ((), 70),
        (("--recsys-users=200",), 200),
        (("--recsys-users=199",), 199),
    ):
        quick = (
            "-p",
            "no:cacheprovider",
            MODEL,
            "--recsys-effort=quick",
            "test_quick.py",
        )
        two.runpytest_inprocess(*quick, *given, "--recsys-json=quick.json")
        record = json.loads((two.path / "quick.json").read_text(encoding="utf-8"))
        assert record["settings"]["users"] == users
        (row,) = record["results"]
        assert all(word in row["reproduce"] for word in given)


def test_a_module_is_a_name_too(two: pytest.Pytester) -> None:
    shipped = "pytest_recsys_mt.suites.metamorphic.test_paper"
    for named, expected in ((shipped, 12), ("pytest_recsys_mt.suites.metamorphic", 0)):
        listed = two.runpytest_inprocess(
            "--pyargs",
            named,
            "-k",
            "table",
            "--collect-only",
            "-q",
            "-p",
            "no:cacheprovider",
        )
        assert sum("::test_table" in line for line in listed.outlines) == expected


def test_the_list_shows_all(run: Run, two: pytest.Pytester) -> None:
    listed = two.runpytest_inprocess("--recsys-list", "-p", "no:cacheprovider")
    listed.stdout.fnmatch_lines(["*reorder_history*"])
    assert "left out" not in listed.stdout.str()


def test_a_plan_of_nothing_is_a_plan(two: pytest.Pytester) -> None:
    planned = two.runpytest_inprocess(
        MODEL,
        "test_dear.py",
        "-k",
        "nonsense",
        "--recsys-plan",
        "-p",
        "no:cacheprovider",
    )
    assert planned.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert "INTERNALERROR" not in planned.stdout.str() + planned.stderr.str()


def test_who_selects_them_alone_is_told_how_they_run(
    run: Run,
    two: pytest.Pytester,
) -> None:
    result = run(MODEL, "-k", "dear")
    result.stdout.fnmatch_lines(
        ["tests that did not run because they make many calls: 1; *"],
    )


OWN = """
import pytest
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, shuffle_candidates

@pytest.mark.recsys_quick("shuffle_candidates")
@metamorphic(reorder_history, shuffle_candidates)
def test_two(source, followup):
    assert same_ranking(source, followup, margin=0.2)

def test_other(recsys):
    pass

def test_of_no_recommender():
    pass
"""


def test_a_quick_look_takes_few_tests_users_and_calls(
    run: Run,
    two: pytest.Pytester,
) -> None:
    two.makepyfile(test_own=OWN)
    result = run(MODEL, "--recsys-effort=quick")
    assert result.parseoutcomes() == {"passed": 2, "deselected": 4}
    result.stdout.fnmatch_lines(
        ["a quick look: 4 other tests did not run. To add one, mark it recsys_quick*"],
    )
    result = run(MODEL, "--recsys-effort=quick", "test_usual.py")
    assert result.parseoutcomes()["passed"] == 1, "a file that is named runs"


def test_no_report_of_a_quick_look_looks_like_one_of_a_whole_run(
    run: Run,
    two: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    summary = two.path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    two.makepyfile(test_own=OWN)
    run(MODEL, "--recsys-effort=quick", "--recsys-json=r.json", "--recsys-html=r.html")
    record = json.loads((two.path / "r.json").read_text(encoding="utf-8"))
    assert record["left_out"] == {"effort": "quick", "tests": 4}
    told = "1 of 5 tests could be judged: 4 left out of this quick look."
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("## recsys-mt: gate passed (a quick look)\n")
    assert f"\n\n{told}\n\n" in text
    page = (two.path / "r.html").read_text(encoding="utf-8")
    assert f"<p>{told}</p>" in page
    assert "Passed as a quick look: the promise that could be tested holds." in page
    assert "May be released" not in page


@pytest.mark.parametrize(("given", "users"), [([], 70), (["--recsys-users=20"], 20)])
def test_a_quick_look_has_users_and_a_limit_of_its_own(
    two: pytest.Pytester,
    given: list[str],
    users: int,
) -> None:
    two.makepyfile(
        test_own="""
        import pytest

        @pytest.mark.recsys_quick
        def test_it(recsys, request):
            settings = recsys.runner.settings
            print("users", settings.design.users, "limit", settings.limits.calls)
            assert False
        """,
    )
    result = two.runpytest_inprocess(MODEL, "--recsys-effort=quick", *given)
    result.stdout.fnmatch_lines([f"users {users} limit 1500"])


def test_a_quick_look_at_the_suites_plans_fewer_calls_than_its_limit(
    pytester: pytest.Pytester,
) -> None:
    planned = pytester.runpytest_inprocess(
        "--pyargs", "pytest_recsys_mt.suites", "--recsys-model=openai:gpt-4o", "-p",
        "no:cacheprovider", "--recsys-effort=quick", "--recsys-plan", "--recsys-cache=cache",
    )  # fmt: skip
    found = re.search(r"([\d,]+) calls planned, .* at most \$\d", planned.stdout.str())
    assert found is not None
    assert 500 < int(found[1].replace(",", "")) <= 1500


def test_what_is_not_selected_is_not_left_out(run: Run, two: pytest.Pytester) -> None:
    result = run(MODEL, "-k", "usual")
    assert "did not run" not in result.stdout.str()


def test_a_quick_look_at_an_unknown_transformation_is_an_error(
    two: pytest.Pytester,
) -> None:
    two.makepyfile(
        test_own=OWN.replace('quick("shuffle_candidates")', 'quick("shuffle")'),
    )
    result = two.runpytest_inprocess(MODEL, "test_own.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*test_two*recsys_quick names 'shuffle', which is none of its transformations: reorder_*",
        ],
    )

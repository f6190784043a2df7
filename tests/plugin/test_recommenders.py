"""Where the recommender under test comes from."""

import pytest

from tests.plugin.conftest import Run, record_of

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings

@metamorphic(scale_ratings(2))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.2)
"""
FIXTURE = """
import pytest
from toys import Faithful, ScaleSensitive

@pytest.fixture(scope="session")
def recommender():
    return Faithful()
"""


def test_a_fixture_gives_the_recommender(run: Run, project: pytest.Pytester) -> None:
    project.makeconftest(FIXTURE)
    project.makepyfile(TEST)
    path = project.path / "record.json"
    run(f"--recsys-json={path}").assert_outcomes(passed=1)
    record = record_of(path)
    assert record["models"] == ["fixture:Faithful"]
    assert record["results"][0]["model"] == "fixture:Faithful"


def test_a_parametrised_fixture_gives_several(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makeconftest(
        FIXTURE.replace('"session"', '"session", params=["ok", "broken"]')
        .replace("recommender()", "recommender(request)")
        .replace(
            "Faithful()",
            "Faithful() if request.param == 'ok' else ScaleSensitive()",
        ),
    )
    project.makepyfile(TEST)
    path = project.path / "record.json"
    run(f"--recsys-json={path}").assert_outcomes(passed=1, failed=1)
    assert record_of(path)["models"] == [
        "fixture:Faithful[ok]",
        "fixture:ScaleSensitive[broken]",
    ]


def test_a_fixture_and_the_option_together_are_a_usage_error(
    project: pytest.Pytester,
) -> None:
    project.makeconftest(FIXTURE)
    project.makepyfile(TEST)
    result = project.runpytest_inprocess("--recsys-model=random")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *test_it*fixture `recommender`*--recsys-model*"],
    )


def test_a_file_gives_the_recommender(run: Run, project: pytest.Pytester) -> None:
    project.makepyfile(TEST)
    run("--recsys-model=toys.py:ScaleSensitive").assert_outcomes(failed=1)


def test_the_runner_serves_chains_of_three(run: Run, project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from pytest_recsys_mt.oracles import not_worse, same_ranking
        from pytest_recsys_mt.relations import scale_ratings, truncate_history

        def test_chain(recsys):
            full, short = recsys.run(), recsys.run(truncate_history(5))
            both = recsys.run(truncate_history(5), scale_ratings(2))
            assert not_worse(full, short, metric="ndcg@10", margin=0.3)
            assert same_ranking(short, both, margin=0.2)
        """,
    )
    run("--recsys-model=toys:Faithful").assert_outcomes(passed=1)


def test_answers_of_two_designs_are_not_compared(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from pytest_recsys_mt.oracles import same_ranking

        def test_it(recsys):
            same_ranking(recsys.run(), recsys.using(k=5).run())
        """,
    )
    result = project.runpytest_inprocess("--recsys-model=toys:Faithful")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*OracleError: *answers to one design*"])


def test_a_design_mark_changes_the_requests_of_a_test(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.recsys_design(k=3, history=4, candidates=0)
        def test_it(recsys):
            asked = recsys.run().sample().asked
            assert {len(each.request.history) for each in asked} == {4}
            assert all(each.request.candidates is None for each in asked)
            assert {len(each.answers[0].items) for each in asked} == {3}
        """,
    )
    run("--recsys-model=mostpop").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("given", "asked"),
    [("", 9), ("--recsys-users=4", 4), ("--recsys-users=20", 9)],
)
def test_a_run_may_ask_fewer_users_than_a_mark(
    project: pytest.Pytester,
    given: str,
    asked: int,
) -> None:
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.recsys_design(users=9)
        def test_it(recsys):
            assert len(recsys.run().sample().asked) == {asked}
        """,
    )
    project.runpytest_inprocess(
        "--recsys-model=mostpop",
        *given.split(),
    ).assert_outcomes(passed=1)


def test_an_object_that_is_no_recommender_says_what_it_lacks(
    project: pytest.Pytester,
) -> None:
    project.makeconftest(
        "import pytest\n@pytest.fixture\ndef recommender():\n    return object()\n",
    )
    project.makepyfile(TEST)
    result = project.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["fixture:object: *recommend(requests)*complete(prompts)*"],
    )


def test_a_refusal_of_all_does_not_apply_and_of_some_is_counted(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(TEST)
    project.makepyfile(
        picky="""
        from pytest_recsys_mt import NotApplicable
        from toys import Faithful

        class Picky(Faithful):
            part = 2

            def recommend(self, requests):
                for request in requests:
                    if request.scale.high > 5 and int(request.user[1:]) % self.part == 0:
                        raise NotApplicable("such users are not served")
                return super().recommend(requests)

        class Seldom(Picky):
            part = 29

        class Closed(Faithful):
            def recommend(self, requests):
                raise NotApplicable("closed today")
        """,
    )
    path = project.path / "record.json"
    run("--recsys-model=picky:Picky", f"--recsys-json={path}").assert_outcomes(failed=1)
    (row,) = record_of(path)["results"]
    assert row["status"] == "error"
    assert row["account"]["refused"] == row["errors"] > 5
    assert "got a refusal, although the recommender answers others" in row["reason"]
    run("--recsys-model=picky:Seldom", f"--recsys-json={path}")
    (row,) = record_of(path)["results"]
    assert row["account"]["refused"] == row["account"]["both_ends"] == 1
    assert "1 user of" in row["reason"]
    assert "each counts against every claim" in row["reason"]
    result = run("--recsys-model=picky:Closed", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["1 not applicable: closed today (all of*"])

"""What a run says at its end: what does not hold, counts of
what holds, reasons of what does not apply.
"""

import re

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run

TEST = """
import pytest
from pytest_recsys_mt import expect_violated, metamorphic
from pytest_recsys_mt.oracles import at_least, complete_list, same_ranking
from pytest_recsys_mt.relations import add_spaces, reorder_history, scale_ratings, shift_ratings

@metamorphic(scale_ratings(2), reorder_history, add_spaces(0.1))
def test_ranking(source, followup):
    assert same_ranking(source, followup, margin=0.2)

@metamorphic(shift_ratings(1))
def test_known(source, followup):
    assert expect_violated(same_ranking(source, followup, margin=0.2))

@metamorphic(reorder_history)
def test_two_verdicts(source, followup):
    assert same_ranking(source, followup, margin=0.2)
    assert same_ranking(source, followup, similarity="overlap", margin=0.2)

@pytest.mark.parametrize("number", range(5))
def test_words(recsys, number):
    recsys.texts

def test_few_hits(recsys):
    assert at_least(recsys.run(), "hit@10", 0.45)

def test_mine(recsys):
    pytest.skip("the shop is closed")
"""
MODEL = "--recsys-model=toys:ScaleSensitive"


@pytest.fixture
def files(project: pytest.Pytester) -> None:
    project.makepyfile(**{"own/test_toys": TEST})
    project.makepyfile(
        **{
            "texts/test_texts": """
            def test_all(recsys):
                recsys.texts
            """,
        },
    )


def ours(result: pytest.RunResult) -> list[str]:
    """What the plugin wrote at the end of a run."""
    lines = result.stdout.lines
    start = next(at for at, line in enumerate(lines) if "= recsys-mt: " in line)
    ends = [
        at for at, line in enumerate(lines) if at > start and line.startswith("=====")
    ]
    return lines[start : ends[0]]


@pytest.mark.usefixtures("files")
def test_what_does_not_hold_comes_first_and_what_holds_is_counted(run: Run) -> None:
    result = run(MODEL)
    result.assert_outcomes(passed=3, failed=2, skipped=8)
    lines = ours(result)
    assert all(len(line) <= 80 for line in lines)
    text = " ".join(" ".join(lines).split())
    places = [
        text.index(said)
        for said in (
            "VIOLATED own, ranking, same_ranking:rbo scale_ratings(2) is violated: the loss of agreement beyond noise is ",
            "inconclusive own, few_hits, at_least:hit@10 hit: Hit rate few_hits is inconclusive: the mean ",
            "known own, known, same_ranking:rbo shift_ratings(1) is violated, as its test expects: the ",
            "own 3 hold, 1 known, 1 violated, 1 inconclusive, 7 not applicable",
            "7 not applicable: needs a text model, and toys:ScaleSensitive reads no text (6 of own, all",
            "1 not applicable: the shop is closed (1 of own)",
            "calls: ",
            "gate: failed; 1 violated (scale_ratings(2));",
        )
    ]
    assert places == sorted(places)
    assert sum(line.startswith("reorder_history, ") for line in lines) == 3, (
        "few hold: they are named"
    )


@pytest.mark.usefixtures("files")
def test_a_table_of_all_verdicts_on_request(run: Run) -> None:
    lines = ours(run(MODEL, "-v"))
    assert all(len(line) <= 80 for line in lines)
    rows = [line.split() for line in lines]
    assert ["name", "verdict", "measured", "[bounds]", "limit", "users"] in rows
    assert [
        row[-3:] for row in rows if row[:2] == ["scale_ratings(2)", "VIOLATED"]
    ] == [["<=", "0.2", "20"]]
    chosen = ours(run(MODEL, "-orecsys_columns=name,p"))
    assert ["name", "p"] in [line.split() for line in chosen]
    assert [
        line.rpartition(" ")[0].strip() for line in chosen if line.startswith("reorder")
    ] == [
        "reorder_history, ranking same_ranking:rbo",
        "reorder_history, two_verdicts same_ranking:rbo",
        "reorder_history, two_verdicts same_ranking:overlap",
    ], "no row twice without what tells it apart"


@pytest.mark.usefixtures("files")
def test_columns_in_the_ini_file_and_wrong_ones(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\nrecsys_columns = name, users\n")
    lines = ours(project.runpytest_inprocess(MODEL, "--recsys-users=40"))
    assert ["name", "users"] in [line.split() for line in lines]
    wrong = project.runpytest_inprocess("-orecsys_columns=name,user")
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(
        ["ERROR: *recsys_columns='name,user'*name, test*did you mean 'users'*"],
    )


@pytest.mark.usefixtures("files")
@ON_WORKERS_TOO
def test_what_does_not_apply_is_no_line_of_pytests_skipped_tests(run: Run) -> None:
    result = run(MODEL, "-ra", "--recsys-inconclusive=skip")
    result.assert_outcomes(passed=3, failed=1, skipped=9)
    listed = [line for line in result.stdout.lines if line.startswith("SKIPPED")]
    assert len(listed) == 2, (
        "a user's own skip stays, and one that an inconclusive verdict caused"
    )
    users, unclear = sorted(listed, key=lambda line: "inconclusive" in line)
    assert re.fullmatch(
        r"SKIPPED \[1\] own/test_toys\.py:\d+: the shop is closed",
        users,
    )
    assert re.match(
        r"SKIPPED \[1\] own/test_toys\.py:2\d: hit@10 is inconclusive: ",
        unclear,
    )


@pytest.mark.usefixtures("files")
def test_two_models_are_named_where_they_differ(run: Run) -> None:
    lines = ours(run(MODEL, "--recsys-model=toys:Faithful", "-v"))
    assert all(len(line) <= 80 for line in lines)
    text = " ".join(" ".join(lines).split())
    assert "VIOLATED own, ranking, same_ranking:rbo, toys:ScaleSensitive" in text
    assert "own, toys:Faithful 4 hold, " in text
    heads = [line.split() for line in lines if line.startswith("name ")]
    assert heads[0] == ["name", "toys:ScaleSensitive", "toys:Faithful", "limit"]
    (row,) = [line.split() for line in lines if line.startswith("scale_ratings(2) ")]
    assert row[1:2] == ["VIOLATED"]
    assert row[3:5] == ["holds", "0.000"]


def test_many_without_a_verdict_for_one_reason_share_a_sentence(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        test_it="""
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history, scale_ratings, shift_ratings

        @metamorphic(scale_ratings(2), reorder_history, shift_ratings(1))
        def test_ranking(source, followup):
            assert same_ranking(source, followup, margin=0.2)
        """,
    )
    text = " ".join(" ".join(ours(run("--recsys-model=toys:OftenFailing"))).split())
    assert "3 promises got no verdict: " in text
    assert text.partition("gate: ")[0].count("429 rate limit") == 1


@pytest.mark.slow
def test_a_first_run_says_what_it_found_in_40_lines(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--pyargs", "pytest_recsys_mt.suites", "-ra")
    lines = ours(result)
    assert len(lines) <= 40
    assert all(len(line) <= 80 for line in lines)
    assert not [line for line in result.stdout.lines if line.startswith("SKIPPED")]
    assert "(all of arena)" in "".join(lines)
    assert "(all of lrworld, " in " ".join(lines).replace("\n    ", " ").replace(
        "     ",
        " ",
    )

"""What a metamorphic test's verdicts do to its outcome."""

import pytest

from tests.plugin.conftest import ON_WORKERS_TOO, Run

HEAD = """
import pytest
from pytest_recsys_mt import expect_violated, metamorphic, NotApplicable
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings
"""


def body(text: str) -> str:
    indented = "\n".join(f"    {line}" for line in text.strip().splitlines())
    return f"{HEAD}\n@metamorphic(scale_ratings(2))\ndef test_it(source, followup):\n{indented}\n"


ASSERTED = body("assert same_ranking(source, followup, margin=0.2)")


def test_a_promise_that_is_kept_passes(run: Run, project: pytest.Pytester) -> None:
    project.makepyfile(ASSERTED)
    run("--recsys-model=toys:Faithful").assert_outcomes(passed=1)


def test_a_broken_promise_fails_with_its_numbers(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(ASSERTED)
    result = run("--recsys-model=toys:ScaleSensitive")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*assert scale_ratings(2) is violated",
            "scale_ratings(2) is violated: the loss of agreement beyond noise is 1.000",
            "same_ranking:rbo; D=*; bounds [[]*; p=*; floor=1.000; n=20",
        ],
    )
    result.stdout.fnmatch_lines(["user *agreement*", "*source  *follow-up", "  1 *"])


def test_a_test_without_a_verdict_fails(run: Run, project: pytest.Pytester) -> None:
    project.makepyfile(body("pass"))
    result = run("--recsys-model=toys:Faithful")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*made no verdict*"])


@pytest.mark.parametrize(
    "unasserted",
    [
        "same_ranking(source, followup, margin=0.2)",
        "if same_ranking(source, followup, margin=0.2): pass",
        "assert not same_ranking(source, followup, margin=0.2)",
        "try:\n    assert same_ranking(source, followup, margin=0.2)\nexcept AssertionError: pass",
        "if not same_ranking(source, followup, margin=0.2): pytest.skip('not today')",
    ],
    ids=["never looked at", "if verdict: pass", "assert not", "swallowed", "skipped"],
)
def test_a_violation_cannot_be_hidden(
    project: pytest.Pytester,
    unasserted: str,
    run: Run,
) -> None:
    project.makepyfile(body(unasserted))
    result = run("--recsys-model=toys:ScaleSensitive")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*scale_ratings(2) is violated: *not asserted*"])


def test_an_oracle_whose_error_is_swallowed_leaves_no_verdict(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        body(
            "try:\n    same_ranking(source, followup, margin=7)\nexcept Exception: pass",
        ),
    )
    result = run("--recsys-model=toys:Faithful")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*made no verdict*"])


def test_a_known_violation_passes_while_it_is_there(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        body("assert expect_violated(same_ranking(source, followup, margin=0.2))"),
    )
    run("--recsys-model=toys:ScaleSensitive").assert_outcomes(passed=1)


def test_a_known_violation_fails_once_it_is_mended(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        body("expect_violated(same_ranking(source, followup, margin=0.2))"),
    )
    result = run("--recsys-model=toys:Faithful")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*scale_ratings(2) holds: *remove expect_violated()*"])


def test_a_strict_xfail_works_as_in_any_test(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        ASSERTED.replace(
            "@metamorphic",
            "@pytest.mark.xfail(strict=True)\n@metamorphic",
        ),
    )
    run("--recsys-model=toys:ScaleSensitive").assert_outcomes(xfailed=1)


TOO_FEW = "assert same_ranking(source, followup, margin=0.01)"


def test_an_inconclusive_verdict_fails_and_says_what_would_settle_it(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(body(TOO_FEW))
    result = run("--recsys-model=toys:Faithful")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*scale_ratings(2) is inconclusive", "*more*users*"])


@ON_WORKERS_TOO
def test_an_asserted_inconclusive_verdict_skips_where_that_is_asked(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(body(TOO_FEW))
    result = run("--recsys-model=toys:Faithful", "--recsys-inconclusive=skip", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*test_an_asserted*.py:*is inconclusive: *"])


@pytest.mark.parametrize(
    "text",
    [
        f"if {TOO_FEW.removeprefix('assert ')}: pass",
        f"verdict = {TOO_FEW.removeprefix('assert ')}\nassert verdict or True\nassert 1 == 2",
        f"same_ranking(source, followup, margin=0.2, similarity='overlap')\n{TOO_FEW}",
    ],
    ids=["not asserted", "another assertion", "violated beside it"],
)
def test_skipping_inconclusive_verdicts_hides_no_failure(
    run: Run,
    project: pytest.Pytester,
    text: str,
) -> None:
    project.makepyfile(body(text))
    model = "ScaleSensitive" if "overlap" in text else "Faithful"
    run(f"--recsys-model=toys:{model}", "--recsys-inconclusive=skip").assert_outcomes(
        failed=1,
    )


def test_no_applicable_user_skips_with_the_reasons_counted(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        HEAD
        + """
def never(request, rng):
    raise NotApplicable("no user is like that")

@metamorphic(never)
def test_it(source, followup):
    assert same_ranking(source, followup)
""",
    )
    result = run("--recsys-model=toys:Faithful", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["1 not applicable: no user is like that (all of*"])


def test_an_unchanged_request_is_not_applicable(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        HEAD
        + """
def nothing(request, rng):
    return request.replace(k=request.k)

@metamorphic(nothing)
def test_it(source, followup):
    assert same_ranking(source, followup)
""",
    )
    result = run("--recsys-model=toys:Faithful", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["1 not applicable: *changes nothing*"])


def test_a_text_relation_is_skipped_where_no_text_is_read(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        HEAD
        + """
from pytest_recsys_mt.relations import add_spaces

@metamorphic(add_spaces(0.1))
def test_it(source, followup):
    assert same_ranking(source, followup)
""",
    )
    result = run("--recsys-model=toys:Faithful", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(
        ["1 not applicable: needs a text model, and toys:Faithful reads no text*"],
    )


def test_a_few_failed_calls_are_counted_and_many_are_an_error(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(ASSERTED)
    run("--recsys-model=toys:Failing", "--recsys-users=60").assert_outcomes(passed=1)
    result = run("--recsys-model=toys:OftenFailing")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*scale_ratings(2) got no verdict: RuntimeError: 429 rate limit*"],
    )


def test_noise_alone_is_no_violation(run: Run, project: pytest.Pytester) -> None:
    project.makepyfile(ASSERTED)
    run("--recsys-model=toys:Noisy").assert_outcomes(passed=1)


def test_own_fixtures_called_source_and_followup_do_no_harm(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        ASSERTED
        + """
@pytest.fixture
def source():
    return "mine"

@pytest.fixture
def followup():
    return "mine"

def test_mine(source, followup):
    assert source == followup == "mine"
""",
    )
    run("--recsys-model=toys:Faithful").assert_outcomes(passed=2)


def test_methods_and_stacked_decorators_are_tests_too(
    run: Run,
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        HEAD
        + """
class TestRatings:
    @metamorphic(scale_ratings(2))
    @metamorphic(shift_ratings(1))
    def test_it(self, source, followup):
        assert same_ranking(source, followup, margin=0.2)
""",
    )
    run("--recsys-model=toys:Faithful").assert_outcomes(passed=2)


def test_a_fixture_says_that_something_does_not_apply(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest
        from pytest_recsys_mt import NotApplicable, metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import reorder_history


        @pytest.fixture
        def at_night(recsys):
            raise NotApplicable(f"{recsys.model} sleeps")


        @metamorphic(reorder_history)
        def test_order(source, followup, at_night):
            assert same_ranking(source, followup)
        """,
    )
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-model=mostpop",
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*1 not applicable: mostpop sleeps*"])


@pytest.mark.parametrize(
    ("raised", "outcomes", "line"),
    [
        ("NotApplicable('closed')", {"skipped": 3}, "*3 not applicable: closed*"),
        ("UnreachableError('no shop')", {"errors": 3}, "*UnreachableError: no shop*"),
    ],
)
def test_a_fixture_of_several_tests_says_it_for_each(
    pytester: pytest.Pytester,
    raised: str,
    outcomes: dict[str, int],
    line: str,
) -> None:
    pytester.makepyfile(
        f"""
        import pytest
        from pytest_recsys_mt import NotApplicable
        from pytest_recsys_mt.safety.errors import UnreachableError


        @pytest.fixture(scope="session")
        def shop():
            raise {raised}


        @pytest.mark.parametrize("number", range(3))
        def test_it(recsys, shop, number):
            assert number
        """,
    )
    result = pytester.runpytest_inprocess(
        "-p",
        "no:cacheprovider",
        "--recsys-model=mostpop",
    )
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([line])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")

"""Transformations are known by a name that stays the same."""

import pytest

from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.relations import scale_ratings, shift_ratings, shuffle_candidates
from tests.support.metamorphic import name_of
from tests.support.safety import slug


def test_names_are_the_calls_that_make_them() -> None:
    assert name_of(scale_ratings(2)) == "scale_ratings(2)"
    assert name_of(shuffle_candidates) == "shuffle_candidates"


def test_ids_are_safe_for_selection_and_keep_the_sign() -> None:
    assert slug("scale_ratings(2)") == "scale_ratings-2"
    assert slug(name_of(shift_ratings(-1))) == "shift_ratings--1"
    assert slug("openai:gpt-4o?temperature=0") == "openai-gpt-4o-temperature-0"


@pytest.mark.parametrize(
    ("transformation", "says"),
    [
        (
            "lambda request, rng: request",
            "*<lambda>*no stable name*define it with def*",
        ),
        ("functools.partial(newest, 3)", "*a partial has no stable name*.name*"),
    ],
)
def test_a_transformation_without_a_name_is_a_usage_error(
    project: pytest.Pytester,
    transformation: str,
    says: str,
) -> None:
    project.makepyfile(
        f"""
        import functools
        from pytest_recsys_mt import metamorphic

        def newest(n, request, rng):
            return request.replace(history=request.history[-n:])

        @metamorphic({transformation})
        def test_it(source, followup):
            pass
        """,
    )
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: recsys-mt: *test_it: {says}"])


def test_a_transformation_may_begin_with_test_and_carry_marks_and_an_id(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        import pytest
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking
        from pytest_recsys_mt.relations import scale_ratings

        def testimonial_added(request, rng):
            return request.replace(history=request.history[1:])

        @metamorphic(
            testimonial_added,
            pytest.param(scale_ratings(2), id="twice", marks=pytest.mark.xfail(reason="known")),
        )
        def test_it(source, followup):
            assert same_ranking(source, followup, margin=0.2)
        """,
    )
    result = project.runpytest_inprocess(
        "-v",
        "-p",
        "no:cacheprovider",
        "--recsys-model=toys:ScaleSensitive",
        "--recsys-users=40",
    )
    result.stdout.fnmatch_lines(
        ["*test_it?*-testimonial_added? PASSED*", "*test_it?*-twice? XFAIL*"],
    )


def test_a_plain_function_is_known_by_its_own_name(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.oracles import same_ranking

        def newest_first(request, rng):
            return request.replace(history=request.history[::-1])

        @metamorphic(newest_first)
        def test_history_order(source, followup):
            assert same_ranking(source, followup, similarity="overlap", margin=0.3)
        """,
    )
    result = project.runpytest_inprocess(
        "-v",
        "-k",
        "newest_first",
        "--recsys-model=toys:Faithful",
        "--recsys-users=20",
    )
    result.stdout.fnmatch_lines(
        ["*::test_history_order?toys-Faithful-newest_first? PASSED*"],
    )


def test_a_test_that_lacks_its_arguments_is_a_usage_error(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.relations import scale_ratings

        @metamorphic(scale_ratings(2))
        def test_it(source):
            pass
        """,
    )
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *test_it: *arguments source and followup*"])


def test_a_transformation_listed_twice_is_a_usage_error(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(
        """
        from pytest_recsys_mt import metamorphic
        from pytest_recsys_mt.relations import scale_ratings

        @metamorphic(scale_ratings(2), scale_ratings(2))
        def test_it(source, followup):
            pass
        """,
    )
    result = project.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *scale_ratings(2) is listed twice*"])


def test_the_decorator_refuses_what_is_no_transformation() -> None:
    with pytest.raises(TypeError, match="needs a transformation"):
        metamorphic()
    with pytest.raises(TypeError, match="callables"):
        metamorphic("scale_ratings")  # type: ignore[arg-type]

    def test_something() -> None: ...

    with pytest.raises(TypeError, match="not applied bare"):
        metamorphic(test_something)  # type: ignore[arg-type]


def test_a_transformation_that_takes_no_arguments_is_written_without_parentheses() -> (
    None
):
    from pytest_recsys_mt.relations import shuffle_candidates

    with pytest.raises(TypeError, match=r"write shuffle_candidates without \(\)"):
        shuffle_candidates()

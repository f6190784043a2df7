"""An error of ours shows the lines of tests and fixtures
that led to it, and none of the package.
"""

import pytest


def test_a_wrong_spec_in_a_fixture_shows_the_fixture_alone(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def other(recsys_recommenders):
            return recsys_recommenders("mostpopp")

        def test_it(recsys, other):
            pass
        """,
    )
    shown = pytester.runpytest_inprocess("-p", "no:cacheprovider").stdout
    shown.fnmatch_lines(
        ['*recsys_recommenders("mostpopp")', "*did you mean 'mostpop'*"],
    )
    shown.no_fnmatch_line("*made_recommenders.py*")
    whole = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--tb=long").stdout
    whole.fnmatch_lines(["*made_recommenders.py*"])

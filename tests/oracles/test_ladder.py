"""Why answers allow no verdict, in words."""

from tests.support.oracles_judging import counted


def test_reasons_that_differ_in_what_they_quote_are_one() -> None:
    assert (
        counted({"'m1' is no title": 2, "'m2' is no title": 1})
        == "'m1' is no title and the like (3)"
    )
    told = counted({"user u12 gave [1, 2]": 1, "user u7 gave [3]": 1})
    assert told == "user u12 gave [1, 2] and the like (2)"
    assert counted({"'m1' is no title": 2}) == "'m1' is no title (2)"


def test_replies_of_different_status_are_two_reasons() -> None:
    assert (
        counted({"HTTP 400: bad": 1, "HTTP 500: bad": 2})
        == "HTTP 400: bad (1), HTTP 500: bad (2)"
    )

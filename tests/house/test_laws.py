import pytest

from tests.laws import over


def test_every_case_that_breaks_a_law_is_named() -> None:
    asked = []

    @over("number, of", [(4, "even"), (5, "odd"), (6, "skipped"), (7, "odd")])
    def law(number: int, of: str, more: int) -> None:
        asked.append(number)
        if of == "skipped":
            pytest.skip("not this one")
        assert number % 2 == more

    with pytest.raises(ExceptionGroup) as caught:
        law(more=0)
    assert asked == [4, 5, 6, 7]
    notes = [note for error in caught.value.exceptions for note in error.__notes__]
    assert notes == ["with number, of = (5, 'odd')", "with number, of = (7, 'odd')"]
    with pytest.raises(ExceptionGroup, match="2 of 4 cases"):
        law(more=0)


def test_a_law_that_no_case_was_tried_on_is_skipped() -> None:
    @over("number", [1, 2])
    def law(number: int) -> None:
        pytest.skip("no such machine")

    with pytest.raises(pytest.skip.Exception, match="no such machine"):
        law()

"""Two answers side by side: every item is marked as what became of it."""

from tests.support.report_html import aligned, alone, summary


def marks(places: list[object]) -> list[list[str]]:
    return [[mark.text for mark in place.marks] if place else [] for place in places]  # type: ignore[attr-defined]


def test_what_stays_moves_is_lost_or_new_is_said() -> None:
    lines = aligned("abcd", "bacx")
    assert marks([left for left, _ in lines]) == [[], [], [], ["✕ lost"]]
    assert marks([right for _, right in lines]) == [
        ["▲ was 2"], ["▼ was 1"], ["= same place"], ["✚ new"],
    ]  # fmt: skip
    assert summary(lines) == "1 in the same place, 2 moved, 1 lost, 1 new"


def test_answers_of_other_lengths_are_aligned_by_rank() -> None:
    lines = aligned("ab", "bca")
    assert [left.title if left else None for left, _ in lines] == ["a", "b", None]
    assert marks([right for _, right in lines]) == [["▲ was 2"], ["✚ new"], ["▼ was 1"]]
    assert aligned("", "") == []


def test_an_item_named_twice_is_compared_with_its_first_place() -> None:
    lines = aligned("aba", "aab", ["candidate", "candidate", "duplicate"])
    assert marks([left for left, _ in lines]) == [[], [], ["⚠ named before"]]
    assert marks([right for _, right in lines]) == [
        ["= same place"],
        ["▼ was 1"],
        ["▼ was 2"],
    ]


def test_what_should_not_be_in_an_answer_is_said_in_words() -> None:
    kinds = ["candidate", "unknown", "outside", "history", "catalogue", "of the future"]
    assert marks([*alone("abcdef", kinds)]) == [
        [],
        ["⚠ hallucinated: no known item"],
        ["⚠ hallucinated: exists, but is not in the catalogue"],
        ["⚠ already in the history"],
        ["⚠ was not offered"],
        [],
    ]

"""The diff of a request and its follow-up."""

import random
import unicodedata
from typing import Any

import pytest

from tests.support.relations import AddSpaces
from tests.support.report import Change, changes, diffs

TITLES = [f"Film {number} ({1960 + number})" for number in range(20)]


def request(**changed: Any) -> dict[str, Any]:
    return {
        "user": "u1",
        "history": [
            {"item": f"i{n}", "title": title, "rating": n % 5 + 1.0, "timestamp": n}
            for n, title in enumerate(TITLES)
        ],
        "scale": [1.0, 5.0],
        "candidates": [
            {"item": f"c{n}", "title": title} for n, title in enumerate(TITLES)
        ],
        "seen": [],
        "k": 10,
        "instruction": "",
        "edits": [],
        "attributes": {},
        "answer": [],
        "kinds": [],
        **changed,
    }


def said(*texts: str) -> dict[str, Any]:
    return request(prompt=[{"role": "user", "content": text} for text in texts])


SOURCE = request()
HISTORY: list[dict[str, Any]] = SOURCE["history"]


def lines(change: Change) -> list[str]:
    return [f"{mark} {text}" for mark, text in change.lines]


def test_ratings_are_changed_line_by_line_and_so_is_the_scale() -> None:
    doubled = [{**rating, "rating": 2 * rating["rating"]} for rating in HISTORY]
    history, scale = changes(SOURCE, request(history=doubled, scale=[2.0, 10.0]))
    assert history.part == "history"
    assert lines(history)[:4] == [
        "- Film 0 (1960): 1",
        "+ Film 0 (1960): 2",
        "- Film 1 (1961): 2",
        "+ Film 1 (1961): 4",
    ]
    assert len(history.lines) == 40
    assert (scale.part, lines(scale)) == ("scale", ["- 1 to 5", "+ 2 to 10"])


def test_further_changes_are_counted_and_no_change_is_parted() -> None:
    doubled = [{**rating, "rating": 2 * rating["rating"]} for rating in HISTORY]
    (history,) = changes(SOURCE, request(history=doubled), most=2)
    assert lines(history) == [
        "- Film 0 (1960): 1",
        "+ Film 0 (1960): 2",
        "- Film 1 (1961): 2",
        "+ Film 1 (1961): 4",
        "… 18 more changes",
    ]
    (all_but_one,) = changes(SOURCE, request(history=doubled), most=19)
    assert len(all_but_one.lines) == 40, "a line that says '1 more' saves none"


def test_what_is_far_from_a_change_is_folded() -> None:
    without = [rating for rating in HISTORY if rating["item"] != "i10"]
    (history,) = changes(SOURCE, request(history=without))
    assert lines(history) == [
        "… 9 more the same",
        "  Film 9 (1969): 5",
        "- Film 10 (1970): 1",
        "  Film 11 (1971): 2",
        "… 8 more the same",
    ]


def test_a_moved_item_is_one_line() -> None:
    moved = [*HISTORY[:3], *HISTORY[4:12], HISTORY[3], *HISTORY[12:]]
    (history,) = changes(SOURCE, request(history=moved))
    assert lines(history)[0] == "… the same 20, in another order"
    assert [line for line in lines(history) if line[0] in "-+"] == [
        "+ Film 3 (1963): 4 (moved from 4 to 12)",
    ]


def test_a_moved_item_with_another_rating_shows_both() -> None:
    moved = [*HISTORY[1:], {**HISTORY[0], "rating": 5.0}]
    (history,) = changes(SOURCE, request(history=moved))
    assert [line for line in lines(history) if line[0] in "-+"] == [
        "- Film 0 (1960): 1",
        "+ Film 0 (1960): 5 (moved from 1 to 20)",
    ]


def test_an_item_that_stands_twice_is_one_more() -> None:
    (history,) = changes(SOURCE, request(history=[*HISTORY, HISTORY[0]]))
    assert [line for line in lines(history) if line[0] in "-+"] == [
        "+ Film 0 (1960): 1",
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_diff_says_all_that_changed(seed: int) -> None:
    """Its "-" and "+" lines turn the old list into the new one, whatever the two are."""
    draw = random.Random(seed)
    old = [draw.choice("abcdef") for _ in range(draw.randrange(8))]
    new = [draw.choice("abcdef") for _ in range(draw.randrange(8))]
    found = changes(
        request(candidates=[{"item": item, "title": item} for item in old]),
        request(candidates=[{"item": item, "title": item} for item in new]),
    )
    assert bool(found) == (old != new)
    if not found:
        return
    gone = [text for mark, text in found[0].lines if mark == "-"]
    came = [
        text for mark, text in found[0].lines if mark == "+" and "moved" not in text
    ]
    assert sorted(old + came) == sorted(new + gone)


def test_times_are_shown_where_nothing_else_changed() -> None:
    later = [{**rating, "timestamp": rating["timestamp"] + 5} for rating in HISTORY[:1]]
    (history,) = changes(request(history=HISTORY[:1]), request(history=later))
    assert lines(history) == ["- Film 0 (1960): 1, at 0", "+ Film 0 (1960): 1, at 5"]


def test_the_whole_catalogue_stands_in_one_line() -> None:
    candidates, seen = changes(SOURCE, request(candidates=None, seen=["i99"]))
    assert lines(candidates) == [
        "- 20 items",
        "+ the whole catalogue but 1 more item that the user has",
    ]
    assert lines(seen) == ["+ i99"]


def test_every_part_has_its_name() -> None:
    other = request(
        user="u2",
        k=5,
        instruction="Be bold.",
        edits=["Typos(0.1)"],
        attributes={"age": 61},
    )
    found = {
        change.part: lines(change)
        for change in changes(request(attributes={"age": 16}), other)
    }
    assert found == {
        "user": ["- u1", "+ u2"],
        "k": ["- 10", "+ 5"],
        "instruction": ["+ Be bold."],
        "edits": ["+ Typos(0.1)"],
        "attributes": ["- age: 16", "+ age: 61"],
    }


def test_nothing_differs_between_a_request_and_itself() -> None:
    assert changes(SOURCE, request()) == []


def test_facts_of_an_item_are_shown_where_they_differ() -> None:
    plain = [
        {
            "item": "c0",
            "title": "Alien (1979)",
            "attributes": {"genres": "('Horror',)"},
        },
    ]
    other = [
        {
            "item": "c0",
            "title": "Alien (1979)",
            "attributes": {"genres": "('Comedy',)"},
        },
    ]
    (candidates,) = changes(request(candidates=plain), request(candidates=other))
    assert lines(candidates) == [
        "- Alien (1979) {genres: ('Horror',)}",
        "+ Alien (1979) {genres: ('Comedy',)}",
    ]


def test_blanks_that_differ_are_visible_and_the_others_are_blanks() -> None:
    (prompt,) = changes(said("Name ten films."), said("Na me ten  films ."))
    assert lines(prompt) == ["- Name ten·films.", "+ Na·me ten··films·."]


def test_added_spaces_are_the_only_visible_ones() -> None:
    text = "\n".join(TITLES)
    (prompt,) = changes(said(text), said(AddSpaces(0.1, 1)(text)))
    for mark, line in prompt.lines:
        if mark == "+":
            assert "·" in line
            assert line.replace("·", "") in TITLES
        elif mark == "-":
            assert line in TITLES


def test_a_long_line_is_shown_around_its_changes() -> None:
    filler = "and so on and so forth " * 8
    text = f"I want you to act as a movie recommender. {filler}Recommend ten films."
    (prompt,) = changes(
        said(text),
        said(text.replace("movie", "moive").replace("ten", "tne")),
    )
    assert lines(prompt) == [
        "- … act as a movie recommender. and so …",
        "+ … act as a moive recommender. and so …",
        "- … so forth Recommend ten films.",
        "+ … so forth Recommend tne films.",
    ]


def test_a_line_that_changed_much_is_shown_whole() -> None:
    one, other = "alpha beta " * 10, "XYZ UVW QRS " * 10
    (prompt,) = changes(said(one), said(other))
    assert lines(prompt) == [f"- {one}", f"+ {other}"]


def test_roles_and_images_of_a_chat_are_lines() -> None:
    one = request(prompt=[{"role": "user", "content": "Hi", "images": ["1a2b"]}])
    other = request(
        prompt=[
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
    )
    (prompt,) = changes(one, other)
    assert lines(prompt) == [
        "- [image 1a2b]",
        "+ [system]",
        "+ Be brief.",
        "+ [user]",
        "  Hi",
    ]


def test_sides_of_records_that_lack_a_part_are_read() -> None:
    bare: dict[str, Any] = {"user": "u1", "history": [], "candidates": None}
    assert changes(bare, bare) == []
    assert [change.part for change in changes(bare, {**bare, "k": 3})] == ["k"]


def test_letters_that_look_the_same_are_told_apart() -> None:
    composed = "Amélie & Zoë"
    decomposed = unicodedata.normalize("NFD", composed)
    told_apart = ("-", "Am\\xe9lie & Zo\\xeb"), ("+", "Ame\\u0301lie & Zoe\\u0308")
    assert diffs.text_diff([composed], [decomposed]) == [told_apart]
    assert diffs.list_diff([("id", composed)], [("id", decomposed)]) == [told_apart]

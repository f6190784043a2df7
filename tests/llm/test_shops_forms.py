"""How models write of books, products and songs: comments, editions, artists, a second
list beside the one asked for.
"""

import json
from collections.abc import Iterator

import pytest

from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from tests.support.llm_reading import TitleIndex, read

OFFERED = {
    "books": [
        "Night", "1984", "Holes", "Emma", "The Road", "Beloved", "It", "Persuasion", "The Stranger", "Dune Messiah",
        "Twilight (Twilight, #1)", "Pride and Prejudice (Penguin Classics)",
    ],
    "products": [
        "The Ordinary Niacinamide 10% + Zinc 1% (30 ml)", "The Ordinary Niacinamide 10% + Zinc 1% (60 ml)",
        "Introduction to Algorithms (3rd Edition)", "Introduction to Algorithms (4th Edition)",
        "Dove Beauty Bar (Pack of 6)", "Dove Beauty Bar (Pack of 14)", "Rice", "Eggs (12)", "Eggs (18)",
        "Ground Beef 80/20", "Ground Beef 93/7", "Milk",
    ],
    "songs": [
        "Radiohead - Creep", "Adele - Hello", "Lionel Richie - Hello", "Nirvana - Lithium", "Taylor Swift - Love Story",
        "Oasis - Wonderwall", "Queen - Bohemian Rhapsody", "Blur - Song 2", "Björk - Joga", "Prince - 1999",
        "Toto - Africa", "Dolly Parton - Jolene",
    ],
    "tracks": [
        "Hello", "Creep", "1984", "21", "Jolene", "Africa", "Lithium", "Hurt", "Yesterday", "Help!", "No", "Song 2",
    ],
}  # fmt: skip
TOP, REST = [3, 1, 5, 2, 8, 6], [4, 7, 9]
COMMENTS = (
    "Must read.", "Great value.", "Highly recommended.", "Popular.", "New!", "Best seller", "Worth a try.",
    "You'll love it.", "Back in stock.", "Popular and well reviewed.",
)  # fmt: skip
HISTORY = (Rating(Item("h1", "Emma Woodhouse"), 5), Rating(Item("h2", "Moby Dick"), 4))


def items(text: str, titles: list[str]) -> list[str]:
    offered = tuple(Item(str(at), title) for at, title in enumerate(titles, 1))
    reading = read(
        text,
        Request("u", HISTORY, Scale(), offered, k=6),
        TitleIndex(offered),
    )
    return list(reading.recommendation(6, text).items)


def answers(titles: list[str]) -> Iterator[str]:
    def lines(
        form: str = "{i}. {t}",
        numbers: list[int] = TOP,
        comments: tuple[str, ...] = ("",),
    ) -> str:
        return "\n".join(
            form.format(i=at, t=titles[n - 1], c=comments[at % len(comments)])
            for at, n in enumerate(numbers, 1)
        )

    best, other = titles[TOP[0] - 1], titles[REST[0] - 1]
    for name in (
        "You might also like", "Next up", "Next time", "Rest of the candidates, ranked lower", "Also recommended by others",
        "Ranked lower", "Lowest ranked", "Top sellers", "Ranked by popularity instead", "No recomendados", "推荐度较低",
        "Bonus", "Honourable mentions",
    ):  # fmt: skip
        yield f"{lines()}\n\n**{name}:**\n{lines('- {t}', REST)}"
        yield f"{lines()}\n\n{name}: {other}"
    for name in (
        "Best overall", "Top pick", "Final answer", "Answer", "Best value", "Best seller", "Our pick", "Final verdict",
        "Conclusion", "Recommendation", "Pick of the week", "Read next", "Winner", "Summary",
    ):  # fmt: skip
        yield f"{lines()}\n\n**{name}:** {best}"
        yield f"{lines()}\n\n{name}: {best}"
    for form in ("{i}. {t}: {c}", "{i}. {t} - {c}", "- {t}: {c}", "{i}. {t}, {c}"):
        yield lines(form, comments=COMMENTS)
        yield lines(form, comments=COMMENTS[1:2])
    for form in (
        "{i}. {t} (Best budget pick)", "{i}. {t} (Popular and well reviewed)", '  - title: "{t}"', "{i}\\. {t}", "97% — {t}",
        "{i}. 1 x {t}", "{i}. ({i}) {t}",
    ):  # fmt: skip
        yield lines(form)
    rows = lines("| {t} | Moby Dick |")
    yield f"| Recommended | Because you liked |\n|---|---|\n{rows}"
    yield "\n".join(
        f"{mark}) {titles[n - 1]}" for mark, n in zip("ABCDEF", TOP, strict=True)
    )


@pytest.mark.parametrize("kind", OFFERED)
def test_the_list_asked_for_is_read(kind: str) -> None:
    titles, right = OFFERED[kind], [str(n) for n in TOP]
    wrong = [text for text in answers(titles) if items(text, titles) != right]
    assert not wrong, wrong[:3]


def test_a_song_is_its_title_and_its_artist_in_any_order() -> None:
    named = [OFFERED["songs"][n - 1].split(" - ") for n in TOP]
    for form in (
        "{b} by {a}", '"{b}" by {a}', "{b} - {a}", "{b} ({a})", "{a}: {b}", '{a} – "{b}"', "**{b}** by {a}",
    ):  # fmt: skip
        text = "\n".join(
            f"{i}. {form.format(a=a, b=b)}" for i, (a, b) in enumerate(named, 1)
        )
        assert items(text, OFFERED["songs"]) == [str(n) for n in TOP], text
    rows = "\n".join(f"| {i} | {b} | {a} |" for i, (a, b) in enumerate(named, 1))
    for text in (
        json.dumps([{"artist": a, "title": b} for a, b in named]),
        json.dumps([{"song": b, "artist": a} for a, b in named]),
        f"| # | Song | Artist |\n|---|---|---|\n{rows}",
    ):
        assert items(text, OFFERED["songs"]) == [str(n) for n in TOP], text


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("products", "Introduction to Algorithms"),
        ("products", "The Ordinary Niacinamide 10% + Zinc 1%"),
        ("products", "Eggs"),
        ("songs", "Hello"),
    ],
)
def test_what_several_are_called_is_none_of_them(kind: str, name: str) -> None:
    titles = OFFERED[kind]
    found = items(f"1. {name}\n2. {titles[6]}\n3. {titles[11]}", titles)
    assert found[0].startswith("unknown:")
    assert found[1:] == ["7", "12"]


def test_a_title_within_a_comment_is_not_taken_for_the_entry() -> None:
    titles = [
        "ألف ليلة وليلة",
        "红楼梦",
        "Introduction to Algorithms (4th Edition)",
        "Sudoku (hard)",
        "Night",
    ]
    text = (
        "1. «ألف ليلة وليلة» — если вам понравилось «Introduction to Algorithms (4th Edition)».\n"
        '2. "红楼梦" - similar to "Sudoku (hard)" but a better match for you\n3. Night'
    )
    assert items(text, titles) == ["1", "2", "5"]


def test_a_top_pick_before_the_list_is_not_lost_in_silence() -> None:
    assert not items(
        "My top recommendation is **Night**.\n\nOther picks:\n- 1984\n- Holes",
        OFFERED["books"],
    )


def test_a_sequel_that_was_not_offered_is_no_comment() -> None:
    found = items(
        "1. Hello\n2. Hello Again\n3. Creep: Live at Dawn\n4. Africa",
        OFFERED["tracks"],
    )
    assert found == ["1", "unknown:helloagain", "unknown:creepliveatdawn", "6"]

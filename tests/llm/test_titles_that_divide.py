"""Titles that hold what elsewhere divides or numbers entries: conjunctions, inch marks,
numbers, brackets in a line of their own.
"""

import pytest

from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Item, Request, Scale
from tests.support.llm_reading import Reading, TitleIndex, read

FILMS = (
    "千と千尋の神隠し",
    "そして父になる",
    "おくりびと",
    "東京物語",
    "羅生門",
    "生きる",
)
GOODS = (
    'Monitor 27" Odyssey, 165 Hz',
    "Power Bank 10000, 10,000 mAh",
    'Monitor 24" Nano, 60 Hz',
    "Jeans 511, 32W x 34L",
    "Batteries, 24 Pack",
    "Kettle",
)
NUMBERS = ("8088", "8675", "3071", "31415", "91520", "16180")
OLD = (
    "Dawn of the Dead (1978)",
    "Heat",
    "Roses (Remix)",
    "Roses",
    "Up (2009)",
    "Jane Eyre",
)


def reading_of(text: str, titles: tuple[str, ...]) -> Reading:
    offered = []
    for number, title in enumerate(titles, 1):
        name, _, year = title.removesuffix(")").rpartition(" (")
        dated = bool(name) and year.isdigit()
        offered.append(
            Item(f"i{number}", name if dated else title, int(year) if dated else None),
        )
    asked = Request("u", (), Scale(1, 5), tuple(offered), k=4)
    return read(text, asked, TitleIndex(offered))


@pytest.mark.parametrize(
    ("titles", "text", "right"),
    [
        (FILMS, "Thought: {4} fits.\nFinal Answer: {1}; {2}; {3}; {5}", [1, 2, 3, 5]),
        (FILMS, "{3}、{1}、そして{2}", [3, 1, 2]),
        (GOODS, "Thought: {5} fits.\nFinal Answer: {2}; {1}; {4}; {3}", [2, 1, 4, 3]),
        (NUMBERS, "title,score\n{4},0.98\n{5},0.91\n{2},0.86\n{1},0.81", [4, 5, 2, 1]),
        (NUMBERS, '{{"ranking": [3, 1, 2, 31]}}', [3, 1, 2, 0]),
        (OLD, " 1. Dawn of the Dead\n    (1978)\n 2. Roses\n    (Remix)\n 3. Heat\n 4. Up (2009)", [1, 3, 2, 5]),
        (OLD, "1. {6} - matches 3 of 4\n   preferences\n2. {2} - matches 2 of 4\n   preferences", [6, 2]),
        (OLD, "1. {6}\n   1. A strong match.\n   2. Old.\n2. {2}\n   1. A safe choice.\n   2. New.", [6, 2]),
    ],
)  # fmt: skip
def test_each_title_is_one_entry(
    titles: tuple[str, ...],
    text: str,
    right: list[int],
) -> None:
    reading = reading_of(text.format("", *titles), titles)
    answer = reading.recommendation(4, text)
    found = [
        0 if each.startswith(UNKNOWN_PREFIX) else int(each[1:]) for each in answer.items
    ]
    assert found == right, reading


def test_numbers_in_sentences_that_may_be_titles_leave_an_answer_unread() -> None:
    text = "First, 8088, popular with all. Second, 16180, widely praised. Third, 3071, a safe choice."
    assert reading_of(text, NUMBERS).recommendation(4, text).unread


def test_a_list_that_lost_the_indent_of_its_first_line_keeps_its_entries() -> None:
    text = "1. Jane Eyre\n   2. Heat\n   3. Roses\n   4. Up (2009)"
    assert reading_of(text, OLD).recommendation(4, text).items == (
        "i6",
        "i2",
        "i4",
        "i5",
    )

"""What holds for every answer: it is read without an
error, in linear time, and faithfully.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pytest_recsys_mt.requests import UNKNOWN_PREFIX, Entry, Item, Request, Scale
from tests.llm.world import CATALOGUE, INDEX, collected, request
from tests.support.llm_reading import (
    GRADES,
    MAX_PIECES,
    TitleIndex,
    layout,
    normalise,
    parse,
)

TEXTS = [case["text"] for case in collected()]
FRAGMENTS = [
    "\n", " ", "1. ", "- ", "| ", "**", '"', "“", "[", "]", "{", "}", ", ", " and ", "(1995)", "```", "<think>",
    "</think>", "\x1b[", "4/5", ": ", "#", "*", "_", "\\", "https://x", "\u202e", "\ud800", "、", "《", "》", "&amp;",
]  # fmt: skip
NOISE = st.lists(
    st.one_of(
        st.sampled_from(FRAGMENTS),
        st.sampled_from([item.label for item in CATALOGUE.values()]),
        st.text(max_size=12),
    ),
    max_size=40,
).map("".join)
SPLICES = st.builds(
    lambda a, b, at, noise: a[: int(len(a) * at)] + noise + b[int(len(b) * at) :],
    st.sampled_from(TEXTS),
    st.sampled_from(TEXTS),
    st.floats(0, 1),
    NOISE,
)


def check_sane(entries: Sequence[Entry], asked: Request) -> None:
    offered = {item.id for item in asked.candidates or ()}
    history = {rating.item.id for rating in asked.history}
    seen = set()
    for entry in entries:
        assert entry.text == entry.text.strip()
        assert (entry.item is None) == (entry.kind == "unparsed")
        if entry.item is None:
            continue
        known = entry.item in CATALOGUE
        assert known or entry.item.startswith(UNKNOWN_PREFIX)
        assert (entry.kind == "duplicate") == (entry.item in seen)
        seen.add(entry.item)
        match entry.kind:
            case "candidate":
                assert known
                assert entry.item in offered if asked.candidates is not None else known
            case "history":
                assert entry.item in history - offered
            case "catalogue":
                assert known
                assert entry.item not in offered | history
            case "unknown":
                assert not known


@settings(max_examples=100)
@given(st.one_of(st.text(), NOISE, SPLICES), st.booleans(), st.booleans())
@example("A HEAT", False, True).via(
    "a title taken back as cut off was a duplicate of itself",
)
def test_any_text_is_read_and_every_entry_is_sane(
    text: str,
    open_question: bool,
    truncated: bool,
) -> None:
    asked = request(candidates=None) if open_question else request()
    check_sane(parse(text, asked, INDEX, truncated=truncated), asked)


WORDS = st.one_of(
    st.sampled_from(
        [
            "the",
            "The",
            "of",
            "and",
            "a",
            "Night",
            "Alien",
            "Aliens",
            "Heat",
            "Story",
            "霸王",
            "é",
            "Сталкер",
        ],
    ),
    st.sampled_from(["2", "II", "2049", "1984", "Mr.", "&", "12"]),
    st.text(st.characters(categories=("Lu", "Ll", "Lo", "Nd")), min_size=1, max_size=8),
)
JOINTS = st.sampled_from([" ", " ", " ", ": ", ", ", " - ", "'s ", "! ", "/", "·"])
TITLES = st.builds(
    lambda first, rest, article: first + "".join(j + w for j, w in rest) + article,
    WORDS,
    st.lists(st.tuples(JOINTS, WORDS), max_size=4),
    st.sampled_from(["", "", "", ", The", ", A", " (La Otra)"]),
)
CATALOGUES = st.lists(
    st.builds(
        Item,
        id=st.just(""),
        title=TITLES,
        year=st.none() | st.integers(1900, 2030),
    ),
    min_size=2,
    max_size=8,
    unique_by=lambda item: normalise(item.title),
)


def styled(style: str, labels: list[str]) -> str:
    match style:
        case "json":
            return json.dumps(labels)
        case "objects":
            return json.dumps([{"title": label} for label in labels])
        case "table":
            return "| # | Title |\n|---|---|\n" + "\n".join(
                f"| {i} | {label} |" for i, label in enumerate(labels, 1)
            )
        case "lines":
            return "\n".join(labels)
        case "semicolons":
            return "; ".join(f'"{label}"' for label in labels)
    return "\n".join(style.format(i, label) for i, label in enumerate(labels, 1))


STYLES = [
    "{0}. {1}", "{0}) {1}", "({0}) {1}", "[{0}] {1}", "#{0}. {1}", "{0} - {1}", "**{0}.** {1}", "{0}. **{1}**",
    '{0}. "{1}"', "- {1}", "* {1}", "• {1}", "{0}、《{1}》", "> {0}. {1}", "json", "objects", "table", "lines", "semicolons",
]  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=12)  # of each of many styles
@given(catalogue=CATALOGUES, data=st.data())
def test_perfect_answer_gives_back_its_items_in_order(
    style: str,
    catalogue: list[Item],
    data: st.DataObject,
) -> None:
    catalogue = [
        Item(f"i{n}", item.title, item.year) for n, item in enumerate(catalogue)
    ]
    # Other names in brackets may be shared, and a title may be another with its year:
    # "1984, The".
    names = {normalise(i.title.removesuffix(" (La Otra)")) for i in catalogue}
    assume(len(names) == len(catalogue))
    assume(
        names.isdisjoint(normalise(i.label) for i in catalogue if i.year is not None),
    )
    assume(sum("La Otra" in i.title for i in catalogue) <= 1)
    # "- 2: the" is the second entry of a list, whatever film is called so.
    assume(not any(re.match(r"\d+\s?[.:)\]-]\s", i.title) for i in catalogue))
    # Below another title, "FALSE" says that it is rejected, whatever film is called so.
    assume({normalise(i.title) for i in catalogue}.isdisjoint(" ".join(GRADES).split()))
    # A film called "the the" beside "the" and "Never" reads like a sentence: it is left
    # unread.
    assume(
        not any(
            set(normalise(i.title).split()) <= {"the", "of", "and", "a"}
            for i in catalogue
        ),
    )
    # A number that is a candidate's number and another one's title says neither.
    assume(
        not any(
            re.fullmatch(r"[\W\d_]+", i.title.removesuffix(" (La Otra)"))
            for i in catalogue
        ),
    )
    answer = data.draw(st.permutations(catalogue))
    answer = answer[: data.draw(st.integers(1, len(answer)))]
    # A letter alone may be the mark of a choice: it is left unread.
    assume(len(answer) > 1 or len(answer[0].title) > 1)
    dated = data.draw(st.booleans())
    labels = [item.label if dated else item.title for item in answer]
    asked = Request("1", (), Scale(), tuple(catalogue), k=len(answer))
    entries = parse(styled(style, labels), asked, TitleIndex(catalogue))
    assert [entry.item for entry in entries] == [item.id for item in answer], styled(
        style,
        labels,
    )


@pytest.mark.parametrize(
    "unit",
    [
        "1. Heat\n", "[", "{", '{"title": ', "(", "((((", "**", "* ", "| a ", "<think>", "</think>", "<", "&amp;", "\x1b[", "\x1b]",
        "Heat, ", "a, ", " and ", "\"", "“a", "'", "`", "1. ", "1.", "- - ", "> ", "#", "\n", " ", "x", "Heat (1995) ", "《", "---\n", "\u3000",
        "A B ", "Film: ", "\u202e", "１", ", The", "(1995)", "[1]", "http://", "4/5 ", "[a](b) ", "Unheard Of Words\n", "1. Shawshenk Redemtion\n",
    ],
)  # fmt: skip
@pytest.mark.timeout(
    8,
)  # the longest takes half a second; one that is quadratic in spaces took 20
def test_of_a_megabyte_only_the_first_part_is_read(
    unit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layout, "MAX_CHARACTERS", layout.MAX_CHARACTERS // 25)
    assert (
        len(parse(unit * (1_000_000 // len(unit)), request(), INDEX)) <= 2 * MAX_PIECES
    )


@pytest.mark.parametrize(
    "unit",
    [
        "1. Heat\n",
        # The same cut, without the list of many pieces.
        pytest.param("{", marks=pytest.mark.slow),
        pytest.param("Film: ", marks=pytest.mark.slow),
    ],
)
def test_so_it_is_of_ten_megabytes(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    entries = parse(text, request(), INDEX)
    assert len(entries) <= 2 * MAX_PIECES


@pytest.mark.parametrize("huge", ["9" * 310, "1e999", "NaN"])
def test_a_score_that_is_no_finite_number_orders_nothing(huge: str) -> None:
    found = parse(f'{{"Alien": {huge}, "Heat": 1}}', request(), INDEX)
    assert [entry.item for entry in found] == ["alien", "heat"]


def test_a_number_in_hexadecimal_may_have_more_digits_than_python_writes() -> None:
    assert "heat" in [
        entry.item for entry in parse(f"[0x{'f' * 5000}, 'Heat']", request(), INDEX)
    ]


@pytest.mark.parametrize("odd", ["\\ud800", "\\u0000", "&#31;"])
@pytest.mark.parametrize(
    "form",
    ['["Unheard Of{odd}"]', '{{"title": "Unheard Of{odd}", "x{odd}": "{odd}"}}'],
)
def test_data_bring_back_no_control_characters(odd: str, form: str) -> None:
    (entry,) = parse(form.format(odd=odd), request(), INDEX)
    assert f"{entry.text} {entry.item}".isprintable()


def test_a_line_break_within_a_field_of_data_ends_a_row() -> None:
    rows = json.dumps({"ranking": "title,rank\rHeat,2\rAlien,1"})
    assert [entry.item for entry in parse(rows, request(), INDEX)] == ["alien", "heat"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("→ " * 400 + "|", id="arrows"),
        pytest.param("Heat" + "→" * 400 + "|", id="arrows without spaces"),
        pytest.param("- > — " * 2_000, id="bullets in quotes in bullets"),
    ],
)
@pytest.mark.timeout(5)
def test_a_line_of_marks_is_read_in_time(text: str) -> None:
    assert all(entry.item is None for entry in parse(text, request(), INDEX)[1:])


@pytest.mark.parametrize("text", ["", "<answer>", "<|channel|>analysis<|message|>Heat"])
def test_an_answer_that_was_cut_off_before_its_first_piece_names_nothing(
    text: str,
) -> None:
    assert parse(text, request(), INDEX, truncated=True) == ()

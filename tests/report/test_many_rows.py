"""Large records: what the page shows of them, and that
faster ways write the same texts.
"""

from __future__ import annotations

import contextlib
import gc
import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.records import asked, document, example, holds, row
from tests.support.gate import Document, decoded
from tests.support.report import lines_of
from tests.support.report_html import answer_of, cards, effects, render
from tests.support.safety import _COMMAND, _ESCAPE, _INVISIBLE, _LINE_BREAKS, sanitize

MODELS = ("m", "n")


def many(broken: int, kept: int) -> Any:
    """A record of two models: as many tests of each that break, and that hold."""
    made = [row(number, model=model) for model in MODELS for number in range(broken)]
    made += [
        holds(broken + number, model=model)
        for model in MODELS
        for number in range(kept)
    ]
    rows = [
        {**each, "nodeid": each["nodeid"].replace("[m-", f"[{each['model']}-")}
        for each in made
    ]
    return document(*rows, models=list(MODELS))


def articles(page: str) -> list[str]:
    return re.findall(r'<article class="[^"]*" id="(r\d+)"', page)


def test_a_page_shows_the_most_important_verdicts_and_counts_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = render(many(3, 4))
    monkeypatch.setattr(cards, "SHOWN", 9)
    page = render(many(3, 4))
    assert len(articles(whole)) == 14
    assert "Below are" not in whole
    assert articles(page) == [f"r{number}" for number in range(1, 10)]
    assert "Below are 9 of all 14 verdicts, the most important first." in page
    assert "What broke (6)" in page
    assert "Holds: the promise is kept (8)" in page
    assert "3 violated, 4 hold" in page, "the scorecard counts all"


def test_no_link_of_a_page_leads_to_a_verdict_that_it_does_not_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = many(3, 4)
    changed = [
        {
            "nodeid": each["nodeid"], "oracle": each["oracle"], "relation": each["relation"],
            "change": "regressed", "worse": 0.2, "interval": [0.1, 0.3], "margin": 0.1, "users": 60,
        }
        for each in record["results"]
        if each["model"] == "n"
    ]  # fmt: skip
    compared = {
        "model": "n",
        "against": "m",
        "refused": [],
        "counts": {},
        "results": changed,
    }
    record["gate"]["comparisons"] = [
        {**compared, "baseline": "b.json"},
        {**compared, "baseline": ""},
    ]
    monkeypatch.setattr(cards, "SHOWN", 9)
    page = render(record)
    assert set(re.findall(r'href="#(r\d+)"', page)) <= set(articles(page))


def test_a_reason_is_of_a_test_whose_id_has_a_colon() -> None:
    bad = row(0, nodeid="test_it.py::test_it[m-a: b]")
    record = document(bad)
    record["gate"]["reasons"] = [
        "violated: test_it.py::test_it[m-a: b]",
        "drift: it changed",
    ]
    assert answer_of(record, cards.cards_of(record)).further == ["drift: it changed"]


def test_intervals_drawn_together_are_those_drawn_alone() -> None:
    rows = [
        row(0, margin=0.3, floor=5.0),
        row(1, allowed="within", interval=[-0.2, 0.3]),
        holds(2, allowed="at least", floor=None),
    ]
    ends = {"interval": [-0.5, 0.9]}
    axis, together = effects.strips([*rows, holds(3, **ends)])
    for each, drawn in zip(rows, together, strict=False):
        # The last row has all ends of the axis.
        alone = effects.strips([each, holds(3, **ends, margin=0.3)])[1][0]
        assert alone == drawn
    assert axis


def written_at_once(record: Document) -> str:
    """A record as text, the plain way: all of it, and then each value in its place."""
    values: list[str] = []

    def in_one_line(value: object) -> str:
        values.append(json.dumps(value, allow_nan=False, separators=(",", ":")))
        return f"@{mark}/{len(values) - 1}@"

    def kept(each: Any) -> dict[str, object]:
        examples = [
            {**one, "asked": in_one_line(one["asked"])} if "asked" in one else one
            for one in each["examples"]
        ]
        return {**each, "examples": examples, "per_user": in_one_line(each["per_user"])}

    mark = uuid.uuid4().hex
    lines = json.dumps({**record, "results": [*map(kept, record["results"])]}, indent=1)
    return (
        re.sub(rf'"@{mark}/(\d+)@"', lambda found: values[int(found[1])], lines) + "\n"
    )


@given(
    st.lists(
        st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)),
        max_size=4,
    ),
    st.text(),
)
def test_a_record_is_the_same_row_by_row(
    per_user: list[dict[str, float]],
    text: str,
) -> None:
    sides = {"source": asked(), "followup": asked(instruction=text)}
    rows = [
        row(
            number,
            per_user=values,
            reason=text,
            examples=[example(asked=sides), example()],
        )
        for number, values in enumerate(per_user)
    ]
    record = document(*rows, data=text)
    assert "".join(lines_of(record)) == written_at_once(record)


MARKS = st.sampled_from(
    [
        "\x1b[31m",
        "\x1b]0;x\x07",
        "\x9b1m",
        "\r\n",
        "\u2028",
        "\u202e",
        "\xad",
        "\ud800",
        "::",
        "##[",
        "a::b",
        "\U000e0041",
    ],
)


@given(st.lists(st.text() | MARKS | st.characters()).map("".join))
def test_text_that_is_not_searched_had_nothing_to_find(text: str) -> None:
    searched = _INVISIBLE.sub("", _LINE_BREAKS.sub("\n", _ESCAPE.sub("", text)))
    assert sanitize(text) == _COMMAND.sub(r"\g<0> ", searched)


def test_no_character_that_is_looked_for_is_printable() -> None:
    found = [chr(code) for code in range(0x110000) if chr(code).isprintable()]
    assert not any(map(_INVISIBLE.search, found))
    assert not any(map(_LINE_BREAKS.search, found))


@pytest.mark.parametrize("text", ["{}", "{"])
def test_to_read_a_record_leaves_the_search_for_cycles_as_it_was(
    tmp_path: Path,
    text: str,
) -> None:
    path = tmp_path / "record.json"
    path.write_text(text, encoding="utf-8")
    with contextlib.suppress(ValueError):
        assert decoded(path) == {}
    assert gc.isenabled()

"""How well a text model kept to the form stands wherever the run is told."""

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_recsys_mt.requests import (
    Completion,
    Entry,
    Prompt,
    Recommendation,
    TextModel,
)
from tests.report.records import document, holds
from tests.report.test_page import Page
from tests.support.calls import Readings, Wrapped, subject
from tests.support.llm_api import OpenAIModel
from tests.support.report import (
    in_markdown,
    markdown,
    summed,
    unread_in_words,
    unread_of,
)
from tests.support.report_html import render

READ = {
    "answers": 650,
    "unreadable": 88,
    "entries": {"candidate": 3546, "history": 170, "catalogue": 200, "outside": 100, "unknown": 504,
                "duplicate": 622, "unparsed": 90},
}  # fmt: skip


class Writes:
    """A text model of one's own, which has no such parameter."""

    def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
        raise AssertionError(prompts)


class TakesSchema(Writes):
    """Another one, which can be forced to answer in a schema."""

    takes_schema = True


def read(model: str) -> Any:
    made = document(
        holds(0, against="", attempts=1, reproduce=""),
        readings={model: dict(READ)},
    )
    made["gate"] |= {"sentence": "gate: passed", "reasons": [], "comparisons": []}
    return made


def test_the_page_and_the_step_summary_tell_it() -> None:
    told = "562 of 650 name a title; of 5142 titles 622 twice, 470 not offered, 504 made up"
    assert f"answers of m: {told}" in Page(render(read("m"))).text
    assert f"\nanswers of m: {told}.\n" in markdown(read("m"))


def test_a_name_of_a_model_stays_text() -> None:
    name = "<b>x</b> [y](http://z)\x1b[31m"
    assert "<b>x" not in render(read(name))
    assert in_markdown("<b>x</b> [y](http://z)") in markdown(read(name))
    assert "\x1b" not in markdown(read(name)) + render(read(name))


def test_answers_that_could_not_be_read_are_shown_everywhere() -> None:
    unread = [{"text": "List A: <b>1</b>", "how": 'ask for "Final ranking:" before it'}]
    made = read("m")
    made["readings"]["m"] |= {"ambiguous": 7, "unread": unread}
    made["results"][0]["details"] = {
        "unreadable": {"answers": 9, "of": 20, "texts": unread, "users": {}},
    }
    told = "not read: 'List A: <b>1</b>': ask for \"Final ranking:\" before it"
    page = Page(render(made)).text
    assert "; 7 have several lists of equal claims" in page
    assert told in page
    assert "1 answer of which nothing could be read" in page
    assert unread_in_words(unread_of(made["results"][0])) == [told]
    broken: list[Any] = [None, [], {"texts": 3}, {"texts": [None, {}]}]
    for damaged in broken:
        row: Any = {"details": {"unreadable": damaged}}
        assert all(each == {"text": "", "how": ""} for each in unread_of(row))


ADVICE = "88 of 650 answers unread; with answer=offered nothing needs reading"


def test_unread_answers_of_an_endpoint_that_takes_a_schema_bring_the_advice_once() -> (
    None
):
    made = read("m")
    made["readings"]["m"] |= {"takes_json": True}
    for told in (Page(render(made)).text, markdown(made)):
        assert told.count(ADVICE) == 1
    for told in (render(read("m")), markdown(read("m"))):
        assert "answer=offered" not in told
    made["readings"]["m"] |= {"unreadable": 0}
    assert "answer=offered" not in render(made) + markdown(made)


@pytest.mark.parametrize(
    ("model", "advised"),
    [
        (OpenAIModel("tiny"), True),
        (OpenAIModel("tiny", answer="json"), False),
        (Writes(), False),
        (TakesSchema(), False),
    ],
)
def test_only_a_model_with_that_parameter_is_advised(
    model: TextModel,
    advised: bool,
) -> None:
    asked = subject(model, "m", "person")
    readings = Readings()
    for takes_json in (asked.takes_json, Wrapped(asked).takes_json):
        unread, listed = (
            Recommendation((), (Entry("No.", "unparsed"),), "No."),
            Recommendation(("a",), (Entry("A", "candidate", "a"),), "A"),
        )
        readings.note("m", "1", unread, takes_json=takes_json)
        readings.note("m", "2", listed, takes_json=takes_json)
        found = summed(readings.drain()["m"].values())
        assert found.get("takes_json", False) == advised
        assert (found["unreadable"], found["answers"]) == (1, 2)


def test_records_of_before_do_not_say() -> None:
    assert "name a title" not in render(document(holds(0)))

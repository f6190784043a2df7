"""How well a text model kept to the form stands wherever the run is told."""

from typing import Any

from pytest_recsys_mt.report.html import render
from pytest_recsys_mt.report.judged import unread_in_words, unread_of
from pytest_recsys_mt.report.markdown import in_markdown
from pytest_recsys_mt.report.step_summary import markdown
from tests.report.records import document, holds
from tests.report.test_page import Page

READ = {
    "answers": 650,
    "unreadable": 88,
    "entries": {"candidate": 3546, "history": 170, "catalogue": 200, "outside": 100, "unknown": 504,
                "duplicate": 622, "unparsed": 90},
}  # fmt: skip


def read(model: str) -> Any:
    made = document(holds(0, against="", attempts=1, reproduce=""), readings={model: READ})
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
        "unreadable": {"answers": 9, "of": 20, "texts": unread, "users": {}}
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


def test_records_of_before_do_not_say() -> None:
    assert "name a title" not in render(document(holds(0)))

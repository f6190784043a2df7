"""How well a text model kept to the form stands wherever the run is told."""

from typing import Any

from pytest_recsys_mt.report.html import render
from pytest_recsys_mt.report.step_summary import cell, markdown
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
    assert cell("<b>x</b> [y](http://z)") in markdown(read(name))
    assert "\x1b" not in markdown(read(name)) + render(read(name))


def test_records_of_before_do_not_say() -> None:
    assert "name a title" not in render(document(holds(0)))

"""Every word of a report that is not plain English is
explained, in the words of the code's docstrings.
"""

import json
import re
from pathlib import Path

import pytest

from pytest_recsys_mt import oracles
from pytest_recsys_mt.oracles import AGGREGATES
from tests.laws import over
from tests.report.records import document, holds, row, task
from tests.support.oracles_scores import METRICS, SCORES, SCORES_AT
from tests.support.oracles_similarities import SIMILARITIES
from tests.support.report import TERMS, entries_of, entry_of, measure_of, names_of
from tests.support.report_html import render

MEASURES = sorted({*SCORES, *SCORES_AT, *METRICS, *AGGREGATES, *SIMILARITIES})


@over("name", MEASURES)
def test_every_measure_has_an_entry_of_its_own_words(name: str) -> None:
    entry = entry_of(f"{name}@5")
    assert entry is not None
    assert entry.name == name
    assert len(entry.text.split()) >= 3, entry.text
    assert (
        entry.text[0] == entry.text[0].upper()
        or not entry.text[0].isalpha()
        or not entry.own
    )
    assert "`" not in entry.title + entry.text


def test_entries_are_the_docstrings() -> None:
    assert entry_of("dpd") is not None
    dpd = entry_of("dpd@5")
    assert dpd is not None
    assert dpd.title == "Demographic parity difference (DPD)"
    assert dpd.text.startswith(
        "Are active and inactive users served equally well? |mean of active",
    )
    ndcg = entry_of("ndcg@10")
    assert ndcg is not None
    assert "(nDCG)" in ndcg.title
    assert entry_of("harmless") is None


@pytest.mark.parametrize(
    "word",
    [
        "floor",
        "holm",
        "alpha",
        "margin",
        "betting",
        "approximate",
        "inconclusive",
        "interval",
        "bh",
    ],
)
def test_the_words_of_statistics_are_explained(word: str) -> None:
    assert word in TERMS
    assert len(TERMS[word].text) > 40


def test_a_row_is_explained_by_its_metric_else_by_what_its_oracle_compares() -> None:
    assert names_of(task("hit@5", 0.2)) == ["hit@5", "at_least"]
    assert names_of(row()) == ["rbo", "same_ranking"]
    found = measure_of(holds(oracle="same_score:ndcg@5"))
    assert found is not None
    assert found.name == "ndcg"
    own = holds(oracle="mine:taste", metric="taste", value=1.0, threshold=0.5)
    assert measure_of(own) is None, "a user's own measure has no docstring here"


def test_the_page_explains_what_it_uses_and_no_more() -> None:
    text = render(document(row(), task("dpd@5", 0.1)))
    assert 'id="term-dpd"' in text
    assert 'id="term-rbo"' in text
    assert 'id="term-popreo"' not in text
    linked = set(re.findall(r'href="#(term-[^"]+)"', text))
    assert {"term-dpd", "term-rbo", "term-holm", "term-alpha"} <= linked
    assert linked <= set(re.findall(r'id="(term-[^"]+)"', text))


SUITES = Path(__file__).parents[2] / "suites"


def test_every_metric_of_a_record_of_all_suites_has_an_entry() -> None:
    """The metrics of all tests of the suites, by the words in
    their code that name measures or oracles.
    """
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in SUITES.rglob("test_*.py")
    )
    thresholds = "\n".join(
        path.read_text(encoding="utf-8") for path in SUITES.rglob("*.toml")
    )
    used = set(re.findall(r"\b(?:at_least|at_most|within)\([^)]*?\"([\w@]+)\"", code))
    used |= set(re.findall(r"^\"?(\w+@\d+)\"? *=", thresholds, re.MULTILINE))
    judged = [name for name in oracles.__all__ if re.search(rf"\b{name}\(", code)]
    assert len(used) > 3, "the suites are read"
    assert len(judged) > 15
    assert [name for name in {*used, *judged} if entry_of(name) is None] == []


def test_every_metric_of_a_default_run_has_an_entry(default_record: Path) -> None:
    rows = json.loads(default_record.read_text())["results"]
    judged = [each for each in rows if each["oracle"]]
    assert len(judged) > 40
    assert [each["nodeid"] for each in judged if measure_of(each) is None] == []
    entries = {entry.name for entry in entries_of(judged)}
    assert {
        "dpd",
        "oic",
        "popreo",
        "aplt",
        "jain",
        "ndcg",
        "mrr",
        "hit",
        "rbo",
        "kendall",
    } <= entries

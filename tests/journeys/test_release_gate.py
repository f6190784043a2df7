"""A release held against its own record: the same, a
better one, a worse one, a noisy one.
"""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.journeys.pages import Journey, rows_of, says
from tests.support.gate import Store, decoded

KEPT = (
    "shuffle_candidates", "extend_list(5)", "add_irrelevant_candidates(5)", "reorder_history",
    "duplicate_history", "rename_user", "scale_ratings(2)", "shift_ratings(1)",
)  # fmt: skip


def changes(record: dict[str, Any]) -> dict[str, set[str]]:
    """The tests of the one comparison, without their models, by what became of them."""
    (comparison,) = record["gate"]["comparisons"]
    assert (comparison["against"], comparison["refused"]) == ("shop.py:Shop", [])
    found: dict[str, set[str]] = {}
    for each in comparison["results"]:
        found.setdefault(each["change"], set()).add(each["relation"] or each["nodeid"])
    return found


@pytest.mark.slow
def test_release_gate(journey: Journey) -> None:
    journey.follow("release-gate")
    baseline, same, better, worse, noisy = (
        decoded(kept.record) for kept in Store.of(journey.folder).runs()
    )
    assert baseline["gate"]["status"] == "passed"
    assert set(changes(same)) == {"unchanged", "ungated"}
    assert (same["gate"]["status"], better["gate"]["status"]) == ("passed", "passed")
    assert not {"regressed", "suspicious", "inconclusive"} & set(changes(better))
    assert "improved" in changes(better)

    assert {"scale_ratings(2)", "shift_ratings(1)"} <= changes(worse)["regressed"]
    assert {row["relation"] for row in rows_of(worse, status="violated")} == {
        "scale_ratings(0.5)", "scale_ratings(2)", "shift_ratings(1)",
    }  # fmt: skip
    sentence = worse["gate"]["sentence"]
    assert sentence.startswith("gate: failed; ")
    for word in ("violated", "regressed", "scale_ratings(2)", "shift_ratings(1)"):
        assert word in sentence
    assert_same_sentence_everywhere(journey.folder, sentence, journey.printed)

    for relation in KEPT:
        assert {row["status"] for row in rows_of(noisy, relation=relation)} <= {
            "holds", "inconclusive", "not-applicable",
        }, relation  # fmt: skip
        assert relation not in changes(noisy)["regressed"]
    assert noisy["gate"]["status"] == "failed"
    assert "regressed" in noisy["gate"]["sentence"]
    assert "improved" not in changes(noisy)


def assert_same_sentence_everywhere(
    folder: Path,
    sentence: str,
    printed: list[str],
) -> None:
    """In the terminal, the JUnit file, the step summary and the HTML report."""
    assert any(says(text, sentence) for text in printed)
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    (gate,) = (case for case in cases if case.get("classname") == "recsys_mt")
    failure = gate.find("failure")
    assert failure is not None
    assert failure.get("message") == sentence
    for name in ("summary.md", "report.html"):
        assert says((folder / name).read_text(encoding="utf-8"), sentence), name

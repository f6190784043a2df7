"""The page of a GitHub job begins what it says of a test
with a sentence, the most important first.
"""

from typing import Any

from tests.report.records import document, holds, row
from tests.support.report import in_markdown, markdown

MORE: dict[str, Any] = {"against": "", "attempts": 1, "reproduce": ""}


def test_what_is_said_of_a_test_begins_with_its_sentence() -> None:
    unclear = holds(
        0,
        status="inconclusive",
        interval=[-0.02, 0.12],
        outcome="failed",
        **MORE,
    )
    bad, worse = row(1, **MORE), holds(2, **MORE)
    made = document(unclear, bad, worse, readings={})
    made["gate"] |= {
        "sentence": "gate: failed", "comparisons": [],
        "reasons": [f"inconclusive: {unclear['nodeid']}", f"violated: {bad['nodeid']}",
                    f"regressed: {worse['nodeid']}", "the run is partial: 2 of 20"],
    }  # fmt: skip
    bullets = [line for line in markdown(made).splitlines() if line.startswith("* ")]
    assert [line.partition(":")[0] for line in bullets] == [
        "* shuffle(2) holds",
        "* the run is partial",
        "* **violated** shuffle(1) is violated",
        "* inconclusive shuffle(0) is inconclusive",
    ]
    assert bullets[0].endswith(f"({in_markdown('regressed: ' + worse['nodeid'])})")
    assert bullets[2].endswith(
        f"({in_markdown('metamorphic, order_is_irrelevant, same_ranking:rbo')})",
    )
    assert not any("::" in line for line in bullets[2:]), (
        "said once, and without its id"
    )

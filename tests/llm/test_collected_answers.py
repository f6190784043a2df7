"""Answers in the styles real models write, collected in
`answers/`, are read as a person would.
"""

from __future__ import annotations

from typing import Any

from tests.laws import over
from tests.llm.world import (
    CANDIDATES,
    HISTORY,
    INDEX,
    collected,
    expected,
    request,
    shorthand,
)
from tests.support.llm_reading import parse

CASES = collected()


@over("case", CASES, ids=lambda case: case["name"])
def test_answer_is_read_as_a_person_would(case: dict[str, Any]) -> None:
    asked = request(case.get("candidates", CANDIDATES), case.get("history", HISTORY))
    entries = parse(case["text"], asked, INDEX, truncated=case.get("truncated", False))
    assert [shorthand(entry) for entry in entries] == expected(case)

"""Marks of significance in a paper's table, from the values by user of its rows."""

from typing import Any

import pytest

from tests.support.report_paper_tables import filled, tables_of

USERS = [f"u{number}" for number in range(40)]


def row(model: str, group: str, hits: int, *, parameters: str = "") -> dict[str, Any]:
    """A row of Table 3 of a model that finds the item of its first users."""
    by_user = {user: float(place < hits) for place, user in enumerate(USERS)}
    test = "test_table_3_by_prompt" if parameters else "test_table_3"
    return {
        "nodeid": f"test_paper.py::{test}[{model}{parameters}]",
        "model": model,
        "metric": "ndcg@5",
        "oracle": "at_least:ndcg@5",
        "relation": "",
        "status": "holds",
        "value": hits / 40,
        "users": 40,
        "details": {
            "means": {"hit@5": hits / 40, "ndcg@5": hits / 40},
            "group": group,
            "by_user": {"hit@5": by_user, "ndcg@5": by_user},
        },
    }


def hits_of(*rows: Any) -> tuple[dict[str, str], str]:
    """The first column of Table 3 by line, and the note on its marks."""
    (table,) = (
        each for each in tables_of("multidimensional") if each.name == "table-3"
    )
    found = filled(table, rows)
    return {name: cells[0] for name, cells in found.lines.items()}, found.marks.notes[0]


def test_the_best_line_is_marked_if_it_is_significantly_above_the_other_group() -> None:
    cells, note = hits_of(
        row("gpt", "language models", 30),
        row("llama", "language models", 10),
        row("ease", "traditional models", 20),
        row("random", "traditional models", 2),
    )
    assert cells == {
        "gpt": "0.750**",
        "llama": "0.250",
        "ease": "0.500",
        "random": "0.050",
    }
    assert note == "HR@5 of gpt against that of ease: p=0.002 over 40 users, so **."


def test_it_is_compared_with_the_highest_value_not_with_any() -> None:
    cells, note = hits_of(
        row("gpt", "language models", 10),
        row("gpt", "language models", 22, parameters="-LLMRank"),
        row("ease", "traditional models", 20),
        row("random", "traditional models", 2),
    )
    assert cells["LLMRank (gpt)"] == "0.550"
    assert note.startswith("HR@5 of LLMRank (gpt) against that of ease: p=")
    assert note.endswith(" over 40 users, so not **.")


@pytest.mark.parametrize("group", ["language models", "traditional models"])
def test_one_group_alone_has_no_mark_and_the_note_says_why(group: str) -> None:
    cells, note = hits_of(row("one", group, 30), row("two", group, 1))
    assert cells == {"one": "0.750", "two": "0.025"}
    assert f"values by user of {group} alone" in note

"""What a plan says of the tables of papers that a run fills."""

from tests.support.engine import Count
from tests.support.report import PlannedTest, papers_of

SKIPPED = "needs a text model, and ease reads no text"


def planned(
    function: str, model: str, skipped: str = "", case: str = ""
) -> PlannedTest:
    nodeid = f"test_paper.py::{function}[{model}{case}]"
    return PlannedTest(nodeid, "multidimensional", model, (), skipped)


def test_each_table_has_its_lines_and_calls_and_why_others_stay_empty() -> None:
    tests = [
        planned("test_table_3", "gpt"),
        planned("test_table_3", "ease"),
        planned("test_table_3_by_prompt", "gpt", case="-LLMRank"),
        planned("test_table_3_by_prompt", "ease", SKIPPED, "-LLMRank"),
    ]
    counts = {(test.nodeid, test.model): Count(calls=100) for test in tests}
    ((suite, texts),) = papers_of(tests, counts)
    assert suite == "multidimensional"
    assert "table-2: 2 of 2 lines; 200 calls" in texts
    at = texts.index("table-3: 3 of 8 lines; 300 calls")
    missing, refused, unselected = texts[at + 1 : at + 4]
    assert missing.startswith(
        "    empty: gpt P-only; ease P-only: not asked for; pytest "
    )
    assert "test_generation -k table_3" in missing
    assert unselected == f"    empty: LLMRank (ease): {SKIPPED}"
    assert refused.startswith(
        "    empty: LLMSRec (gpt); LLMSRec (ease): not asked for; "
    )
    assert texts[texts.index("figure-3: 0 of 2 lines") + 1].startswith(
        "    empty: all: "
    )


def test_tests_that_fill_no_table_and_suites_without_one_say_nothing() -> None:
    assert list(papers_of([planned("test_ranking", "gpt")], {})) == []
    other = PlannedTest("test_it.py::test_table_3[gpt]", "my_tests", "gpt")
    assert list(papers_of([other], {})) == []

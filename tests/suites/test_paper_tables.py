"""The paper's own protocol of a suite fills every line and column of its tables."""

from pathlib import Path

import pytest

from tests.suites import readers
from tests.support.gate import record_in
from tests.support.report import NONE
from tests.support.report_paper_tables import filled, tables_of

SUITES = Path(__file__).resolve().parents[2] / "suites"


@pytest.mark.parametrize(
    ("suite", "undefined"),
    [
        ("metamorphic", set()),
        ("popularity", {"rank correlation"}),
        ("multidimensional", set()),
    ],
    ids=["metamorphic", "popularity", "multidimensional"],
)
@pytest.mark.slow
def test_a_text_model_fills_all_cells(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    suite: str,
    undefined: set[str],
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    others = [SUITES / suite / "test_generation.py"] * (suite == "multidimensional")
    pytester.runpytest_subprocess(
        SUITES / suite / "test_paper.py", *others, f"--recsys-model={readers.__name__}:Arbitrary", "--recsys-users=6",
        "--recsys-json=record.json", f"--recsys-cache={pytester.path / 'cache'}", "-p", "no:cacheprovider", "-q",
    )  # fmt: skip
    rows = record_in(Path("record.json"))["results"]
    for table in tables_of(suite):
        found = filled(table, rows)
        assert found is not None, table.name
        assert len(found.lines) == len(table.rows), table.name
        for cells in found.lines.values():
            empty = {
                column.name
                for column, cell in zip(table.columns, cells, strict=True)
                if cell == NONE
            }
            assert empty <= undefined, table.name

"""Node ids are read in one place, whatever their parameters hold."""

import pytest

from tests.gate.conftest import Run
from tests.support.gate import (
    NodeId,
    address,
    facts_of,
    function_of,
    name_of_row,
    parts_of,
)
from tests.support.report import record_at


@pytest.mark.parametrize(
    ("nodeid", "parts"),
    [
        ("a/test_b.py::test_c", NodeId("a/test_b.py", ("test_c",), "")),
        (
            "a/test_b.py::TestC::test_d[m-x]",
            NodeId("a/test_b.py", ("TestC", "test_d"), "m-x"),
        ),
        ("::test_table_2[m-wok]", NodeId("", ("test_table_2",), "m-wok")),
        ("t.py::test_c[a::b[1]-m]", NodeId("t.py", ("test_c",), "a::b[1]-m")),
        ("odd[1]/t.py::test_c[x]", NodeId("odd[1]/t.py", ("test_c",), "x")),
        ("t.py", NodeId("t.py", (), "")),
    ],
)
def test_the_parts_of_a_node_id(nodeid: str, parts: NodeId) -> None:
    assert parts_of(nodeid) == parts
    assert function_of(nodeid) == "::".join([parts.file, *parts.names])


def test_what_is_made_of_a_node_id() -> None:
    row = {"nodeid": "::test_two[m-a::b]", "model": "m", "relation": ""}
    assert facts_of(row)["test"] == "test_two"
    assert address(row) == "::test_two[a::b]"  # type: ignore[arg-type]
    assert name_of_row(row) == "two a::b"  # type: ignore[arg-type]


def test_a_file_outside_the_root_folder_is_known_by_its_tests(
    run: Run,
    project: pytest.Pytester,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Found as a module, its tests have no file in their ids:
    rules and reports find them all the same.
    """
    outside = tmp_path_factory.mktemp("outside")
    (outside / "elsewhere.py").write_text(
        (project.path / "release" / "test_toys.py").read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(outside)
    (project.path / "recsys.toml").write_text(
        '[[gate.rules]]\ntest = "test_*"\ngates = false\nreason = "only looked at"\n',
        encoding="utf-8",
    )
    _, record = run("--pyargs", "elsewhere", "--rootdir=.")
    assert record["results"]
    assert all(row["nodeid"].startswith("::test_") for row in record["results"])
    assert len(record["gate"]["ungated"]) == len(record["results"])
    kept = record_at(project.path / "now.json")
    assert [row["nodeid"] for row in kept["results"]] == [
        row["nodeid"] for row in record["results"]
    ]

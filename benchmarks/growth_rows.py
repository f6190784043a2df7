"""What is done with a record, for `benchmarks.growth`: one work on one file, and the
seconds it took.

    python -m benchmarks.growth_rows WORK RECORD

Prints seconds of the processor, without those of reading the file (but for the work
that is just that).
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

from benchmarks import tables
from pytest_recsys_mt.gate.baseline import digest_of, read
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import addresses
from pytest_recsys_mt.report.html import read_record, write_report
from pytest_recsys_mt.report.junit import _case_of, annotate
from pytest_recsys_mt.report.rows import lines_of
from pytest_recsys_mt.report.step_summary import markdown
from pytest_recsys_mt.safety.files import written_whole

MODELS = 10


def multiply(base: Path, path: Path, rows: int) -> None:
    """Write the record `base` with so many rows: of ten
    recommenders, and copies of its tests.
    """
    document = json.loads(base.read_text(encoding="utf-8"))
    given: list[dict[str, Any]] = document["results"]
    (own,) = document["models"]
    models = [own, *(f"{own}_{place}" for place in range(1, MODELS))]
    results = []
    for place in range(rows):
        copy, rest = divmod(place, MODELS * len(given))
        number, which = divmod(rest, len(given))
        row, model = given[which], models[number]
        nodeid = row["nodeid"].replace(own, model).replace("::", f"_{copy}::", 1)
        results.append({**row, "nodeid": nodeid, "model": model})
    found = {row["model"] for row in results}
    document |= {
        "results": results,
        "models": [model for model in models if model in found],
    }
    document["digests"]["suite"] = digest_of(addresses(cast("Sequence[Row]", results)))
    document["gate"] |= {"incomplete": [], "comparisons": []}
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(lines_of(cast("Document", document)))


def _write(document: Document, path: Path) -> object:
    with written_whole(path.with_suffix(".written")) as stream:
        stream.writelines(lines_of(document))
    return None


def _gate(document: Document, path: Path) -> object:
    return Gate(configured=True, baseline=(str(path), document)).decide(
        document, [], {}
    )


def _junit(document: Document, path: Path) -> object:
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name="pytest")
    for nodeid in dict.fromkeys(row["nodeid"] for row in document["results"]):
        classname, name = _case_of(nodeid, "")
        ElementTree.SubElement(suite, "testcase", classname=classname, name=name)
    made = path.with_suffix(".xml")
    ElementTree.ElementTree(root).write(made)
    config: Any = SimpleNamespace(
        getoption=lambda *_: None,
        getini=lambda _: "xunit2",
    )  # what `annotate` reads of pytest
    return lambda: annotate(made, document, config, gate=True)


WORKS: Mapping[str, Callable[[Document, Path], object]] = {
    "read as a baseline": lambda _, path: read(path),
    "gate against itself": _gate,
    "write": _write,
    "HTML": lambda document, path: write_report(document, path.with_suffix(".html")),
    "JUnit": _junit,
    "Markdown": lambda document, _: markdown(document),
}
"""From a record and its path; what returns a function has
prepared that one, which is then measured.
"""


def bytes_a_row(paths: Sequence[Path]) -> Iterator[str]:
    """The sizes of records and of their pages, as a table."""
    lines = []
    for path in paths:
        rows = len(_rows(path))
        sizes = [
            each.stat().st_size
            for each in (path, path.with_suffix(".html"))
            if each.exists()
        ]
        lines.append(
            (
                f"{rows:,}",
                *(f"{size / 1e6:.1f}" for size in sizes),
                *(f"{size / rows:,.0f}" for size in sizes),
            ),
        )
    head = ("rows", "JSON, MB", "HTML, MB", "JSON, bytes a row", "HTML, bytes a row")
    yield from tables.table(head, lines)


def _rows(path: Path) -> Sequence[Row]:
    return cast("Document", read_record(path))["results"]


def main(work: str, path: Path) -> None:
    """Do one work."""
    document = cast("Document", {} if work.startswith("read") else read_record(path))
    start = time.process_time()
    done = WORKS[work](document, path)
    if callable(done):
        start = time.process_time()
        done()
    print(time.process_time() - start)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

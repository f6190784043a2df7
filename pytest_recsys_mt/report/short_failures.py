"""Keeps the output of several failures short: one example in full for each oracle of a
file, the others in a line.

Three relations that fail for one cause would otherwise print three times the same.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.report.evidence import evidence, size_of_smallest
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.verdict import Verdict

_PACKAGE = Path(__file__).parents[1]
_BEGINNING = 50  # characters of a verdict that pytest shows of a long one


class Printed(NamedTuple):
    """The first failure of its kind: the name of its relation, and its test."""

    name: str
    nodeid: str


Shown = MutableMapping[tuple[str, str], Printed]
"""The evidence that this process has printed, by file and oracle, then smallest
example.
"""

SHOWN: pytest.StashKey[Shown] = pytest.StashKey()


def short_traceback(
    excinfo: pytest.ExceptionInfo[BaseException],
    item: pytest.Item,
    verdicts: Sequence[Verdict],
) -> Any:
    """The assertion of a verdict that failed, in three lines; None for any other
    failure.

    The sentence of the verdict stands below it, so the values that pytest shows would
    say it twice more. Another style of traceback (``--tb``) shows all of
    it.
    """
    message = str(excinfo.value)
    failed = next(
        (v for v in verdicts if message.startswith(f"assert {v!r}"[:_BEGINNING])),
        None,
    )
    if failed is None or item.config.getoption("tbstyle", "auto") != "auto":
        return None
    found: Any = excinfo.getrepr(
        style="short",
        chain=False,
        tbfilter=lambda info: info.traceback.cut(path=item.path),
    )
    message = f"{one_line(failed.relation or failed.oracle)} is {failed.status}"
    shown = item.config.stash.get(SHOWN, {})
    kind = f"{item.nodeid.partition('::')[0]} {failed.oracle}"
    again = any(each == kind for each, _ in shown)
    for entry in found.reprtraceback.reprentries:
        code = [line for line in entry.lines if not line.startswith("E")]
        entry.lines = code if again else [*code, f"E   assert {message}"]
    found.reprcrash.message = f"assert {message}"
    return found


def without_our_lines(excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """The report of an error of this package: the lines of tests and fixtures that led
    to it, and its text, which says how to fix it.
    """
    if not any(map(_is_of_user, excinfo.traceback)):
        return excinfo.getrepr(style="value", chain=False)
    return excinfo.getrepr(
        style="short",
        chain=False,
        tbfilter=lambda info: info.traceback.filter(_is_of_user),
    )


def _is_of_user(entry: Any) -> bool:
    path = Path(entry.path)
    if path.is_relative_to(_PACKAGE):
        return path.is_relative_to(_PACKAGE / "suites")
    return not {"_pytest", "pluggy"} & set(path.parts)


def smallest_of(row: Row) -> str:
    """The key of a smallest example; empty if a row has none."""
    shrunk = row.get("shrunk")
    if shrunk is None:
        return ""
    source: Mapping[str, Any] = shrunk["source"]
    history = [(each["title"], each["rating"]) for each in source["history"]]
    offered = (
        None
        if source["candidates"] is None
        else [x["title"] for x in source["candidates"]]
    )
    return repr((shrunk["user"], history, offered, source["k"]))


def is_first_of_its_kind(row: Row, shown: Shown) -> bool:
    """Whether nothing of the file of a row's test was printed yet under its oracle."""
    return not any(kind == _kind_of(row) for kind, _ in shown)


def _kind_of(row: Row) -> str:
    return f"{row['nodeid'].partition('::')[0]} {row['oracle']}"


def forget(shown: Shown, nodeid: str) -> None:
    """Forget an earlier attempt of a test: pytest prints its last attempt only."""
    for key in [key for key, printed in shown.items() if printed.nodeid == nodeid]:
        del shown[key]


def evidence_once(row: Row, where: str, shown: Shown) -> list[str]:
    """The evidence of a row in full if it is the first of its
    kind, else a line that says where more is.
    """
    kind = _kind_of(row)
    printed = Printed(row["relation"] or row["oracle"], row["nodeid"])
    small = smallest_of(row)
    twin = shown.get((kind, small)) if small else None
    first = is_first_of_its_kind(row, shown)
    shown.setdefault((kind, small), printed)
    if first:
        return evidence(row, where)
    if twin is not None:
        return [
            f"smallest example: that of {one_line(twin.name)} above; to run this test alone:",
        ]
    shrunk = row.get("shrunk")
    if shrunk is None:
        if not row["examples"]:
            return ["to run this test again:"]
        users = f"{len(row['examples'])} users"
        return [
            f"to see {users} in full ({where or '--recsys-html=report.html'} has all):",
        ]
    return [f"{size_of_smallest(shrunk)}; in full:"]

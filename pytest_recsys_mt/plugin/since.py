"""The changes of each test since it last ran, in lines for the terminal."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.gate.nodeids import name_of_row
from pytest_recsys_mt.gate.states import UNSETTLED, grouped, state_of, state_of_test
from pytest_recsys_mt.report.evidence import example_of
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    from pytest_recsys_mt.gate.states import State
    from pytest_recsys_mt.gate.store import Was

MOST = 8
"""Most tests of one kind, and most lines of a changed example,
that are printed; of more only their number.
"""

KINDS = ("FIXED", "SETTLED", "SKIPPED", "STILL", "NEW")
"""The kinds of changes, in the order in which they are printed."""

_WIDTH = 79
_INDENT = "      "


class _Change(NamedTuple):
    """The change of one test: a sentence, and the lines of its example that differ."""

    sentence: str
    details: Sequence[str] = ()


class EarlierRuns(Protocol):
    """The kept runs; see `pytest_recsys_mt.plugin.earlier.Earlier`."""

    @property
    def known(self) -> Mapping[str, Was]:
        """The earlier state of each test, by its id."""
        ...

    @property
    def replayed(self) -> Mapping[str, str]:
        """By a test's id, how its smallest example of an earlier run is answered now."""
        ...

    def rows(self, nodeid: str, /) -> Sequence[Row]:
        """The rows of a test in the record of its last run, if it was not settled."""
        ...


def since(earlier: EarlierRuns, rows: Sequence[Row], digest: str) -> Iterator[str]:
    """The changes of tests since they last ran.

    Args:
        earlier: The kept runs.
        rows: The rows of this run's record.
        digest: The digest of this run's data.

    Yields:
        Lines for the terminal; none if every test was settled and is.
    """
    rows_by_test = grouped(rows, lambda row: row["nodeid"])
    names = Counter(
        _model_and_name(rows_of_test[0]) for rows_of_test in rows_by_test.values()
    )
    changes: dict[str, list[_Change]] = {kind: [] for kind in KINDS}
    for nodeid, rows_of_test in rows_by_test.items():
        was = earlier.known.get(nodeid)
        now = state_of_test(rows_of_test)
        if was is None:
            continue
        if now not in UNSETTLED and was.state not in UNSETTLED:
            continue
        row = _row_in_state(rows_of_test, now)
        is_ambiguous = names[_model_and_name(row)] > 1
        sentence = _sentence(row, was, now, digest, with_id=is_ambiguous)
        kind = _kind(was.state, now)
        if kind == "FIXED":
            sentence += _maybe_unchanged(earlier, nodeid, row, len(rows_by_test))
        details = _details(earlier, nodeid, row) if kind == "STILL" else ()
        changes[kind].append(_Change(sentence, details))
    for nodeid in sorted(earlier.replayed.keys() - rows_by_test.keys()):
        was = earlier.known[nodeid]
        sentence = f"{nodeid}: {was.state} in run {was.run}, not judged now"
        changes["STILL"].append(_Change(sentence, [earlier.replayed[nodeid]]))
    for kind in KINDS:
        yield from _lines(kind, changes[kind])


def _model_and_name(row: Row) -> tuple[str, str]:
    return row["model"], name_of_row(row)


def _row_in_state(rows: Iterable[Row], state: State) -> Row:
    return next(row for row in rows if state_of(row) == state)


def _sentence(row: Row, was: Was, now: State, digest: str, *, with_id: bool) -> str:
    model, name = _model_and_name(row)
    where = f" ({row['nodeid']})" if with_id else ""
    sentence = f"{name} of {model}{where}: {was.state} in run {was.run}, {now} now"
    if digest and was.digest not in ("", digest):
        sentence += "; the data are others now"
    return sentence


def _maybe_unchanged(
    earlier: EarlierRuns,
    nodeid: str,
    row: Row,
    tests: int,
) -> str:
    """The end of a sentence on a test that passes now, where it ran alone and did not
    before: a fault in what is kept between requests seems to be fixed then.

    Args:
        earlier: The kept runs.
        nodeid: The test.
        row: Its row in this run.
        tests: How many tests this run judged.
    """
    run = earlier.known[nodeid].run
    tests_before = sum(each.run == run for each in earlier.known.values())
    if tests > 1 or tests_before == 1:
        return ""
    fingerprints = {each.get("fingerprint") for each in earlier.rows(nodeid)}
    if fingerprints and row["fingerprint"] not in fingerprints:
        return ""
    return (
        f"; it ran alone now, and with {tests_before - 1} other tests then: if nothing was changed, the answers depend on "
        f"what was asked before"
    )


def _kind(before: str, now: State) -> str:
    """Which of `KINDS` a change is; one of both states is not settled."""
    if now == "not-applicable":
        return "SKIPPED"
    if now not in UNSETTLED:
        return "SETTLED" if before == "inconclusive" else "FIXED"
    return "STILL" if before in UNSETTLED else "NEW"


def _details(earlier: EarlierRuns, nodeid: str, row: Row) -> Sequence[str]:
    """How the example of a test differs from the earlier one,
    else how the earlier one is answered now.
    """
    differing: Sequence[str] = ()
    with suppress(
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
    ):  # the record may be damaged
        differing = _differing_lines(earlier.rows(nodeid), row)
    if not differing and nodeid in earlier.replayed:
        return [earlier.replayed[nodeid]]
    return differing


def _differing_lines(earlier_rows: Sequence[Row], row: Row) -> list[str]:
    """The lines of a row's example that differ from the first
    comparable example of `earlier_rows`.
    """
    for earlier_row in earlier_rows:
        before = example_of(earlier_row)
        now = example_of(row)
        if _subject(earlier_row) != _subject(row) or not before or not now:
            continue
        diff = list(difflib.unified_diff(before, now, n=0, lineterm=""))
        without_header = diff[2:]  # of the names of both files
        differing = [line for line in without_header if line[0] in "-+"]
        if not differing:
            return ["the same example shows it"]
        shown = differing[:MOST]
        if len(differing) > MOST:
            shown.append(f"… {len(differing) - MOST} more")
        return shown
    return []


def _subject(row: Row) -> tuple[str, str, bool]:
    """The facts that two rows must share for their examples to be comparable."""
    return row["oracle"], row["relation"], row["shrunk"] is not None


def _lines(kind: str, changes: Sequence[_Change]) -> Iterator[str]:
    for change in changes[:MOST]:
        yield from wrap(
            f"{kind:5} {one_line(change.sentence)}",
            _WIDTH,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for detail in change.details:
            yield f"{_INDENT}{detail}"
    if len(changes) > MOST:
        yield f"{kind:5} {len(changes) - MOST} more"

"""The command `recsys-mt paper`."""

import re
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import shorten
from typing import Any

from pytest_recsys_mt.errors import DataError
from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.nodeids import own_parameters, parts_of
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.report.outputs import record_at, require_output, told_as_data
from pytest_recsys_mt.report.paper_tables import arena
from pytest_recsys_mt.report.paper_tables.declared import Selected, Table, tables_of
from pytest_recsys_mt.report.sheets import NONE, WRITERS, Sheet, write_sheets
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import one_line

Values = list[tuple[float, float | None]]
"""The values of a cell and their own spreads, one for each value of the detail that the table averages over."""


UNTOLD = "the records have no such figure: its test was left out, it is undefined, or too many answers are unread"
ELSEWHERE = "needs data in the format of"


@dataclass(frozen=True)
class Filled:
    """A table with the values of a run: a cell for each column, by the names of the lines."""

    table: Table
    values: Mapping[str, Sequence[Values]]
    users: Mapping[str, Collection[int]]  # of the cells of a line
    unread: Mapping[str, Collection[int]]  # of these, those with an answer that could not be read
    lacking: Mapping[str, Mapping[str, Sequence[str]]]  # lines, by the reason and the column
    missing: Collection[str] = ()  # why lines without any cell are missing

    @property
    def lines(self) -> dict[str, list[str]]:
        """The cells as texts."""
        columns = self.table.columns
        return {
            name: [
                _cell(found, self.table, column)
                for found, column in zip(cells, columns, strict=True)
            ]
            for name, cells in self.values.items()
        }


def write_tables(suite: str, records: Sequence[Path], output: Path | None, name: str) -> None:
    """Write a paper's tables with the values of some records.

    Raises:
        DataError: If a record cannot be read, none fills a table, or the file cannot be written.
    """
    require_output(output, WRITERS, records)
    documents = [(str(path), record_at(path)) for path in records]
    with told_as_data("these are not records as --recsys-json writes them"):
        data = one_line(str(documents[0][1]["data"]))
        settings: Any = options_of(documents[0][1]).get("-o recsys_question_setting")
        data += f" with {one_line(', '.join(settings))}" if settings else ""
        # Figures of an arena are no choice of rows; they are found by their titles, which begin with a name.
        wanted = name.replace("-", " ").capitalize() if suite == "arena" else ""
        found = list(
            _arena(documents, data) if suite == "arena" else _declared(documents, suite, name, data)
        )
    sheets = [sheet for sheet in found if sheet.title.startswith(wanted) or not sheet.title]
    if not any(sheet.rows for sheet in sheets):
        known = ", ".join(sheet.title.partition(":")[0] for sheet in found if sheet.rows)
        raise DataError(f"the suite {suite!r} has no {name}; it has {known}")
    write_sheets(
        output, "tables", f"{suite} on {data}", [*sheets, Sheet(notes=_partial(documents))]
    )


Documents = Sequence[tuple[str, Document]]  # with their names


def _declared(documents: Documents, suite: str, name: str, data: str) -> Iterator[Sheet]:
    tables = tables_of(suite)
    wanted = [
        table
        for table in tables
        if name in ("", table.name, *table.figures) or _has(table.name, name)
    ]
    if not wanted:
        known = ", ".join(dict.fromkeys(x for each in tables for x in (each.name, *each.figures)))
        raise DataError(
            f"the suite {suite!r} has no {name}; it has {known}, and docs/suites/{suite}.md says why no other"
        )
    of_suite = [each for each in documents if any(x["suite"] == suite for x in each[1]["results"])]
    _require_alike(of_suite or documents[:1])
    rows = [row for _, each in of_suite for row in each["results"] if row["suite"] == suite]
    tried = [filled(table, rows) for table in wanted]
    if not any(found.values for found in tried):
        told = "\n".join(dict.fromkeys(f"    {_absent(found)}" for found in tried))
        told += "".join(f"\n    {why}" for why in [*_partial(documents), _beside(documents)])
        raise DataError(f"these records fill no table of {suite!r} that was asked for:\n{told}")
    for found in tried:
        if found.values:
            yield from _sheets(found, data)
    absent = [found for found in tried if not found.values]
    notes = [f"Not in these records: {found.table.title}. {_absent(found)}." for found in absent]
    yield Sheet(notes=[*notes, _beside(of_suite)] if absent else ())


def _beside(documents: Documents) -> str:
    """What another record must have been asked with, to stand in the same table."""
    first = documents[0][1]
    users = options_of(first).get("--recsys-users")
    told = f"--recsys-data={first['data']} --recsys-seed={first['seed']}"
    return one_line(
        f"Another record stands beside these with {told} --recsys-users={users}, else alone."
    )


def _partial(documents: Documents) -> list[str]:
    ends = [(name, "; ".join(each["gate"]["incomplete"])) for name, each in documents]
    return [f"{name} is of a partial run: {one_line(_cut(why))}." for name, why in ends if why]


def _absent(found: Filled) -> str:
    told = [why for why in found.missing if why != UNTOLD and ELSEWHERE not in why]
    fills = [f"{found.table.run} fills it"] if not told or len(told) < len(found.missing) else []
    return "; ".join(told + fills)


def _arena(documents: Documents, data: str) -> Iterator[Sheet]:
    _require_alike(documents)
    sheets = arena.sheets_of([document for _, document in documents])
    if not sheets:
        raise DataError(
            "these records have no verdict of an arena; run pytest --pyargs "
            "pytest_recsys_mt.suites.arena --recsys-judge=SPEC --recsys-json=FILE"
        )
    rows = [row for _, each in documents for row in each["results"]]
    faults = ", ".join(arena.faults_of(rows))
    none = [f"The judge fails its own tests ({faults}), so these are no results."] if faults else []
    for table in tables_of("arena"):
        found = filled(table, rows)
        for sheet in _sheets(found, data):
            yield replace(sheet, notes=[*sheet.notes, *(none if found.values else ())])
    for sheet in sheets:
        yield replace(sheet, notes=[*sheet.notes, *none]) if sheet.title != arena.JUDGE else sheet
    for name, each in documents:
        judge, day = options_of(each).get("--recsys-judge"), str(each["time"]["started"])[:10]
        told = f"{name}: judge {judge} on {data}, seed {each['seed']}, {day}."
        yield Sheet(notes=[one_line(told)])


def _has(name: str, wanted: str) -> bool:
    kind, _, number = wanted.partition("-")
    own, *numbers = name.split("-")
    return kind == own and number in numbers


def _require_alike(documents: Documents) -> None:
    """Check that records can stand in one table: nothing but their models and tests may differ."""
    (path, first), *others = documents
    for other, document in others:
        ours, theirs = _about(first), _about(document)
        for name in ours:
            if ours[name] != theirs.get(name, ours[name]):
                raise DataError(
                    f"{path!r} and {other!r} have other {name}, so no table holds both: "
                    f"{one_line(_cut(str(ours[name])))} and {one_line(_cut(str(theirs[name])))}; give one at a time"
                )


def _about(document: Document) -> dict[str, object]:
    about = {
        "data": (document["data"], document.get("data_digest")),
        "--recsys-seed": document.get("seed"),
        **options_of(document),
    }
    if about.get("--recsys-questions"):  # all of them are asked, whatever these say
        about |= dict.fromkeys(("--recsys-seed", "--recsys-users"))
    return about


def filled(table: Table, rows: Sequence[Row]) -> Filled:
    """A table with the values of some rows of records."""
    values: dict[str, list[Values]] = {}
    users: dict[str, set[int]] = {}
    unread: dict[str, set[int]] = {}
    lacking: dict[str, dict[str, list[str]]] = {}
    missing: dict[str, None] = {}
    for model, own in grouped(rows, lambda row: row["model"]).items():
        for line in table.rows:
            name, used = line.name.format(model=model), list[Row]()
            cells = [_values(table, line, column, own, name, used) for column in table.columns]
            pairs = zip(table.columns, cells, strict=True)
            why = {each.name: _why(line, each, own) for each, cell in pairs if not cell}
            if any(cells) or any(was_run for _, was_run in why.values()):
                silent = [(row, _unread(row)) for row in used]
                values[name] = cells
                # Figures beside a verdict on nobody are of others.
                users[name] = {_asked(row, lost) for row, lost in silent} - {0}
                unread[name] = {lost for _, lost in silent} - {0}
                for column, (told, _) in why.items():
                    lacking.setdefault(told, {}).setdefault(column, []).append(name)
            else:
                missing |= dict.fromkeys(told for told, _ in why.values())
    return Filled(table, values, users, unread, lacking, missing)


def _asked(row: Row, lost: int) -> int:
    """Users; a row of questions counts the unread ones among them."""
    answers = (row["details"].get("unreadable") or {}).get("of", row["users"] + lost)
    return int(min(row["users"] + lost, answers))


def _unread(row: Row) -> int:
    return len((row["details"].get("unreadable") or {}).get("users", ()))


def _last(row: Row) -> tuple[bool, bool]:
    return row["status"] == "not-applicable", ELSEWHERE in (row.get("reason") or "")


def _why(line: Selected, column: Selected, rows: Iterable[Row]) -> tuple[str, bool]:
    """Why a cell is empty, and whether its test was run at all."""
    for row in sorted(rows, key=_last):
        none = row["status"] == "error" or row.get("value", row.get("estimate")) is None
        told = row.get("reason") if none else None
        if told and _selects(line, row, empty=True) and _selects(column, row, empty=True):
            return one_line(_cut(told)), row["status"] != "not-applicable"
    return UNTOLD, False


def _cut(told: str) -> str:
    return shorten(redact(told), 300, placeholder=" …")


def _values(
    table: Table, line: Selected, column: Selected, rows: Iterable[Row], name: str, used: list[Row]
) -> Values:
    found: dict[object, tuple[float, float | None]] = {}
    for row in rows:
        # What an error says is of those alone who got an answer.
        if row["status"] == "error" or not (_selects(line, row) and _selects(column, row)):
            continue
        usual = "value" if row.get("metric") else "estimate"
        value = _figure(row, column.value or line.value or usual)
        if value is None:
            continue
        used.append(row)
        spread = _figure(row, column.spread or line.spread)
        part = row["details"].get(table.over) if table.over else None
        if part in found:
            again = f" twice for {table.over} {part!r}" if table.over else " twice"
            raise DataError(
                f"{table.title}: {column.name!r} of {name!r} stands in the records{again}; give records of "
                f"one run each"
            )
        found[part] = (
            column.times * value + column.plus,
            None if spread is None else column.times * spread,
        )
    return list(found.values())


def _selects(wanted: Selected, row: Row, *, empty: bool = False) -> bool:
    """Whether a row is selected; an empty one may lack its metric, its relation and its details."""
    metric, relation = row.get("metric") or row["oracle"], row["relation"]
    return (
        wanted.test in ("", parts_of(row["nodeid"]).function)
        and (wanted.metric in ("", metric) or (empty and not row.get("metric")))
        and (wanted.relation in ("", relation) or (empty and not relation))
        and fnmatchcase(own_parameters(row), wanted.case or "*")
        and (empty or all(row["details"].get(x) == value for x, value in wanted.where.items()))
    )


def _figure(row: Row, path: str) -> float | None:
    found: object = row if path else None
    for key in path.split("/"):
        if isinstance(found, str) and key.isdigit():
            counts = dict(enumerate(map(int, found.split()), 1))
            whole = sum(counts.values())
            found = {key: counts.get(int(key), 0) / whole} if whole else None
        found = found.get(key) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        numbers = [each for each in found.values() if isinstance(each, int | float)]
        return statistics.stdev(numbers) if len(numbers) > 1 else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def _cell(found: Values, table: Table, column: Selected) -> str:
    if not found:
        return NONE
    values = [value for value, _ in found]
    told = f"{statistics.fmean(values):.{column.digits}f}"
    if re.fullmatch(r"-0\.?0*", told):
        told = told[1:]
    spread = found[0][1] if len(found) == 1 else None
    if table.spread and len(found) > 1:
        spread = statistics.stdev(values)
        if table.spread == "standard error":
            spread /= len(values) ** 0.5
    return told if spread is None else f"{told} ± {spread:.{column.digits}f}"


def _agreements(found: Filled) -> Iterator[Sheet]:
    """Kendall's tau-b of each two of the columns in ``kendall`` that have a value in every of three or more lines."""
    from scipy.stats import kendalltau

    whole: dict[str, list[float]] = {}
    for place, column in enumerate(found.table.columns):
        cells = [each[place] for each in found.values.values()]
        if column.name in found.table.kendall and all(cells):
            means = [statistics.fmean(value for value, _ in cell) for cell in cells]
            whole[column.name] = means
    if len(found.values) < 3 or len(whole) < 2:
        return
    rows = [
        [name, *(f"{kendalltau(one, other)[0]:.2f}" for other in whole.values())]
        for name, one in whole.items()
    ]
    title = f"Kendall's tau of these metrics over {len(found.values)} lines"
    yield Sheet(title, ["", *whole], rows)


def _sheets(found: Filled, data: str) -> Iterator[Sheet]:
    table = found.table
    rows = [[name, *cells] for name, cells in found.lines.items()]
    rows += [[f"{name} †", *cells] for name, cells in table.printed.items()]
    columns = ["", *(column.name for column in table.columns)]
    bars = [columns.index(name) for name in table.draws] or range(1, len(columns))
    notes = _notes(found, data)
    yield Sheet(table.title, columns, rows, notes, drawn=table.drawn, bars=bars)
    yield from _agreements(found)


def _by_line(numbers: Mapping[str, Collection[int]]) -> str:
    ends = {name: sorted({min(each), max(each)}) for name, each in numbers.items() if each}
    texts = grouped(ends, lambda name: " to ".join(f"{number:,}" for number in ends[name]))
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in texts.items())


def _notes(found: Filled, data: str) -> list[str]:
    table = found.table
    notes = [f"Run on {data}." + (f" † as printed: {table.source}." if table.printed else "")]
    counts = {name: {*map(len, filter(None, cells))} for name, cells in found.values.items()}
    if table.over and any(counts.values()):
        behind = f"; ± is the {table.spread}" if table.spread else ""
        notes.append(f"Means over {_by_line(counts)} values of {table.over!r}{behind}.")
    if any(found.users.values()):
        notes.append(f"{table.asked}: {_by_line(found.users)}.")
    if any(found.unread.values()):
        told = "it recommends nothing, and what is measured of items leaves it out"
        notes.append(
            f"Of these with an answer that could not be read: {_by_line(found.unread)}; {told}."
        )
    for why, columns in found.lacking.items():
        where = []
        for lines, pairs in grouped(columns.items(), lambda pair: tuple(pair[1])).items():
            of = f" of {', '.join(lines)}" * (len(lines) < len(found.values))
            where.append("; ".join(name for name, _ in pairs) + of)
        notes.append(f"{NONE} (in {'; '.join(where)}): {why}.")
    return [*notes, *table.notes]

"""An arena in a record, in the form of figures 3, 4 and 6 of "RecSys Arena".

The paper (https://arxiv.org/abs/2412.11068) prints no numbers of the figures. Its
tables are declared next to the suite.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from pytest_recsys_mt.gate.baseline import options_of
from pytest_recsys_mt.gate.document import Document, Row
from pytest_recsys_mt.gate.states import STATES, detail_of, grouped, state_of
from pytest_recsys_mt.report.paper_tables.declared import tables_of
from pytest_recsys_mt.report.paper_tables.filled_sheets import (
    sheets_of as declared_sheets,
)
from pytest_recsys_mt.report.paper_tables.filling import filled
from pytest_recsys_mt.report.sheet import Sheet
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

OF_JUDGES = ("judge:", "judge_sees:", "judge_seldom:")
JUDGE = "The judge under test"


def faults_of(rows: Iterable[Row]) -> list[str]:
    """The tests that a judge fails; a preference of such a judge is no result."""
    held = (row for row in rows if row["oracle"].startswith(OF_JUDGES))
    return sorted(
        {
            row["oracle"].partition(":")[2]
            for row in held
            if row["status"] == "violated"
        },
    )


def sheets_of(documents: Sequence[tuple[str, Document]], data: str) -> Iterator[Sheet]:
    """The sheets of an arena: its declared tables, its own, and which judge judged.

    Args:
        documents: Records with their names, which can stand in one table.
        data: The name of their data.

    Raises:
        DataError: If they have no verdict of an arena.
    """
    rows = list(chain.from_iterable(document["results"] for _, document in documents))
    own_sheets = _own_sheets([row for row in rows if "arena" in row["suite"]])
    if not own_sheets:
        raise DataError(
            "these records have no verdict of an arena; run pytest --pyargs "
            "pytest_recsys_mt.suites.arena --recsys-judge=SPEC --recsys-json=FILE",
        )
    faults = ", ".join(faults_of(rows))
    warning = []
    if faults:
        warning = [
            f"The judge fails its own tests ({faults}), so these are no results.",
        ]
    for table in tables_of("arena"):
        table_filled = filled(table, rows)
        for sheet in declared_sheets(table_filled, data):
            yield replace(
                sheet,
                notes=[*sheet.notes, *(warning if table_filled.values else ())],
            )
    for sheet in own_sheets:
        if sheet.title == JUDGE:
            yield sheet
        else:
            yield replace(sheet, notes=[*sheet.notes, *warning])
    for name, document in documents:
        judge = options_of(document).get("--recsys-judge")
        day = str(document["time"]["started"])[:10]
        note = f"{name}: judge {judge} on {data}, seed {document['seed']}, {day}."
        yield Sheet(notes=[one_line(note)])


def _own_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """The sheets that no table declares; none if there are no rows."""
    league = next((each for row in rows if (each := detail_of(row, "league"))), None)
    pairs = league["pairs"] if league else list(_pairs(rows))
    return [
        *_verdicts(rows),
        *(_of_pairs(pairs) if pairs else ()),
        *(_of_league(league) if league else ()),
    ]


def _pairs(rows: Iterable[Row]) -> Iterable[Mapping[str, Any]]:
    for row in rows:
        figures = detail_of(row, "figures") or {}
        if row["oracle"] == "preferred:overall" and "Q" in figures:
            other = row["relation"].partition(" against ")[2]
            yield {
                **figures,
                "one": row["model"],
                "other": other,
                "clear": row["status"] != "inconclusive",
            }


def _why(row: Row) -> str:
    reason = row.get("reason") or ""
    # With an effect, the judge's faults need no list: they stand in the table of the
    # judge.
    return (
        reason
        if row.get("estimate") is None
        else reason.partition(", so this is no result:")[0]
    )


def _verdicts(rows: Sequence[Row]) -> Iterable[Sheet]:
    for title, of_judges in ((JUDGE, True), ("The recommenders", False)):
        held = [row for row in rows if row["oracle"].startswith(OF_JUDGES) is of_judges]
        if of_judges:
            tests = grouped(held, lambda row: row["oracle"]).values()
            held = [
                min(
                    each,
                    key=lambda row: (
                        STATES.index(state_of(row)),
                        row.get("p_value") or 0.0,
                    ),
                )
                for each in tests
            ]
        found = [
            (
                row["model"],
                row["oracle"].partition(":")[2] if of_judges else row["relation"],
                row["status"],
                _why(row),
                row.get("estimate"),
                "[{:.2f}, {:.2f}]".format(*ends)
                if (ends := row.get("interval"))
                else "",
                row.get("users"),
            )
            for row in held
            if of_judges or row["status"] != "not-applicable"
        ]
        columns = (
            "recommender",
            "test",
            "verdict",
            "why",
            "effect",
            "interval",
            "users",
        )
        if found:
            notes = [
                "Each test stands once: with the lists of the recommender where it came out worst.",
            ]
            yield Sheet(title, columns, found, notes * of_judges, wordy=4)


def _of_pairs(pairs: Sequence[Mapping[str, Any]]) -> Iterable[Sheet]:
    names = [f"{pair['one']} against {pair['other']}" for pair in pairs]
    shares = []
    for name, pair in zip(names, pairs, strict=True):
        percent = [pair[f"{kind}, percent"] for kind in ("won", "tied", "lost")]
        clear = "" if pair["clear"] else "not clear"
        shares.append((name, *percent, max(0.0, 100 - sum(percent)), clear))
    columns = ("Q", "Q, lower bound", "Q, upper bound")
    yield Sheet(
        "Figure 3: won, tied and lost by the first of each pair, percent",
        ("pair", "won", "tied", "lost", "not read", ""),
        shares,
        ["Each pair of lists was shown in both orders; the paper shows one."],
        drawn="stacked",
        bars=(1, 2, 3),
    )
    yield Sheet(
        "Figure 4: Q of each pair",
        ("pair", "Q", "lower bound", "upper bound"),
        [
            (name, *map(pair.get, columns))
            for name, pair in zip(names, pairs, strict=True)
        ],
        [
            "Q as in Table 2; intervals of 95 % over users. The paper's six: 1.0146 to 1.1137.",
        ],
        drawn="bars",
        bars=(1,),
    )


def _of_league(league: Mapping[str, Any]) -> Iterable[Sheet]:
    systems = league["systems"]
    metrics = [
        name for name in systems[0] if name not in ("name", "strength", "low", "high")
    ]
    place = league["first place"]
    yield Sheet(
        "Strengths",
        ("recommender", "strength", "lower bound", "upper bound", *metrics),
        [
            tuple(each[name] for name in ("name", "strength", "low", "high", *metrics))
            for each in systems
        ],
        [
            "Bradley-Terry, natural logarithms of odds; intervals of 95 % over users.",
            "The list shown first has an advantage of {value:.2f} [{low:.2f}, {high:.2f}].".format(
                **place,
            ),
        ],
    )
    names = [each["name"] for each in systems]
    kinds = sorted(
        {kind for each in league["aspects"].values() for kind in each["correlations"]},
    )
    yield Sheet(
        "Correlation of strengths with offline metrics, by aspect",
        ("aspect", *kinds),
        [
            (name, *(each["correlations"].get(kind, "") for kind in kinds))
            for name, each in league["aspects"].items()
        ],
        [f"Over {len(names)} recommenders; with so few, little is significant."],
    )
    normalised = league["normalised"]
    if normalised:
        columns = list(normalised)
        own = [name for name in names if name in normalised[columns[0]]]
        yield Sheet(
            "Figure 6: relative and absolute, each divided by its largest",
            ("recommender", *columns),
            [(name, *(normalised[column][name] for column in columns)) for name in own],
            [
                f"Q is against {league['baseline']}.",
                "The more bars of one colour differ, the better it tells the recommenders apart.",
            ],
            drawn="bars",
            bars=range(1, len(columns) + 1),
        )

"""The page: turns the record into one HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_recsys_mt.calls.prices import dollars
from pytest_recsys_mt.gate.baseline import document_in
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.states import grouped, models_of
from pytest_recsys_mt.report import table
from pytest_recsys_mt.report.compared import ONE_RUN
from pytest_recsys_mt.report.glossary import entries_of, entry_of, measure_of, names_of
from pytest_recsys_mt.report.html import view, words
from pytest_recsys_mt.report.html.answer import answer_of
from pytest_recsys_mt.report.html.benchmarks import benchmarks_of, value_of
from pytest_recsys_mt.report.html.cards import Card, cards_of
from pytest_recsys_mt.report.html.matrix import matrix_of
from pytest_recsys_mt.report.html.plots import groups_of, plots_of
from pytest_recsys_mt.report.html.scorecard import scorecard_of
from pytest_recsys_mt.report.html.since_baseline import (
    SYMBOLS,
    comparisons_of,
    worse_by,
)
from pytest_recsys_mt.report.judged import all_read_in_words, judged, unread_of
from pytest_recsys_mt.report.latency import MEASURED, in_units
from pytest_recsys_mt.report.measures import effect_of, limit_of
from pytest_recsys_mt.report.outputs import raised_as_data_error
from pytest_recsys_mt.report.spending import cost
from pytest_recsys_mt.safety.errors import DataError, MissingExtraError, PolicyError
from pytest_recsys_mt.safety.files import written_to
from pytest_recsys_mt.safety.sanitize import clean, sanitize
from pytest_recsys_mt.verdict.wording import group_in_words, spoken

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"


def require_html() -> None:
    """Check that the libraries that draw the report are installed.

    Raises:
        MissingExtraError: If they are not; the text says how to install them.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the HTML page needs Jinja2 ({error}); install it with: "
            f"pip install 'pytest-recsys-mt[html]'",
        ) from error


def write_report(document: Mapping[str, object], path: Path) -> None:
    """Write the report of a record to `path`, completely or not at all."""
    text = render(document)
    with written_to(path, 0o644) as stream:
        stream.write(text)


def read_record(path: Path) -> dict[str, object]:
    """The record that ``--recsys-json`` wrote to `path`.

    Raises:
        DataError: If the file is not a record; says which kind of file it is.
    """
    try:
        return document_in(path)
    except PolicyError as error:
        raise DataError(f"{str(path)!r}: {error}") from error


def render(document: Mapping[str, object]) -> str:
    """The page of a record. The same record gives the same page, byte by byte.

    Raises:
        DataError: If it lacks a part that every record has.
        MissingExtraError: If the libraries that draw the report are not installed.
    """
    require_html()
    from jinja2 import UndefinedError

    with raised_as_data_error(
        "this is not a record as --recsys-json writes it",
        UndefinedError,
    ):
        return fill("report.html.j2", contents_of(clean(document)))


def render_view(records: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    """The page of several records of one suite, each with its name, in the order of
    their runs.

    Raises:
        DataError: If a record lacks a part that every record has, or has no test of the
            others.
        MissingExtraError: If the libraries that draw the report are not installed.
    """
    require_html()
    from jinja2 import UndefinedError

    with raised_as_data_error("these are not records as --recsys-json writes them"):
        latest = max(
            (document for _, document in records),
            key=view.began,
            default=None,
        )
    cleaned = []
    for name, document in records:
        with raised_as_data_error(
            f"{name!r} is not a record as --recsys-json writes it",
            UndefinedError,
        ):
            shown = clean(
                document if document is latest else view.without_examples(document),
            )
            cleaned.append((sanitize(name), shown))
            cards_of(shown)
    with raised_as_data_error(
        "these are not records as --recsys-json writes them",
        UndefinedError,
    ):
        return fill("view.html.j2", view.contents_of(cleaned))


def fill(
    template: str,
    contents: Mapping[str, object],
    look: str = "report.css",
) -> str:
    """A whole page from a template of this folder.

    Raises:
        MissingExtraError: If the libraries that draw the page are not installed.
    """
    require_html()
    from markupsafe import Markup

    style, script = (
        (TEMPLATES / name).read_text(encoding="utf-8") for name in (look, "report.js")
    )
    # The page may load only its own style and script, identified by their content.
    policy = (
        f"default-src 'none'; style-src {source_of(style)}; script-src {source_of(script)}; img-src data:; "
        f"base-uri 'none'; form-action 'none'"
    )
    own = {"style": Markup(style), "script": Markup(script), "policy": policy}
    return _environment().get_template(template).render(**contents, **own)


def source_of(text: str) -> str:
    """How a content security policy names a style or a script of the page itself."""
    return (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The drawings escape their texts; nothing else is trusted.
    made.filters.update(
        drawing=Markup,
        number=words.number,
        spoken=spoken,
        cost=cost,
        dollars=dollars,
        in_units=in_units,
    )
    made.globals.update(
        agreement=words.agreement,
        limit_of=limit_of,
        value_of=value_of,
        measure_of=measure_of,
        unread_of=unread_of,
        verdict_of=words.verdict,
        groups_of=table.groups_of,
        group_in_words=group_in_words,
        kind_of_groups=table.kind_of_groups,
        effect_of=effect_of,
        names_of=names_of,
        entry_of=entry_of,
        words_of=words.STATES,
        symbols=SYMBOLS,
        worse_by=worse_by,
        measured=MEASURED,
    )
    return made


MOST = 5
"""Rows that the answer names, and cards of each state that
are open; further ones have a line each.
"""


def contents_of(record: Document) -> dict[str, object]:
    """The variables of ``report.html.j2``."""
    cards = cards_of(record)
    models = models_of((card.row for card in cards), record["models"])
    homeless = any(not card.row["model"] and card.state.bad for card in cards)
    columns = [*models, *([""] if homeless or not models else [])]
    lines = scorecard_of(cards, columns)
    shown = [card for card in cards if card.shown]
    return {
        "record": record,
        "answer": answer_of(record, cards),
        "judged": judged(record),
        "readings": all_read_in_words(record.get("readings") or {}),
        "cards": cards,
        "columns": columns,
        "scorecard": lines,
        "measured_dimensions": any(
            cell and cell.figures
            for line in lines
            for part in line.parts
            for cell in part.cells
        ),
        "shown": shown,
        "states": {
            key: [card for card in shown if card.state.key == key]
            for key in words.STATES
        },
        "counts": Counter(card.state.key for card in cards),
        "comparisons": comparisons_of(record, cards),
        "matrix": matrix_of(record, cards, models) if len(models) > 1 else None,
        "one_run": ONE_RUN,
        "inapplicable": reasons_of(shown),
        "groups": groups_of(
            [card for card in shown if card.state.key != "not-applicable"],
        ),
        "benchmarks": benchmarks_of(shown),
        "plots": plots_of(shown),
        "models": models,
        "suites": sorted({card.row["suite"] for card in cards}),
        "entries": entries_of(card.row for card in shown),
        "most": MOST,
    }


def reasons_of(cards: Sequence[Card]) -> list[tuple[str, str, list[Card]]]:
    """Why rows are not applicable, the most frequent reason
    first: it, the counts by suite, the rows.
    """
    left_out = [card for card in cards if card.state.key == "not-applicable"]
    held = grouped(left_out, lambda card: card.row.get("reason") or "no reason given")
    reasons = []
    for text, own in sorted(held.items(), key=lambda each: -len(each[1])):
        counts = Counter(card.row["suite"] for card in own)
        where = ", ".join(f"{suite} {count}" for suite, count in sorted(counts.items()))
        reasons.append((text, where, own))
    return reasons

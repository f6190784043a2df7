"""The page: turns the record into one HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.errors import DataError, MissingExtraError
from pytest_recsys_mt.files import written_whole
from pytest_recsys_mt.gate.baseline import READABLE
from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.sanitize import sanitize

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
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"the HTML report needs Jinja2 and matplotlib ({error}); install them with: "
            f"pip install 'pytest-recsys-mt[html]'"
        ) from error


def write_report(document: Mapping[str, object], path: Path) -> None:
    """Write the report of a record to `path`, completely or not at all.

    Raises:
        DataError: If `document` is not a record.
        MissingExtraError: If the libraries that draw the report are not installed.
    """
    text = render(document)
    with written_whole(path) as stream:
        stream.write(text)
    path.chmod(0o644)


def read_record(path: Path) -> dict[str, object]:
    """The record that ``--recsys-json`` wrote to `path`.

    Raises:
        DataError: If the file is not a record; says what it is.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(
            f"{str(path)!r} cannot be read: {error.strerror}; name a file that --recsys-json wrote"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{str(path)!r} is not JSON: {error}; name a file that --recsys-json wrote"
        ) from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found not in READABLE:
        raise DataError(
            f"{str(path)!r} is not a record of the schema {' or '.join(READABLE)} (its schema is {found!r}); "
            f"name a file that --recsys-json wrote"
        )
    return dict(document)


def render(document: Mapping[str, object]) -> str:
    """The page of a record. The same record gives the same page, byte by byte.

    Args:
        document: A record of ``--recsys-json``; untrusted.

    Raises:
        DataError: If it lacks a part that every record has.
        MissingExtraError: If the libraries that draw the report are not installed.
    """
    require_html()
    from jinja2 import UndefinedError
    from markupsafe import Markup

    from pytest_recsys_mt.report.html.benchmarks import benchmarks_of
    from pytest_recsys_mt.report.html.cards import cards_of
    from pytest_recsys_mt.report.html.plots import groups_of, plots_of
    from pytest_recsys_mt.report.html.since_baseline import comparisons_of
    from pytest_recsys_mt.report.html.words import STATES

    record: Document = _clean(document)
    style, script = (
        (TEMPLATES / name).read_text(encoding="utf-8") for name in ("report.css", "report.js")
    )
    try:
        cards = cards_of(record)
        text = (
            _environment()
            .get_template("report.html.j2")
            .render(
                record=record,
                cards=cards,
                states={key: [card for card in cards if card.state.key == key] for key in STATES},
                words_of=STATES,
                reasons=_further_reasons(record),
                comparisons=comparisons_of(record, cards),
                groups=groups_of(cards),
                benchmarks=benchmarks_of(cards),
                plots=plots_of(cards),
                models=sorted({card.row["model"] for card in cards if card.row["model"]}),
                suites=sorted({card.row["suite"] for card in cards}),
                style=Markup(style),
                script=Markup(script),
                policy=_policy(style, script),
            )
        )
    except (KeyError, TypeError, ValueError, AttributeError, UndefinedError) as error:
        raise DataError(
            f"this is not a record as --recsys-json writes it: {type(error).__name__}: {error}"
        ) from error
    return text


def _further_reasons(record: Document) -> list[str]:
    """Why the gate failed, without the reasons that the page shows at single tests."""
    tests = tuple(f": {row['nodeid']}" for row in record["results"])
    return [each for each in record["gate"].get("reasons") or () if not each.endswith(tests)]


def _policy(style: str, script: str) -> str:
    """The page may load only its own style and script, identified by their content."""
    hashes = {
        name: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for name, text in (("style", style), ("script", script))
    }
    return (
        f"default-src 'none'; style-src 'sha256-{hashes['style']}'; "
        f"script-src 'sha256-{hashes['script']}'; img-src data:; base-uri 'none'; "
        f"form-action 'none'"
    )


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    from pytest_recsys_mt.calls.prices import dollars
    from pytest_recsys_mt.report.html import words
    from pytest_recsys_mt.report.html.benchmarks import value_of
    from pytest_recsys_mt.report.spending import cost

    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # An XML library serialises the drawings from escaped text; nothing else is trusted.
    made.filters.update(
        drawing=Markup, number=words.number, spoken=words.spoken, cost=cost, dollars=dollars
    )
    made.globals.update(agreement=words.agreement, limit_of=words.limit_of, value_of=value_of)
    return made


def _clean(value: object) -> Any:
    """`value` with all its texts and keys sanitized: a record is untrusted."""
    if isinstance(value, str):
        return sanitize(value)
    if isinstance(value, Mapping):
        return {sanitize(str(key)): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value

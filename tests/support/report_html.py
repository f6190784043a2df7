"""What tests use of `report.html`."""

from pytest_recsys_mt.report.html import cards, effects, read_record, render_view
from pytest_recsys_mt.report.html.answer import answer_of
from pytest_recsys_mt.report.html.cards import CHANGES, _facts, cards_of
from pytest_recsys_mt.report.html.lists import (
    aligned,
    alone,
    calls_of,
    request_of,
    summary,
)
from pytest_recsys_mt.report.html.matrix import Matrix, matrix_of
from pytest_recsys_mt.report.html.page import render
from pytest_recsys_mt.report.html.scorecard import Cell, counted, p_text, scorecard_of
from pytest_recsys_mt.report.html.titles import (
    CONDITIONS,
    EXACTLY,
    conditions,
    name_of,
    part_of,
    title_of,
)
from pytest_recsys_mt.report.html.view import contents_of
from pytest_recsys_mt.report.html.words import agreement, number, state_of, verdict

__all__ = [
    "CHANGES",
    "CONDITIONS",
    "EXACTLY",
    "Cell",
    "Matrix",
    "_facts",
    "agreement",
    "aligned",
    "alone",
    "answer_of",
    "calls_of",
    "cards",
    "cards_of",
    "conditions",
    "contents_of",
    "counted",
    "effects",
    "matrix_of",
    "name_of",
    "number",
    "p_text",
    "part_of",
    "read_record",
    "render",
    "render_view",
    "request_of",
    "scorecard_of",
    "state_of",
    "summary",
    "title_of",
    "verdict",
]

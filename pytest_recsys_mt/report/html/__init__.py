"""The HTML report: one file for human readers, made only from the record."""

from pytest_recsys_mt.report.html.page import (
    read_record,
    render,
    render_leaderboard,
    render_trend,
    require_html,
    write_page,
    write_report,
)

__all__ = [
    "read_record",
    "render",
    "render_leaderboard",
    "render_trend",
    "require_html",
    "write_page",
    "write_report",
]

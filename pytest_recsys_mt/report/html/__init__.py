"""The HTML report: one file for people, made from the record alone."""

from pytest_recsys_mt.report.html.page import read_record, render, require_html, write_report

__all__ = ["read_record", "render", "require_html", "write_report"]

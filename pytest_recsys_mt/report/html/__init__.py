"""The HTML report: one file for human readers, made only from the record."""

from pytest_recsys_mt.report.html.page import read_record as read_record
from pytest_recsys_mt.report.html.page import render as render
from pytest_recsys_mt.report.html.page import render_view as render_view
from pytest_recsys_mt.report.html.page import require_html as require_html
from pytest_recsys_mt.report.html.page import write_report as write_report

"""What tests use of `plugin`."""

from pytest_recsys_mt.plugin import interruptions, shrinking, status_line
from pytest_recsys_mt.plugin.ending import begin_junit, other_rows
from pytest_recsys_mt.plugin.interruptions import Interruptions
from pytest_recsys_mt.plugin.resolving import changed, settings_of
from pytest_recsys_mt.plugin.status_line import Below, Logged, Shown, Ticker, terminal

__all__ = [
    "Below",
    "Interruptions",
    "Logged",
    "Shown",
    "Ticker",
    "begin_junit",
    "changed",
    "interruptions",
    "other_rows",
    "settings_of",
    "shrinking",
    "status_line",
    "terminal",
]

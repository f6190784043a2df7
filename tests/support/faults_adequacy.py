"""What tests use of `faults.adequacy`."""

from pytest_recsys_mt.faults.adequacy import judging, running
from pytest_recsys_mt.faults.adequacy.command import render
from pytest_recsys_mt.faults.adequacy.judging import DRIFT, adequacy, clopper_pearson
from pytest_recsys_mt.faults.adequacy.lines import lines
from pytest_recsys_mt.faults.adequacy.listening import PARTLY
from pytest_recsys_mt.faults.adequacy.running import Run

__all__ = [
    "DRIFT",
    "PARTLY",
    "Run",
    "adequacy",
    "clopper_pearson",
    "judging",
    "lines",
    "render",
    "running",
]

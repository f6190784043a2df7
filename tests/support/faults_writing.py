"""What tests use of `faults.writing`."""

from pytest_recsys_mt.faults.writing.budget import Budget, budget_of
from pytest_recsys_mt.faults.writing.candidates import (
    CANDIDATES,
    Candidate,
    Form,
    form_name,
)
from pytest_recsys_mt.faults.writing.choosing import Choice, Option, choose
from pytest_recsys_mt.faults.writing.command import _calls_of_slow as calls_of_slow
from pytest_recsys_mt.faults.writing.command import _within as within
from pytest_recsys_mt.faults.writing.page import _tried as tried
from pytest_recsys_mt.faults.writing.rendering import (
    Written,
    code_of,
    trial_file,
    whole_file,
)
from pytest_recsys_mt.faults.writing.settling import (
    MARGINS,
    Settled,
    later_margin,
    settled,
    wider,
    without_luck,
)
from pytest_recsys_mt.faults.writing.themes import theme_of
from pytest_recsys_mt.faults.writing.trial import Outcome, doses, slug
from pytest_recsys_mt.faults.writing.writer import Order, widened, with_own_names
from pytest_recsys_mt.oracles.statistics.betting import Bets

__all__ = [
    "CANDIDATES",
    "MARGINS",
    "Bets",
    "Budget",
    "Candidate",
    "Choice",
    "Form",
    "Option",
    "Order",
    "Outcome",
    "Settled",
    "Written",
    "budget_of",
    "calls_of_slow",
    "choose",
    "code_of",
    "doses",
    "form_name",
    "later_margin",
    "settled",
    "slug",
    "theme_of",
    "trial_file",
    "tried",
    "whole_file",
    "widened",
    "wider",
    "with_own_names",
    "within",
    "without_luck",
]

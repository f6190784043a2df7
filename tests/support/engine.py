"""What tests use of `engine`."""

from pytest_recsys_mt.engine import counterexample
from pytest_recsys_mt.engine.candidates import LARGE, in_turn
from pytest_recsys_mt.engine.cases import Case, ShareSplit, Split
from pytest_recsys_mt.engine.controls import CONTROLS, SHARE, unread, users_for
from pytest_recsys_mt.engine.drift import differed, unreported
from pytest_recsys_mt.engine.outcomes import LATELY, Outcome, of_one_time
from pytest_recsys_mt.engine.plan import Count
from pytest_recsys_mt.engine.recsys import Recsys
from pytest_recsys_mt.engine.refits import Fit
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.settings import COLUMNS, Settings, every_option
from pytest_recsys_mt.engine.shrinking import MOST_CALLS, ddmin, smallest_raising
from pytest_recsys_mt.engine.sides import Side

__all__ = [
    "COLUMNS",
    "CONTROLS",
    "LARGE",
    "LATELY",
    "MOST_CALLS",
    "SHARE",
    "Case",
    "Count",
    "Fit",
    "Outcome",
    "Recsys",
    "Run",
    "Runner",
    "Settings",
    "ShareSplit",
    "Side",
    "Split",
    "counterexample",
    "ddmin",
    "differed",
    "every_option",
    "in_turn",
    "of_one_time",
    "smallest_raising",
    "unread",
    "unreported",
    "users_for",
]

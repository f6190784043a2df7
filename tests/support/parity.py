"""What tests use of `parity`."""

from pytest_recsys_mt.parity import staged
from pytest_recsys_mt.parity.asked_lists import ANSWERS_FILE
from pytest_recsys_mt.parity.asked_lists import test_lists_of_a_kept_run as ask_lists
from pytest_recsys_mt.parity.asking import Answered
from pytest_recsys_mt.parity.command import add, arguments
from pytest_recsys_mt.parity.comparison import Comparison, compare
from pytest_recsys_mt.parity.itself import DAY, WAYS, in_words, one_recommender
from pytest_recsys_mt.parity.log_rows import RowReader, paths_of
from pytest_recsys_mt.parity.probes import (
    Differing,
    Explanation,
    explanation,
    guesses_for,
)
from pytest_recsys_mt.parity.recorded_requests import Histories, recorded, request_of
from pytest_recsys_mt.parity.request_logs import Log, Numbered, finish, read

__all__ = [
    "ANSWERS_FILE",
    "DAY",
    "WAYS",
    "Answered",
    "Comparison",
    "Differing",
    "Explanation",
    "Histories",
    "Log",
    "Numbered",
    "RowReader",
    "add",
    "arguments",
    "ask_lists",
    "compare",
    "explanation",
    "finish",
    "guesses_for",
    "in_words",
    "one_recommender",
    "paths_of",
    "read",
    "recorded",
    "request_of",
    "staged",
]

"""What tests use of `suites.lrworld`."""

from pytest_recsys_mt.suites.lrworld import question, rules, taste, worlds
from pytest_recsys_mt.suites.lrworld.asking import Replies
from pytest_recsys_mt.suites.lrworld.chosen import llara, read
from pytest_recsys_mt.suites.lrworld.describing import describe
from pytest_recsys_mt.suites.lrworld.histories import SEPARATOR, Histories, text_of
from pytest_recsys_mt.suites.lrworld.paper_figures import (
    columns,
    others,
    scores,
    tables,
)
from pytest_recsys_mt.suites.lrworld.question_texts import (
    describing,
    examples_for,
    labels,
    prompt,
)
from pytest_recsys_mt.suites.lrworld.rules import mine
from pytest_recsys_mt.suites.lrworld.same import form

__all__ = [
    "SEPARATOR",
    "Histories",
    "Replies",
    "columns",
    "describe",
    "describing",
    "examples_for",
    "form",
    "labels",
    "llara",
    "mine",
    "others",
    "prompt",
    "question",
    "read",
    "rules",
    "scores",
    "tables",
    "taste",
    "text_of",
    "worlds",
]

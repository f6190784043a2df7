"""The input of an oracle: the answers of every user, as plain data.

Oracles see only plain data (requests, recommendations, the declared error rates), so
judging can never call a model.
"""

from pytest_recsys_mt.verdict.answers.asked import Asked, Lost, offer_of, offered
from pytest_recsys_mt.verdict.answers.choices import Choices
from pytest_recsys_mt.verdict.answers.named import Named
from pytest_recsys_mt.verdict.answers.users import (
    Answers,
    Context,
    Drawn,
    Pairs,
    Sample,
    Span,
    Unread,
)

__all__ = [
    "Answers",
    "Asked",
    "Choices",
    "Context",
    "Drawn",
    "Lost",
    "Named",
    "Pairs",
    "Sample",
    "Span",
    "Unread",
    "offer_of",
    "offered",
]

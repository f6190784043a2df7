"""What tests use of `relations`."""

from pytest_recsys_mt.relations.add_spaces import PAPER_RATE as ADD_SPACES_PAPER_RATE
from pytest_recsys_mt.relations.add_spaces import AddSpaces
from pytest_recsys_mt.relations.change_case import ChangeCase
from pytest_recsys_mt.relations.paraphrase_task import VARIANTS, ParaphraseTask
from pytest_recsys_mt.relations.random_words import FRUIT, RandomWords
from pytest_recsys_mt.relations.random_words import (
    PAPER_RATE as RANDOM_WORDS_PAPER_RATE,
)
from pytest_recsys_mt.relations.transformation import usual_of
from pytest_recsys_mt.relations.typos import Typos

__all__ = [
    "ADD_SPACES_PAPER_RATE",
    "FRUIT",
    "RANDOM_WORDS_PAPER_RATE",
    "VARIANTS",
    "AddSpaces",
    "ChangeCase",
    "ParaphraseTask",
    "RandomWords",
    "Typos",
    "usual_of",
]

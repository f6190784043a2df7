"""What tests use of `llm.reading`."""

from pytest_recsys_mt.llm.reading import layout, misspelt
from pytest_recsys_mt.llm.reading.known_films import KnownFilms
from pytest_recsys_mt.llm.reading.layout import pieces
from pytest_recsys_mt.llm.reading.line import MAX_PIECES
from pytest_recsys_mt.llm.reading.misspelt import MostSimilar, NearWords
from pytest_recsys_mt.llm.reading.named import MIN_SCORE, YEAR_SLACK
from pytest_recsys_mt.llm.reading.parser import parse, read
from pytest_recsys_mt.llm.reading.result import Reading
from pytest_recsys_mt.llm.reading.spelling import (
    MIN_LENGTH,
    is_misspelling,
    normalise,
    split_brackets,
    split_year,
    words,
)
from pytest_recsys_mt.llm.reading.thinking import without_thinking
from pytest_recsys_mt.llm.reading.titles import MIN_MARGIN, Scope, TitleIndex
from pytest_recsys_mt.llm.reading.wording import GRADES

__all__ = [
    "GRADES",
    "MAX_PIECES",
    "MIN_LENGTH",
    "MIN_MARGIN",
    "MIN_SCORE",
    "YEAR_SLACK",
    "KnownFilms",
    "MostSimilar",
    "NearWords",
    "Reading",
    "Scope",
    "TitleIndex",
    "is_misspelling",
    "layout",
    "misspelt",
    "normalise",
    "parse",
    "pieces",
    "read",
    "split_brackets",
    "split_year",
    "without_thinking",
    "words",
]

"""Language models as recommenders: prompts, the models, and the parsing of answers."""

from pytest_recsys_mt.llm.prompts import NAMES, Template, render, template
from pytest_recsys_mt.llm.reading.parser import parse
from pytest_recsys_mt.llm.reading.titles import TitleIndex, normalise
from pytest_recsys_mt.llm.recommender import LLMRecommender
from pytest_recsys_mt.safety.sanitize import sanitize

__all__ = [
    "NAMES", "LLMRecommender", "Template", "TitleIndex", "normalise", "parse", "render", "sanitize", "template",
]  # fmt: skip

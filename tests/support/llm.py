"""What tests use of `llm`."""

from pytest_recsys_mt.llm import recommender
from pytest_recsys_mt.llm.prompts import (
    FIELDS,
    NAMES,
    Template,
    as_json,
    render,
    template,
)
from pytest_recsys_mt.llm.question import Latest, call_seed
from pytest_recsys_mt.llm.recommender import LLMRecommender

__all__ = [
    "FIELDS",
    "NAMES",
    "LLMRecommender",
    "Latest",
    "Template",
    "as_json",
    "call_seed",
    "recommender",
    "render",
    "template",
]

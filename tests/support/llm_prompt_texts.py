"""What tests use of `llm.prompt_texts`."""

from pytest_recsys_mt.llm import prompt_texts
from pytest_recsys_mt.llm.prompt_texts import read, shipped, text

__all__ = [
    "prompt_texts",
    "read",
    "shipped",
    "text",
]

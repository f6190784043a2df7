"""What tests use of `llm.prompt_texts`, and of the files that it reads."""

from pytest_recsys_mt.extensions import paper_prompts
from pytest_recsys_mt.llm import prompt_texts
from pytest_recsys_mt.llm.prompt_texts import as_toml, read, shipped, text

__all__ = [
    "as_toml",
    "paper_prompts",
    "prompt_texts",
    "read",
    "shipped",
    "text",
]

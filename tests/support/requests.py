"""What tests use of `requests`."""

from pytest_recsys_mt.requests.design import PROMPT, Design, generator
from pytest_recsys_mt.requests.nouns import plural
from pytest_recsys_mt.requests.specs import build, resources, split

__all__ = [
    "PROMPT",
    "Design",
    "build",
    "generator",
    "plural",
    "resources",
    "split",
]

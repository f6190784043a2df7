"""The vocabulary: items, ratings, requests, and the answers to them.

Everything that this module exports is frozen and light to import, so that relations,
recommenders and users' own code can all share it.
"""

from pytest_recsys_mt.requests.answer import (
    MOST_TOKENS,
    UNKNOWN_PREFIX,
    Entry,
    EntryKind,
    Recommendation,
    Usage,
    is_cut_off,
    is_final,
    is_out_of_tokens,
)
from pytest_recsys_mt.requests.prompt import Completion, Message, Prompt
from pytest_recsys_mt.requests.protocols import Aspect, Promised, Recommender, TextModel
from pytest_recsys_mt.requests.request import (
    NO_ATTRIBUTES,
    Attributes,
    Edit,
    Item,
    Rating,
    Request,
    Scale,
    World,
)

__all__ = [
    "MOST_TOKENS", "NO_ATTRIBUTES", "UNKNOWN_PREFIX", "Aspect", "Attributes", "Completion", "Edit", "Entry", "EntryKind",
    "Item", "Message", "Promised", "Prompt", "Rating", "Recommendation", "Recommender", "Request", "Scale", "TextModel",
    "Usage", "World", "is_cut_off", "is_final", "is_out_of_tokens",
]  # fmt: skip

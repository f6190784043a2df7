"""LRWorld: benchmark questions on a language model's knowledge of a world of recommendation.

`generate` makes them from any dataset; `save` and `load` store and read them.
"""

from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.lrworld.question import (
    KINDS,
    LASTFM,
    MEASURES,
    Kind,
    Measure,
    Question,
    header,
    load,
    save,
)
from pytest_recsys_mt.lrworld.settings import Settings

if TYPE_CHECKING:
    from pytest_recsys_mt.lrworld.generator import Generated, generate

__all__ = [
    "KINDS",
    "LASTFM",
    "MEASURES",
    "Generated",
    "Kind",
    "Measure",
    "Question",
    "Settings",
    "generate",
    "header",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    # The generator imports pandas and scipy, which callers that only read questions do not need.
    if name in ("Generated", "generate"):
        from pytest_recsys_mt.lrworld import generator

        return getattr(generator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""LRWorld: benchmark questions on what a language model knows of a world of recommendation.

`generate` makes them from any dataset; `save` and `load` keep them.
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
    # The generator imports pandas and scipy, which those that only read questions do not pay for.
    if name in ("Generated", "generate"):
        from pytest_recsys_mt.lrworld import generator

        return getattr(generator, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""LRWorld: benchmark questions on what a language model knows of a world of recommendation."""

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

__all__ = [
    "KINDS",
    "LASTFM",
    "MEASURES",
    "Kind",
    "Measure",
    "Question",
    "header",
    "load",
    "save",
]

"""LRWorld: benchmark questions on a language model's knowledge of a world of recommendation.

`generate` makes them from any dataset; `save` and `load` store and read them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.lrworld.generator_settings import Settings
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

if TYPE_CHECKING:
    from pytest_recsys_mt.lrworld.ablations import noisy, shuffled
    from pytest_recsys_mt.lrworld.asking import ask
    from pytest_recsys_mt.lrworld.generator import Generated, generate
    from pytest_recsys_mt.lrworld.paper_figures import beside
    from pytest_recsys_mt.lrworld.question_file import QuestionFile
    from pytest_recsys_mt.lrworld.simple_ways import BASELINES, baselines, credits_of
    from pytest_recsys_mt.lrworld.worlds import questions_for, questions_of, rare

__all__ = [
    "BASELINES",
    "KINDS",
    "LASTFM",
    "MEASURES",
    "Generated",
    "Kind",
    "Measure",
    "Question",
    "QuestionFile",
    "Settings",
    "ask",
    "baselines",
    "beside",
    "credits_of",
    "generate",
    "header",
    "load",
    "noisy",
    "questions_for",
    "questions_of",
    "rare",
    "save",
    "shuffled",
]

# These import pandas and scipy, which those that only read questions do not pay for.
_LATER = {
    "BASELINES": "simple_ways",
    "Generated": "generator",
    "QuestionFile": "question_file",
    "ask": "asking",
    "baselines": "simple_ways",
    "beside": "paper_figures",
    "credits_of": "simple_ways",
    "generate": "generator",
    "noisy": "ablations",
    "questions_for": "worlds",
    "questions_of": "worlds",
    "rare": "worlds",
    "shuffled": "ablations",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"pytest_recsys_mt.lrworld.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

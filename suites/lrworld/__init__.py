"""LRWorld: benchmark questions on a language model's knowledge of a world of
recommendation.

`generate` makes them from any dataset; `save` and `load` store and read them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_recsys_mt.suites.lrworld.ablations import noisy, shuffled
    from pytest_recsys_mt.suites.lrworld.asking import ask
    from pytest_recsys_mt.suites.lrworld.generator import Generated, generate
    from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
    from pytest_recsys_mt.suites.lrworld.paper_figures import beside
    from pytest_recsys_mt.suites.lrworld.question import (
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
    from pytest_recsys_mt.suites.lrworld.question_file import QuestionFile
    from pytest_recsys_mt.suites.lrworld.simple_ways import (
        BASELINES,
        baselines,
        credits_of,
    )
    from pytest_recsys_mt.suites.lrworld.worlds import (
        file_of,
        questions_for,
        questions_of,
        rare,
        settings_of,
    )

__all__ = [
    "BASELINES", "KINDS", "LASTFM", "MEASURES", "Generated", "Kind", "Measure", "Question", "QuestionFile",
    "Settings", "ask", "baselines", "beside", "credits_of", "file_of", "generate", "header", "load", "noisy", "questions_for",
    "questions_of", "rare", "save", "settings_of", "shuffled",
]  # fmt: skip

# These import the readers of answers, or pandas and scipy, which a command's options
# need not pay for.
_LATER = {
    "ablations": ("noisy", "shuffled"),
    "asking": ("ask",),
    "generator": ("Generated", "generate"),
    "generator_settings": ("Settings",),
    "paper_figures": ("beside",),
    "question": ("KINDS", "LASTFM", "MEASURES", "Kind", "Measure", "Question", "header", "load", "save"),
    "question_file": ("QuestionFile",),
    "simple_ways": ("BASELINES", "baselines", "credits_of"),
    "worlds": ("file_of", "questions_for", "questions_of", "rare", "settings_of"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(
                import_module(f"pytest_recsys_mt.suites.lrworld.{module}"),
                name,
            )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The arena: a judge compares the lists of two recommenders in pairs, and the judge is
tested too.

The functions raise `OracleError` if an argument is invalid.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_recsys_mt.suites.arena.absolute import discrimination, not_scored_lower
    from pytest_recsys_mt.suites.arena.arena import Arena
    from pytest_recsys_mt.suites.arena.controls import CONTROLS, judge_sees
    from pytest_recsys_mt.suites.arena.judge_promises import (
        PROMISES,
        QUESTIONS,
        judge_keeps,
    )
    from pytest_recsys_mt.suites.arena.judge_runner import JudgeRunner
    from pytest_recsys_mt.suites.arena.judge_runners import JudgeRunners
    from pytest_recsys_mt.suites.arena.judging import (
        ASPECTS,
        OVERALL,
        Appraisal,
        Aspect,
        Comparison,
        Judge,
        Judgement,
        Showing,
    )
    from pytest_recsys_mt.suites.arena.language_judge import LanguageJudge
    from pytest_recsys_mt.suites.arena.league import League, no_circle
    from pytest_recsys_mt.suites.arena.preference import not_less_preferred, preferred
    from pytest_recsys_mt.suites.arena.seldom import SELDOM, judge_seldom
    from pytest_recsys_mt.suites.arena.trust import Trust

__all__ = [
    "ASPECTS", "CONTROLS", "OVERALL", "PROMISES", "QUESTIONS", "SELDOM", "Appraisal", "Arena", "Aspect", "Comparison",
    "Judge", "JudgeRunner", "JudgeRunners", "Judgement", "LanguageJudge", "League", "Showing", "Trust",
    "discrimination", "judge_keeps", "judge_sees", "judge_seldom", "no_circle", "not_less_preferred",
    "not_scored_lower", "preferred",
]  # fmt: skip

# Every pytest run imports this package for its fixtures, and most runs ask no judge.
_LATER = {
    "absolute": ("discrimination", "not_scored_lower"),
    "arena": ("Arena",),
    "judge_runner": ("JudgeRunner",),
    "judge_runners": ("JudgeRunners",),
    "controls": ("CONTROLS", "judge_sees"),
    "judge_promises": ("PROMISES", "QUESTIONS", "judge_keeps"),
    "judging": (
        "ASPECTS",
        "OVERALL",
        "Appraisal",
        "Aspect",
        "Comparison",
        "Judge",
        "Judgement",
        "Showing",
    ),
    "language_judge": ("LanguageJudge",),
    "league": ("League", "no_circle"),
    "preference": ("not_less_preferred", "preferred"),
    "seldom": ("SELDOM", "judge_seldom"),
    "trust": ("Trust",),
}


_FORMER = {"Bench": "JudgeRunner", "Benches": "JudgeRunners"}


def __getattr__(name: str) -> Any:
    if name in _FORMER:
        warnings.warn(
            f"{name!r} is now {_FORMER[name]!r}; the former name goes with the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        name = _FORMER[name]
    for module, names in _LATER.items():
        if name in names:
            return getattr(
                import_module(f"pytest_recsys_mt.suites.arena.{module}"),
                name,
            )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

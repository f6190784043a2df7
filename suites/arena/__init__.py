"""The arena: a judge compares the lists of two recommenders in pairs, and the judge is tested too.

The functions raise `OracleError` if an argument is invalid.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_recsys_mt.suites.arena.absolute import discrimination, not_scored_lower
    from pytest_recsys_mt.suites.arena.arena import Arena
    from pytest_recsys_mt.suites.arena.bench import Bench
    from pytest_recsys_mt.suites.arena.benches import Benches
    from pytest_recsys_mt.suites.arena.controls import CONTROLS, judge_sees
    from pytest_recsys_mt.suites.arena.judge_promises import PROMISES, QUESTIONS, judge_keeps
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
    "ASPECTS", "CONTROLS", "OVERALL", "PROMISES", "QUESTIONS", "SELDOM", "Appraisal", "Arena", "Aspect", "Bench", "Benches",
    "Comparison", "Judge", "Judgement", "LanguageJudge", "League", "Showing", "Trust", "discrimination",
    "judge_keeps", "judge_sees", "judge_seldom", "no_circle", "not_less_preferred", "not_scored_lower", "preferred",
]  # fmt: skip

# Every pytest run imports this package for its fixtures, and most runs ask no judge.
_LATER = {
    "absolute": ("discrimination", "not_scored_lower"),
    "arena": ("Arena",),
    "bench": ("Bench",),
    "benches": ("Benches",),
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


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"pytest_recsys_mt.suites.arena.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

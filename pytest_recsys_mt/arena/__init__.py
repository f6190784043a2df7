"""Pairwise comparison of recommenders by a judge; the functions raise `OracleError` if an argument is invalid."""

from pytest_recsys_mt.arena.absolute import discrimination, not_scored_lower
from pytest_recsys_mt.arena.arena import Arena
from pytest_recsys_mt.arena.bench import Bench
from pytest_recsys_mt.arena.benches import Benches
from pytest_recsys_mt.arena.controls import CONTROLS, judge_sees
from pytest_recsys_mt.arena.judge_promises import PROMISES, QUESTIONS, judge_keeps
from pytest_recsys_mt.arena.judging import (
    ASPECTS,
    OVERALL,
    Appraisal,
    Aspect,
    Comparison,
    Judge,
    Judgement,
    Showing,
)
from pytest_recsys_mt.arena.language_judge import LanguageJudge
from pytest_recsys_mt.arena.league import League, no_circle
from pytest_recsys_mt.arena.preference import not_less_preferred, preferred
from pytest_recsys_mt.arena.seldom import SELDOM, judge_seldom
from pytest_recsys_mt.arena.trust import Trust

__all__ = [
    "ASPECTS", "CONTROLS", "OVERALL", "PROMISES", "QUESTIONS", "SELDOM", "Appraisal", "Arena", "Aspect", "Bench", "Benches",
    "Comparison", "Judge", "Judgement", "LanguageJudge", "League", "Showing", "Trust", "discrimination",
    "judge_keeps", "judge_sees", "judge_seldom", "no_circle", "not_less_preferred", "not_scored_lower", "preferred",
]  # fmt: skip

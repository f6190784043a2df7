"""What tests use of `suites.arena`."""

from pytest_recsys_mt.suites.arena.controls import against, own_choices
from pytest_recsys_mt.suites.arena.judge_prompts import (
    SCORES,
    choice_prompt,
    profile_prompt,
    whole_prompt,
)
from pytest_recsys_mt.suites.arena.judgement import (
    read_appraisal,
    read_conclusion,
    read_judgement,
)
from pytest_recsys_mt.suites.arena.judging import Winner, genres_of

__all__ = [
    "SCORES",
    "Winner",
    "against",
    "choice_prompt",
    "genres_of",
    "own_choices",
    "profile_prompt",
    "read_appraisal",
    "read_conclusion",
    "read_judgement",
    "whole_prompt",
]

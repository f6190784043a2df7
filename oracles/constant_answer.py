"""A model must choose by what the options say, not by where they stand.

Where the place of the right option is drawn uniformly, a model that reads the options chooses all
places about equally often.  One that always takes the same place scores the share of questions whose
right option stands there: near chance, and unnoticed in a table of scores.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_recsys_mt.answers import Choices, Context
from pytest_recsys_mt.errors import OracleError
from pytest_recsys_mt.oracles.judging.multiple_choice import judged, obstacle
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.verdict import Verdict


def constant_answer(
    choices: Choices,
    context: Context,
    limit: float = 0.75,
    *,
    details: Mapping[str, Any] | None = None,
) -> Verdict:
    """No place among the options may be chosen more often than `limit` of the time.

    The place is the one chosen most often, so its bounds are taken at alpha over the number of
    options (Bonferroni).

    Args:
        choices: What was chosen; missed answers are left out.
        context: Of the run.
        limit: Largest share of one place, above chance and below 1.
        details: Further details of the verdict.

    Returns:
        A verdict whose `value` is that share: ``violated`` names the option. It is violated as well
        where nothing else was ever chosen and choosing all places alike would hardly do that, with
        probability alpha at most; then it says ``constant answer``. Its details have the ``figures`` ``position_entropy`` (of the
        places chosen, 0 for a constant answer and 1 for all alike) and ``position_p`` (chi-square,
        of the hypothesis that all places are chosen alike; None without enough answers).

    Raises:
        OracleError: If the limit is out of range.
    """
    if not 1 / choices.options < limit < 1:
        raise OracleError(
            f"constant_answer: limit must lie above chance, {1 / choices.options:g}, and below 1, "
            f"got {limit!r}"
        )
    found = obstacle("constant_answer", context, choices, details=details)
    if found is not None:
        return context.report(found)
    places = [place for place in choices.chosen if place is not None]
    if not places:
        reason = "no answer chose any option"
        verdict = Verdict("not-applicable", "constant_answer", choices.label, reason=reason)
        return context.report(verdict)
    place, count = max(Counter(places).items(), key=lambda each: (each[1], -each[0]))
    share = choices.right.count(place) / len(choices.right)
    told = f"option {place + 1} is chosen in {count / len(places):.1%} of the answers"
    if count == len(places):
        told = f"constant answer: always option {place + 1}"
    figures = {
        "most_chosen_option": place + 1,
        "its_share_of_right_answers": share,
        "position_entropy": entropy(places, choices.options),
        "position_p": uniform_p(places, choices.options),
    }
    told += f", which is right in {share:.1%} of the questions"
    verdict = judged(
        "constant_answer",
        Rate(count, len(places)),
        "at most",
        limit,
        Context(context.alpha / choices.options),
        relation=choices.label,
        metric="most_chosen",
        value=count / len(places),
        threshold=limit,
        users=len(places),
        errors=len(choices.failed),
        reason=told,
        details={"figures": figures, **(details or {})},
    )
    unanimous = float(choices.options) ** (1 - len(places))
    if count == len(places) and unanimous <= context.alpha:
        verdict = replace(verdict, status="violated", p_value=unanimous, reason=told)
    return context.report(verdict)


def entropy(places: list[int], options: int) -> float:
    """Shannon's entropy of the places chosen over its largest value: 0 for one place, 1 for all.

    Args:
        places: Chosen, from 0; at least one.
        options: How many there are.
    """
    shares = [count / len(places) for count in Counter(places).values()]
    return abs(sum(share * math.log(share) for share in shares)) / math.log(options)


def uniform_p(places: list[int], options: int) -> float | None:
    """P-value of Pearson's chi-square test that all places are chosen alike.

    Args:
        places: Chosen, from 0.
        options: How many there are.

    Returns:
        None below five answers an option, where the distribution is no chi-square.
    """
    if len(places) < 5 * options:
        return None
    from scipy.stats import chisquare

    return float(chisquare([places.count(place) for place in range(options)]).pvalue)

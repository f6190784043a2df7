"""A model must choose options by their text, not by their place.

A model that always chooses the same place is right whenever the right option stands
there. Its score is near chance, and a table of scores does not show the fault.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pytest_recsys_mt.oracles.judging.multiple_choice import begun, judged
from pytest_recsys_mt.oracles.statistics.bounds import Rate
from pytest_recsys_mt.oracles.statistics.position_bias import chosen_places_test
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.verdict.answers import Choices, Context
from pytest_recsys_mt.verdict.verdict import Verdict


def constant_answer(
    choices: Choices,
    context: Context,
    limit: float = 0.75,
    *,
    details: Mapping[str, object] | None = None,
) -> Verdict:
    """No place among the options may be chosen in more than `limit` of the answers.

    The oracle judges the place chosen most often, so it takes the bounds at alpha over
    the number of options (Bonferroni). A missed answer may have chosen any option.
    Arguments are those of `better_than_chance`, but `limit` is above chance and below
    1.

    Example:
        assert constant_answer(replies.choices, recsys.context, limit=0.75)

    Returns:
        A verdict whose `value` is that share. A violated verdict names the option. The
        verdict is also ``violated``, with the reason ``constant answer``, if only one
        place was ever chosen and uniform choices would do that with probability at most
        alpha. The ``figures`` in its details give ``position_entropy`` (of the chosen
        places: 0 for a constant answer, 1 for uniform choices) and ``position_p``
        (chi-square test of uniform choices; None without enough answers).
    """
    if not 1 / choices.options < limit < 1:
        raise OracleError(
            f"constant_answer: limit must lie above chance, {1 / choices.options:g}, and below 1, "
            f"got {limit!r}",
        )
    found, done = begun(
        "constant_answer",
        context,
        choices,
        details=details,
        column=False,
    )
    if done:
        return found
    places = [place for place in choices.chosen if place is not None]
    place, count = max(Counter(places).items(), key=lambda each: (each[1], -each[0]))
    share = choices.right.count(place) / len(choices.right)
    reason = _in_words(place, count, len(places), share)
    verdict = judged(
        found,
        Rate(count, len(places), len(choices.chosen) - len(places)),
        "at most",
        limit,
        Context(context.alpha / choices.options),  # it reports nothing
        details={"figures": _figures(places, place, share, choices.options)},
        metric="most_chosen",
        value=count / len(places),
        measures="share of answers that choose one place",
        users=len(places),
        reason=reason,
    )
    if count == len(choices.chosen):
        verdict = _of_one_place(verdict, choices, reason, context.alpha)
    return context.report(verdict)


def _figures(
    places: list[int],
    most_chosen: int,
    right: float,
    options: int,
) -> dict[str, float | None]:
    """The place chosen most often, in what share of questions it is right, and how
    uniform the choices are.
    """
    return {
        "most_chosen_option": most_chosen + 1,
        "its_share_of_right_answers": right,
        "position_entropy": entropy(places, options),
        "position_p": uniform_p(places, options),
    }


def _of_one_place(
    verdict: Verdict,
    choices: Choices,
    reason: str,
    alpha: float,
) -> Verdict:
    """The verdict if only one place was ever chosen: violated unless uniform choices
    would do that too often.
    """
    unanimous = float(choices.options) ** (1 - len(choices.chosen))
    if unanimous > alpha:
        return verdict
    return replace(verdict, status="violated", p_value=unanimous, reason=reason)


def _in_words(place: int, count: int, answers: int, right: float) -> str:
    """How often the place chosen most often is chosen, and the
    share of questions in which it is right.
    """
    often = f"option {place + 1} is chosen in {count / answers:.1%} of the answers"
    if count == answers:
        often = f"constant answer: always option {place + 1}"
    return f"{often}, which is right in {right:.1%} of the questions"


def entropy(places: list[int], options: int) -> float:
    """Shannon's entropy of the chosen places over its maximum:
    0 for one place, 1 for uniform choices.
    """
    shares = [count / len(places) for count in Counter(places).values()]
    return abs(sum(share * math.log(share) for share in shares)) / math.log(options)


def uniform_p(places: list[int], options: int) -> float | None:
    """P-value of Pearson's chi-square test of equal choices; None below five answers
    per option, where it fails.
    """
    return (
        chosen_places_test(places, options)[1] if len(places) >= 5 * options else None
    )

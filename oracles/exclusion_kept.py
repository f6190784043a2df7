"""What a user excludes must not be recommended."""

import re
from functools import partial

from pytest_recsys_mt.oracles.judging.difference import judge_mean, paired_differences
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.answers import Answers, Asked, Context, offer_of
from pytest_recsys_mt.verdict.verdict import Verdict


def exclusion_kept(source: Answers, followup: Answers, margin: float = 0.1) -> Verdict:
    """The follow-up's answers must not name items of a genre that its instruction
    excludes.

    A genre of the catalogue is excluded if the follow-up's instruction has its name
    between straight double quotes and the source's has not. The effect of a user is the
    share of the k places of the follow-up's answers that have an item of an excluded
    genre. The catalogue says what genres an item has; a text model may think otherwise,
    so the margin is not zero.

    Arguments are those of `same_ranking`, but `margin` is the largest mean share of
    such places.

    Example:
        assert exclusion_kept(recsys.run(), recsys.run(exclude_genre), margin=0.1)

    Returns:
        ``holds`` if the mean share is below the margin, ``violated`` if it is above.
        Users for whom nothing on offer is excluded are not applicable.
    """
    measures = "share of places with what the user excluded"
    measure = partial(paired_differences, number=_share)
    return judge_mean(
        "exclusion_kept",
        "at most",
        source,
        followup,
        margin,
        measures=measures,
        measure=measure,
    )


def _share(source: Asked, followup: Asked, context: Context) -> float:
    instructions = [asked.request.instruction for asked in (source, followup)]
    before, after = (set(re.findall(r'"([^"]+)"', text)) for text in instructions)
    offer = offer_of(followup, context.items)
    banned = {item for item in offer if (after - before) & _genres(item, context)}
    if not banned:
        raise NotApplicable("the instruction excludes no genre of what is offered")
    places = min(followup.request.k, len(offer))
    named = [
        sum(item in banned for item in dict.fromkeys(answer.items[:places]))
        for answer in followup.answers
    ]
    return sum(named) / len(named) / places


def _genres(item: str, context: Context) -> set[str]:
    known = context.items.get(item)
    return set(known.attributes.get("genres", ())) if known else set()

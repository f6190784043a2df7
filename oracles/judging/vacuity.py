"""A promise about what a recommender does not read is kept, and says nothing: it is kept vacuously."""

from dataclasses import replace

from pytest_recsys_mt.answers import Answers
from pytest_recsys_mt.verdict import Verdict


def with_vacuity(verdict: Verdict, source: Answers, followup: Answers) -> Verdict:
    """A verdict that holds, with what the recommender does not read of what its relation changes."""
    context = source.context
    moved = context.deterministic and any(verdict.per_user.values())
    holds = verdict.status == "holds" and not moved
    if verdict.allowed == "at least" or not (holds or context.made_up):
        return verdict
    unread = context.unread(source, followup)
    if unread is None or not holds:
        return verdict
    details = {**verdict.details, "unread": dict(unread.shown)}
    return replace(verdict, vacuous=unread.aspect, details=details)

"""The comparison: which recommender the judge prefers, in one aspect or overall."""

from typing import Any

from pytest_recsys_mt.oracles.arguments import not_negative
from pytest_recsys_mt.oracles.judging.claim import Claim
from pytest_recsys_mt.oracles.judging.seen import Seen
from pytest_recsys_mt.oracles.judging.steps import step_by_step
from pytest_recsys_mt.suites.arena.arena import Arena
from pytest_recsys_mt.suites.arena.judging import OVERALL
from pytest_recsys_mt.suites.arena.outcomes import ORDERS, Outcomes, outcomes
from pytest_recsys_mt.suites.arena.standings import offline_metrics
from pytest_recsys_mt.suites.arena.trust import Trust, untrusted
from pytest_recsys_mt.verdict.verdict import Verdict, annotate


def preferred(
    arena: Arena,
    aspect: str = OVERALL,
    *,
    margin: float = 0.0,
    trusted: Trust | None = None,
) -> Verdict:
    """The judge prefers the recommender under test.

    The effect of a user is the mean over both orders of 1 for a win, 0 for a tie, -1
    for a loss. Users are judged in steps until the verdict is clear at the declared
    error rates.

    Args:
        arena: The two recommenders and the judge.
        aspect: Name of one of the arena's aspects, or ``overall``.
        margin: The mean preference must be above it, at least 0.
        trusted: The limits of the judge's own tests: a judge that fails any of them
            makes the verdict inconclusive. None does not test the judge.

    Returns:
        A verdict, reported; ``details["figures"]`` has wins, ties, losses, Q with its
        interval over users (95 %), the judge's preference for the list shown first, the
        comparisons made and saved, and the recommender's AUC, nDCG, URD.
    """
    margin = not_negative("preferred", "margin", margin)
    return _compared("preferred", arena, aspect, margin, trusted)


def not_less_preferred(
    arena: Arena,
    aspect: str = OVERALL,
    *,
    margin: float,
    trusted: Trust | None = None,
) -> Verdict:
    """The judge does not prefer the other recommender by more than a margin.

    Args:
        arena: As in `preferred`.
        aspect: As in `preferred`.
        margin: How far losses may outweigh wins, as a share of all comparisons, above
            0.
        trusted: As in `preferred`.

    Returns:
        As `preferred`; ``estimate`` and ``interval`` are of the preference for the
        recommender under test, and must stay above the verdict's margin. ``holds``
        needs a judge that was seen to distinguish users' own choices from random items
        in this aspect (`judge_sees`).
    """
    margin = not_negative("not_less_preferred", "margin", margin)
    return _compared("not_less_preferred", arena, aspect, -margin, trusted)


def _compared(
    oracle: str,
    arena: Arena,
    aspect: str,
    limit: float,
    trusted: Trust | None,
) -> Verdict:
    arena.require(oracle, aspect)
    context = arena.context
    measures = f"lead over {arena.names[1]} in the judge's comparisons"
    claim = Claim(f"{oracle}:{aspect}", "at least", limit, measures=measures)
    looks: list[tuple[int, Outcomes]] = []

    def see(users: int) -> Seen:
        pairs = arena.pairs(users)
        found = outcomes(arena, pairs, aspect)
        looks.append((users, found))
        effects = found.effects(context.error_limit)
        unclear = () if effects.obstacle else found.unclear
        return Seen.of(effects, pairs, pairs.source, pairs.followup, unclear=unclear)

    relation = f"{aspect} against {arena.names[1]}"
    users = arena.users
    verdict = step_by_step(claim, relation, context, users, see)
    asked, found = looks[-1]
    if len(found.rows):
        details = _details(aspect, found, users - asked, verdict)
        if found.effects(context.error_limit).obstacle:
            for name in [
                name
                for name in details["figures"]
                if name[0] == "Q" or "percent" in name
            ]:
                del details["figures"][name]
        offline = offline_metrics(arena.ours.sample(asked), context)
        details["figures"] |= {
            name: value for name, value in offline.items() if value is not None
        }
        verdict = annotate(verdict, **details)
    allowed = -limit if oracle == "not_less_preferred" else None
    return context.report(
        untrusted(verdict, arena, trusted, aspect=aspect, allowed=allowed),
    )


def _details(
    aspect: str,
    found: Outcomes,
    users_saved: int,
    verdict: Verdict,
) -> dict[str, Any]:
    figures = {
        **found.figures,
        "preference for the first list": float(found.first.mean()),
        "comparisons made": ORDERS * len(found.rows),
        "comparisons saved": ORDERS * users_saved,
    }
    out: dict[str, Any] = {"figures": figures}
    if verdict.estimate is not None and verdict.interval is not None:
        low, high = verdict.interval
        out["dimension"] = {
            "name": aspect,
            "value": (1 + verdict.estimate) / 2,
            "low": max(0.0, (1 + low) / 2),
            "high": min(1.0, (1 + high) / 2),
        }
    return out

"""Checks whether a recommender's answers changed during the run: sends some users'
requests again at the end.

Relations have their own guard (`oracles.judging.together`); this module reports such a
change as drift.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from pytest_recsys_mt.calls.bill import Drained
from pytest_recsys_mt.calls.call import AGAIN
from pytest_recsys_mt.calls.subject import Difference
from pytest_recsys_mt.engine.outcomes import Outcome
from pytest_recsys_mt.engine.questions import Questions, send
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.gate.document import Drift, Planted
from pytest_recsys_mt.oracles.judging.effect import similarity_effects
from pytest_recsys_mt.oracles.judging.together import lasting
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.oracles.statistics.betting import Bets
from pytest_recsys_mt.requests.design import generator
from pytest_recsys_mt.safety.errors import RecsysError
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.answers import Pairs

USERS = 20
"""Users whose requests are sent again, each with as many replicates as before."""

MARGIN = 0.05
"""A smaller change of the mean user's list affects no shipped relation."""

ALPHA = 0.01
"""How often a run may report changed answers although none changed."""


class Again(Drained):
    """The findings of one process at its end: its drifts, the calls that it had not
    counted yet, the notes on the data and of its recommenders (`abilities.notes_of`),
    the changes by planted faults, `run_facts.lists`, `run_facts.groups` and
    `run_facts.varying`.
    """

    drifts: list[Drift]
    notes: list[str]
    planted: list[Planted]
    lists: dict[str, dict[str, list[str]]]
    groups: dict[str, dict[str, str]]
    varying: list[str]


def unreported(workers: int) -> Again:
    """The findings in place of those of workers that were
    killed at the end of the run, and reported nothing.
    """
    which = "1 worker" if workers == 1 else f"{workers} workers"
    note = (
        f"{which} did not stop when told to, and had to be killed: the calls since the last test that ended there are not "
        f"in these sums; answers that arrived are kept"
    )
    return {
        "calls": {},
        "causes": [],
        "drifts": [],
        "notes": [note],
        "planted": [],
        "lists": {},
        "groups": {},
        "varying": [],
    }


def sent_again(runner: Runner) -> Drift | None:
    """Send some users' unchanged requests once more, and compare the answers.

    None if no calls were sent separately from the source's, or if too few users
    answered again. A run that sends nothing, as it finds all its answers in the cache,
    finds these there too; if the run that made them was killed within its check, it
    sends the rest.
    """
    if not runner.sent_apart:
        return None
    name = runner.subject.name
    # When its latest batch began: in this run, or in the one whose answers it found.
    sent, found = (
        times.get(name) for times in (runner.executor.latest, runner.executor.found)
    )
    latest = found if sent is None else sent
    if latest is None:
        return None
    earlier = {
        position: outcome
        # In an order that the answers did not come in, so that a resumed run chooses
        # the same users.
        for position, outcome in sorted(runner.first_outcomes.items())
        # A call whose time is unknown counts as sent long ago.
        if outcome.asked is not None
        and min(time or 0.0 for time in outcome.times) < latest
    }
    side = Side(runner, runner.context())
    first = int(generator(runner.settings.seed, "asked again").integers(AGAIN, 2**31))
    chosen = dict(list(earlier.items())[:USERS])
    if (
        sent is None and name in runner.executor.shared
    ):  # which another worker sends, and checks
        chosen = _kept_again(side, chosen, first, latest)
    if not chosen:
        return None
    since = latest if sent is None else math.inf
    try:
        (outcomes,) = send(Questions(side, chosen, first), since=since)
    except RecsysError as error:
        _note_unfinished(runner, 0, len(chosen), str(error))
        return None
    lost = [why for each in outcomes.values() if (why := each.unasked or each.error)]
    if lost:
        _note_unfinished(runner, len(chosen) - len(lost), len(chosen), lost[0])
    return _compared(runner, side, chosen, outcomes)


def _note_unfinished(runner: Runner, answered: int, chosen: int, why: str) -> None:
    """Note in the record and at the end of the run that the
    check is incomplete, and why.
    """
    which = "1 user" if chosen == 1 else f"{chosen} users"
    note = (
        f"the check whether answers changed was not finished: {answered} of {which} of {one_line(runner.subject.name)} "
        f"answered again; {one_line(why)}"
    )
    if note not in runner.executor.notes:
        runner.executor.notes.append(note)


def _compared(
    runner: Runner,
    side: Side,
    chosen: Mapping[int, Outcome],
    outcomes: Mapping[int, Outcome],
) -> Drift | None:
    """The drift by the second answers of the chosen users;
    None if too few of them answered.
    """
    both = [(before.asked, outcomes[place].asked) for place, before in chosen.items()]
    pairs = [
        (before, after)
        for before, after in both
        if before is not None and after is not None
    ]
    if len(pairs) < 2:
        return None
    source, again = zip(*pairs, strict=True)
    once = all(len(asked.answers) == 1 for asked in source)
    exact = runner.subject.deterministic and once
    context = replace(side.context, deterministic=exact)
    effects = similarity_effects(Pairs(tuple(source), tuple(again)), context, rbo)
    if effects.obstacle or len(effects.rows) < 2:
        return None
    changed = int((effects.effect > 0).sum()) if context.deterministic else None
    mean = Bets(effects.effect, *effects.reach)
    known, last = (
        [
            time
            for outcome in each.values()
            for time in outcome.times
            if time is not None
        ]
        for each in (chosen, outcomes)
    )
    found: Drift = {
        "model": runner.subject.name,
        "users": len(effects.rows),
        "changed": changed,
        "effect": float(effects.effect.mean()),
        "seconds": round(max(last) - min(known), 1) if known and last else None,
        "drifted": bool(
            changed if changed is not None else mean.p_at_most(MARGIN) <= ALPHA,
        ),
        "reason": "",
    }
    if found["drifted"]:
        found["reason"] = _reason(found)
    return found


def differed(runner: Runner) -> Drift | None:
    """The difference that verdicts saw: two answers to one request, of a recommender
    that declares itself deterministic.

    None if a verdict is about that, or if none differed. Such a recommender counts as
    stochastic from then on.
    """
    subject = runner.subject
    users = len(subject.differed)
    is_unreported = subject.earlier_difference is Difference.UNREPORTED
    if not subject.deterministic or not is_unreported or not users:
        return None
    which = "1 user" if users == 1 else f"{users} users"
    return {
        "model": subject.name,
        "users": users,
        "changed": users,
        "effect": 0.0,
        "seconds": None,
        "drifted": True,
        "reason": (
            f"answers changed while we asked {one_line(subject.name)}: {which} got another answer to a request that was "
            f"sent again beside others, and it declares itself deterministic"
        ),
    }


def _kept_again(
    side: Side,
    earlier: dict[int, Outcome],
    first: int,
    since: float,
) -> dict[int, Outcome]:
    runner = side.runner
    if not runner.subject.durable or not earlier:
        return {}
    places, calls = zip(*Questions(side, earlier, first).sent(), strict=True)
    kept = runner.executor.at_hand(runner.subject, calls, since)
    lacking = {place for place, answer in zip(places, kept, strict=True) if not answer}
    return {
        place: outcome for place, outcome in earlier.items() if place not in lacking
    }


def _reason(drift: Drift) -> str:
    seconds = drift["seconds"]
    when = "later" if seconds is None else f"{lasting(seconds)} later"
    if drift["changed"] is not None:
        what = (
            f"{drift['changed']} of {drift['users']} users got another answer to the same request "
            f"{when}, and it declares itself deterministic"
        )
    else:
        what = (
            f"{drift['users']} users asked again {when} agree with their first answers "
            f"{drift['effect']:.2f} less than its own noise explains"
        )
    return f"answers changed while we asked {one_line(drift['model'])}: {what}"

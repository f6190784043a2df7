"""Whether equal answers to one request are draws of a model without noise, or one draw that is repeated.

A cache before a model, or a server that ignores the seed, answers an equal prompt alike and every changed one anew.
Then replicates show no noise, and a changed prompt seems to move every list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_recsys_mt.answers import Asked
from pytest_recsys_mt.calls.causes import CONTROL
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.errors import MissingAnswerError
from pytest_recsys_mt.relations.transformation import Generator
from pytest_recsys_mt.requests import Request

USERS = 20
"""Users whose replicates are compared."""
SALTED = 10
"""Users who are asked with `SALT`."""
SALT = "\n\n[1]"
"""What ends a prompt that no cache knows."""


def doubt(runner: Runner) -> str:
    """Why the noise of a recommender is unknown although it was asked more than once; empty if it is known.

    A recommender in this process is asked afresh each time, so its equal replicates are what it answers. One that is
    asked over the network, or that reads text, is asked again with `SALT` behind its prompt: if that changes no
    answer, there is no noise that a cache could hide.
    """
    subject = runner.subject
    if runner.deterministic or runner.replicates < 2 or not (subject.live and subject.waits):
        return ""
    if runner.settings.plan:
        if runner.unvaried is None and subject.reads_text:
            runner.planned_again(SALTED * runner.replicates)
        runner.unvaried = ""
    if runner.unvaried is None:
        runner.unvaried = _doubt(runner)
    return runner.unvaried


def _doubt(runner: Runner) -> str:
    context = replace(runner.context(), family=1, ask_everybody=False)
    source = Side(runner, context, purpose=CONTROL).sample(USERS).asked
    if any(len({answer.items for answer in asked.answers}) > 1 for asked in source):
        return ""
    name = runner.subject.name
    told = (
        f"all answers of {name} to one request are equal, though it does not say that it is deterministic: a cache "
        f"before it, or a server that ignores the seed"
    )
    if runner.subject.reads_text:
        changed = _changed_by_salt(runner, source)
        if changed == 0:
            return ""
        if changed:
            told += (
                f"; with {SALT.strip()!r} behind the prompt {changed:.0%} of the answers are others"
            )
    note = (
        f"{told}. So its noise is unknown, and no change of its answers is called a violation. Turn the cache off, or "
        f"declare it: deterministic=true in its spec, or the attribute of your class"
    )
    if note not in runner.executor.notes:
        runner.executor.notes.append(note)
    return f"the noise of {name} is unknown, since all its answers to one request are equal; see the note of the run"


def _changed_by_salt(runner: Runner, source: Sequence[Asked]) -> float | None:
    """The share of users whose answer another end of the prompt changes; None if it cannot be asked."""

    def salted(request: Request, rng: Generator) -> Request:
        return request.replace(edits=(*request.edits, _salt))

    try:
        found = Side(runner, runner.context(), (salted,), purpose=CONTROL).sample(SALTED).asked
    except MissingAnswerError:
        return None
    before = {asked.user: asked.answers[0].items for asked in source}
    changed = [before.get(asked.user) != asked.answers[0].items for asked in found]
    return sum(changed) / len(changed) if changed else None


def _salt(text: str) -> str:
    return text + SALT

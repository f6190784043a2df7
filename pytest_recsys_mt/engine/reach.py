"""Whether a planted fault that no test has met would be met by the relation that finds it."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from pytest_recsys_mt.calls.causes import CONTROL
from pytest_recsys_mt.engine.faulty import Faulty
from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.errors import RecsysError

USERS = 20
"""Users who are asked for it."""


def probe(runner: Runner) -> None:
    """Compare answers with and without the fault where no test looks, if it changed none that tests asked for.

    A fault that shows nowhere else is equivalent to none. One that shows there was missed.
    """
    faulty = runner.subject
    if not isinstance(faulty, Faulty) or faulty.met or not faulty.live:
        return
    cure = faulty.dose.kind.cure
    change = None if cure is None else cure.transformation()
    if change is None or ("text" in getattr(change, "needs", ()) and not faulty.reads_text):
        return
    context = replace(runner.context(), family=1, ask_everybody=False)
    source = Side(runner, context, purpose=CONTROL)
    followup = Side(runner, context, (change,), 1, purpose=CONTROL)
    faulty.probed = True
    with contextlib.suppress(RecsysError):  # a limit, or a replay without these answers
        source.pair(followup, min(USERS, source.applicable(followup)))
    faulty.probed = False

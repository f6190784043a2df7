"""The new process that `elsewhere` starts, which answers its requests."""

from __future__ import annotations

import json
import os
import pickle
import sys
from dataclasses import replace

from pytest_recsys_mt import prompt_texts
from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.engine.elsewhere import Elsewhere
from pytest_recsys_mt.engine.roster import Fit
from pytest_recsys_mt.engine.run import Run


def main(out: int) -> None:
    """Answer the order on standard input: as JSON in the file `out`, in the order of the requests."""
    order: Elsewhere = pickle.load(sys.stdin.buffer)
    # The users are already drawn; only the training data is made again.
    prompt_texts.use(order.settings.prompts)
    run = Run(replace(order.settings, sampler=None, executor="local"), name="elsewhere")
    design = order.design
    fit = Fit(design.training_history, design.initialisation, fold=design.fold)
    made = run.roster.recommender(order.spec)
    known = run.roster.under_test(made, order.spec, design.prompt, fit)
    calls = [known.call(request, repeat) for request, repeat in order.requests]
    answers: dict[int, Answer] = {}
    for arrived in known.ask(calls):
        answers.update(arrived)
    run.close()
    missing: Answer = {"error": f"{order.spec} gave no answer"}
    with os.fdopen(out, "w") as file:
        json.dump([answers.get(place, missing) for place in range(len(calls))], file)

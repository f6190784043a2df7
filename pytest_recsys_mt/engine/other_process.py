"""The program of the new process of `engine.elsewhere`."""

import json
import os
import pickle
import sys
from dataclasses import replace

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.engine.elsewhere import Elsewhere
from pytest_recsys_mt.engine.refits import Fit
from pytest_recsys_mt.engine.run import Run
from pytest_recsys_mt.llm import prompt_texts


def main(out: int) -> None:
    """Answer the order on standard input.

    Args:
        out: The file descriptor to write the answers to, as a JSON list in the order of
            the requests.
    """
    order: Elsewhere = pickle.load(sys.stdin.buffer)
    # The users are already drawn; only the training data is made again.
    prompt_texts.use(order.settings.prompts)
    run = Run(replace(order.settings, sampler=None, executor="local"), name="elsewhere")
    design = order.design
    fit = Fit(design.training_history, design.initialisation, fold=design.fold)
    recommender = run.recommenders.recommender(order.spec)
    subject = run.recommenders.under_test(recommender, order.spec, design.prompt, fit)
    calls = [subject.call(request, repeat) for request, repeat in order.requests]
    answer_by_place: dict[int, Answer] = {}
    for arrived in subject.ask(calls):
        answer_by_place.update(arrived)
    run.close()
    missing: Answer = {"error": f"{order.spec} gave no answer"}
    answers = [answer_by_place.get(place, missing) for place in range(len(calls))]
    with os.fdopen(out, "w") as file:
        json.dump(answers, file)

"""Ways to send calls that must not change an answer: one by one, in one batch, or from another process."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_recsys_mt import prompt_texts
from pytest_recsys_mt.calls.answer import Answer, failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.sending import FAILURES
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.design import Design

# The recommender's own output must not mix with the answers, which use a copy of standard output.
_PROGRAM = """
import os, sys
answers = os.dup(1)
os.dup2(2, 1)
sys.path[:] = sys.argv[1:]
from pytest_recsys_mt.engine.elsewhere import main
main(answers)
"""


def alone(subject: Subject, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
    """Send each call by itself, in the order given; yields as `Subject.ask` does."""
    for position, call in enumerate(calls):
        for arrived in subject.ask([call]):
            yield [(position, answer) for _, answer in arrived]


def in_one_batch(subject: Subject, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
    """Send all calls in one batch, in the order of their keys; yields as `Subject.ask` does."""
    order = sorted(range(len(calls)), key=lambda position: calls[position].key)
    for arrived in subject.ask([calls[position] for position in order]):
        yield [(order[place], answer) for place, answer in arrived]


@dataclass(frozen=True)
class Elsewhere:
    """Sends calls to a new process, which makes the recommender anew from its spec.

    The new process has other hashes of text and other addresses of objects. Anything that depends
    on them differs there. It gets this object as a pickle, which only its parent sends.
    """

    settings: Settings
    spec: str
    design: Design  # decides what the recommender is fitted to, and its prompt
    requests: tuple[tuple[Request, bool], ...] = ()  # each with whether it is a repeat

    def __call__(
        self, subject: Subject, calls: Sequence[Call]
    ) -> Iterator[list[tuple[int, Answer]]]:
        requests = tuple(
            (call.request, bool(call.content["repeat"]))
            for call in calls
            if call.request is not None
        )
        try:
            answers = replace(self, requests=requests)._answers()
        except FAILURES as error:
            answers = [failure(error)] * len(calls)
        yield list(enumerate(answers))

    def _answers(self) -> list[Answer]:
        seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
        done = subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM, *sys.path, *_home(self.spec)],
            input=pickle.dumps(self),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=False,
        )
        if done.returncode or not done.stdout:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
            raise RuntimeError(
                f"the process that was to answer ended with {done.returncode} and no answers, and said: "
                f"{said[-1]}"
            )
        answers: list[Answer] = json.loads(done.stdout)
        return answers


def _home(spec: str) -> list[str]:
    top = sys.modules.get(spec.partition(":")[0].partition(".")[0])
    file = getattr(top, "__file__", None)
    places = [*getattr(top, "__path__", [])[:1], *([file] if file else [])]
    return [str(Path(places[0]).absolute().parent)] if places else []


def main(out: int) -> None:
    """In the new process: answer the order on standard input, as JSON in the file `out`, in the order of the requests."""
    from pytest_recsys_mt.engine.refits import Fit
    from pytest_recsys_mt.engine.run import Run

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

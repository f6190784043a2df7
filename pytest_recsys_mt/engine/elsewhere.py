"""Ways to send calls that must not change an answer: one by
one, in one batch, or from another process.
"""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_recsys_mt.calls.answer import FAILURES, Answer, failure
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.design import Design

# The recommender's own output must not mix with the answers, which use a copy of
# standard output.
_PROGRAM = """
import os, sys
answers = os.dup(1)
os.dup2(2, 1)
sys.path[:] = sys.argv[1:]
from pytest_recsys_mt.engine.other_process import main
main(answers)
"""


def alone(
    subject: Subject,
    calls: Sequence[Call],
) -> Iterator[list[tuple[int, Answer]]]:
    """Send each call by itself, in the order given; yields as `Subject.ask` does."""
    for place, call in enumerate(calls):
        for arrived in subject.ask([call]):
            yield [(place, answer) for _, answer in arrived]


def in_one_batch(
    subject: Subject,
    calls: Sequence[Call],
) -> Iterator[list[tuple[int, Answer]]]:
    """Send all calls in one batch, in the order of their
    keys; yields as `Subject.ask` does.
    """
    order = sorted(range(len(calls)), key=lambda place: calls[place].key)
    batch = [calls[place] for place in order]
    for arrived in subject.ask(batch):
        yield [(order[place_in_batch], answer) for place_in_batch, answer in arrived]


@dataclass(frozen=True)
class Elsewhere:
    """Sends calls to a new process, which makes the recommender again from its spec.

    The new process has other hashes of text and other addresses of objects. Anything
    that depends on them differs there. It gets this object as a pickle, which only its
    parent sends.

    Attributes:
        settings: Those of the run.
        spec: Names the recommender.
        design: Decides the training data of the recommender, and its prompt.
        requests: The requests to send, each with whether it is a repeat.
    """

    settings: Settings
    spec: str
    design: Design
    requests: tuple[tuple[Request, bool], ...] = ()

    def __call__(
        self,
        subject: Subject,
        calls: Sequence[Call],
    ) -> Iterator[list[tuple[int, Answer]]]:
        requests = []
        for call in calls:
            if call.request is not None:
                is_repeat = bool(call.content["repeat"])
                requests.append((call.request, is_repeat))
        order = replace(self, requests=tuple(requests))
        try:
            answers = order._answers()
        except FAILURES as error:
            answers = [failure(error)] * len(calls)
        yield list(enumerate(answers))

    def _answers(self) -> list[Answer]:
        """The answers of the new process, in the order of the requests.

        Raises:
            RuntimeError: If it ends without answers; the text has the last line of its
                standard error.
        """
        # Another seed than that of this process, so that the hashes differ.
        hash_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
        process = subprocess.run(
            [
                sys.executable,
                "-P",
                "-c",
                _PROGRAM,
                *sys.path,
                *_folder_of_module(self.spec),
            ],
            input=pickle.dumps(self),
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=False,
        )
        if process.returncode or not process.stdout:
            lines = process.stderr.decode(errors="replace").strip().splitlines()
            last_line = lines[-1] if lines else "nothing"
            raise RuntimeError(
                f"the process that was to answer ended with {process.returncode} and no answers, and said: "
                f"{last_line}",
            )
        answers: list[Answer] = json.loads(process.stdout)
        return answers


def _folder_of_module(spec: str) -> list[str]:
    """The folder to import the spec's module from, if this process has imported it;
    pytest may have imported it from a folder on no path.
    """
    module_name, _, _ = spec.partition(":")
    top_package, _, _ = module_name.partition(".")
    module = sys.modules.get(top_package)
    package_folders = list(getattr(module, "__path__", []))
    if package_folders:
        return [str(Path(package_folders[0]).absolute().parent)]
    file = getattr(module, "__file__", None)
    return [str(Path(file).absolute().parent)] if file else []

"""The trial: every form of all candidates on the recommender as it is, and with planted
faults.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from pytest_recsys_mt.faults.adequacy.judging import adequacy
from pytest_recsys_mt.faults.adequacy.running import Run, Runs
from pytest_recsys_mt.faults.naming import Dose, shipped
from pytest_recsys_mt.safety.errors import FaultError

Row = Mapping[str, Any]
"""A verdict of a record."""

_WORST = ("violated", "error", "inconclusive", "not-applicable", "holds")


@dataclass(frozen=True)
class Outcome:
    """How a test ended without a fault.

    Attributes:
        status: That of its worst verdict; ``skipped`` without any.
        reason: Why it is not applicable or inconclusive, or what is vacuous.
        row: The verdict itself; empty without one.
    """

    status: str
    reason: str = ""
    row: Row = field(default_factory=dict)

    @property
    def is_vacuous(self) -> bool:
        """Whether the promise holds because what changes is not read."""
        return bool(self.row.get("vacuous"))


@dataclass(frozen=True)
class Trial:
    """What was found out.

    Attributes:
        outcomes: By the name of the test.
        finds: The planted faults that each test finds, likewise.
        faults: All planted faults that change answers, with what they do.
        unfound: Those of them that no test finds, with the code of a test that is made
            for them, if there is one.
        not_tried: How many faults were not planted for lack of time.
        record: That of the run without a fault.
    """

    outcomes: Mapping[str, Outcome]
    finds: Mapping[str, frozenset[str]]
    faults: Mapping[str, str]
    unfound: Mapping[str, str]
    not_tried: int
    record: Row

    @property
    def model(self) -> str:
        """The recommender, as the run names it."""
        return str(self.record["models"][0])


def outcomes_of(record: Row) -> dict[str, Outcome]:
    """How each test of a run ended, by its name."""
    rows_by_test: dict[str, list[Row]] = {}
    for row in record["results"]:
        rows_by_test.setdefault(test_name(row["nodeid"]), []).append(row)
    outcomes = {}
    for name, rows in rows_by_test.items():
        worst = min(rows, key=lambda row: _WORST.index(row["status"]))
        reason = worst["reason"] or worst["vacuous"]
        outcomes[name] = Outcome(worst["status"], str(reason or ""), worst)
    return outcomes


def asked_in(record: Row) -> set[str]:
    """The users who were asked the unchanged question in a run."""
    return {user for lists in record["lists"].values() for user in lists}


def test_name(nodeid: str) -> str:
    """The name of a test function, without ``test_`` and its parameters."""
    function = nodeid.rpartition("::")[2].partition("[")[0]
    return function.removeprefix("test_")


def doses(*, free_only: bool) -> list[Dose]:
    """The faults to plant: each kind once, then each a second time with another
    strength, in an order that mixes the sorts.

    A fault in the list is whole at first: only a test of that property finds what is
    wrong in every answer alike. Others have a middle strength at first, which is harder
    to find than the whole fault.

    Args:
        free_only: Leave out those that ask the recommender more than the tests do.
    """
    rounds: tuple[list[Dose], list[Dose]] = ([], [])
    for name, kind in shipped().items():
        if free_only and kind.costs():
            continue
        whole = Dose(name, kind, kind.strengths[-1])
        middle = Dose(name, kind, kind.strengths[len(kind.strengths) // 2])
        is_in_list = kind.__module__.endswith(".listing")
        both = (whole, middle) if is_in_list else (middle, whole)
        rounds[0].append(both[0])
        if both[0].spec != both[1].spec:
            rounds[1].append(both[1])
    return [dose for some in rounds for dose in _mixed(some)]


def _mixed(some: Sequence[Dose]) -> list[Dose]:
    """Faults of several modules, one of each in turn."""
    by_module: dict[str, list[Dose]] = {}
    for dose in some:
        by_module.setdefault(dose.kind.__module__, []).append(dose)
    turns = itertools.zip_longest(*by_module.values())
    return [dose for turn in turns for dose in turn if dose is not None]


def tried(
    runs: Runs,
    chosen: Sequence[Dose],
    seconds: float,
    jobs: int,
    say: Callable[[str], None],
) -> Trial:
    """Run the tests without a fault, and then with each.

    Args:
        runs: Runs the tests.
        chosen: The faults, in the order in which they are planted.
        seconds: For the runs with faults; what is not begun by then is left out.
        jobs: Runs at a time.
        say: Called with what is done.

    Raises:
        FaultError: If no test gives a verdict, or several recommenders are tested.
    """
    baseline = runs.baseline()
    record = baseline.record or {}
    if len(record["models"]) > 1:
        raise FaultError(
            f"the run tests {len(record['models'])} recommenders ({', '.join(record['models'])}), and a file is written "
            f"for one: give one --recsys-model"
        )
    outcomes = outcomes_of(record)
    held = sum(outcome.status == "holds" for outcome in outcomes.values())
    say(f"{held} of {len(outcomes)} forms of tests hold ({baseline.seconds:.0f} s)")
    done = list(_faulty(runs, chosen, seconds, jobs))
    document = adequacy([], baseline, done, 0)
    finds: dict[str, set[str]] = {}
    faults, unfound = {}, {}
    for trial in document["trials"]:
        if trial["fate"] in ("equivalent", "not planted"):
            continue
        faults[trial["fault"]] = trial["does"]
        for nodeid, cell in trial["cells"].items():
            if cell == "killed" and "::" in nodeid:
                finds.setdefault(test_name(nodeid), set()).add(trial["fault"])
        if trial["fate"] != "killed":
            remedy = trial["remedy"]
            unfound[trial["fault"]] = "" if remedy is None else remedy["code"]
    say(
        f"{len(done)} faults planted, {len(faults)} of them change answers, {len(faults) - len(unfound)} are found"
    )
    return Trial(
        outcomes,
        {name: frozenset(found) for name, found in finds.items()},
        faults,
        unfound,
        len(chosen) - len(done),
        record,
    )


def _faulty(
    runs: Runs, chosen: Sequence[Dose], seconds: float, jobs: int
) -> Iterator[tuple[Dose, Run]]:
    """The runs with faults that begin in time, some at a time."""
    begun = time.monotonic()
    for first in range(0, len(chosen), jobs):
        if time.monotonic() - begun > seconds:
            return
        some = chosen[first : first + jobs]
        with contextlib.closing(runs.faulty(some, jobs)) as ending:
            yield from ending


def slug(model: str) -> str:
    """A name for the file of a recommender: ``shop`` for ``shop.py:Shop``, and the host
    of an address.
    """
    url = urlsplit(model)
    if url.scheme in ("http", "https") and url.hostname:
        name = url.hostname
    else:
        spec = model.partition("?")[0]
        name = (spec.rpartition(":")[2] or spec).rpartition("/")[2]
    return re.sub(r"\W+", "_", name).strip("_").lower() or "recommender"

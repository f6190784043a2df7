"""The command `recsys-mt write`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.faults.writing.budget import CALLS, SECONDS, Budget, budget_of
from pytest_recsys_mt.safety.errors import DataError, FaultError
from pytest_recsys_mt.safety.files import written_or
from pytest_recsys_mt.safety.redaction import carries_key, shown

if TYPE_CHECKING:
    from pytest_recsys_mt.faults.writing.candidates import Candidate
    from pytest_recsys_mt.faults.writing.writer import Order

DESCRIPTION = """\
Find out what your recommender reads and keeps, plant faults, and write the few tests that find what can be found, as a
file to own. All further arguments go to pytest: recsys-mt write --recsys-model=shop.py:Shop > tests/test_recsys_shop.py
"""

STOPPED = 130
"""Exit status after Ctrl-C, as of a shell."""

MOST = 12
"""Tests of a file, unless the option says how many."""

FEW_USERS = 20
"""Users of an exact test where calls are counted."""

USUAL_CALLS = 8000
"""About what the trial and the runs on other users send."""

LONGEST = 90.0
"""Seconds that they may take before calls are limited."""

LEAST_PROMISES = 6
"""Fewer are no file worth its calls."""

WRITTEN = "Written by pytest-recsys-mt"
"""Stands in every written file."""

USERS_OF_DEAR = 70
"""Users of a run there, unless the arguments say how many: without a loss, a margin of
0.05 takes 62, and a few more if answers vary."""


def add(groups: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its options."""
    write = groups.add_parser(
        "write",
        help="write the few tests that matter for one recommender, as a file to own",
        usage="recsys-mt write [OPTION ...] --recsys-model=SPEC [pytest's arguments]",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    option = write.add_argument
    budget = (
        f"what may be spent: 60s, 1500calls or 2usd (default: {SECONDS:.0f}s for planted faults, and {CALLS}calls where "
        f"calls cost)"
    )
    option("--budget", type=budget_of, metavar="BUDGET", help=budget)
    option(
        "--most",
        type=_most,
        default=MOST,
        metavar="N",
        help=f"the largest number of tests (default: {MOST})",
    )
    broken = "what becomes of a broken promise: its test is red, or marked xfail(strict=True)"
    option("--broken", choices=("red", "xfail"), default="red", help=broken)
    explain = "write a page in Markdown: every promise with its verdict, faults by tests, what nothing would find"
    option("--explain", type=Path, metavar="FILE", help=explain)
    option(
        "--output",
        type=Path,
        metavar="FILE",
        help="the file to write (default: standard output)",
    )
    option(
        "--jobs",
        type=_most,
        default=min(4, os.cpu_count() or 1),
        metavar="N",
        help="runs of pytest at a time",
    )
    folder = "where the runs are kept; a command that was stopped goes on from there (default: .recsys-write)"
    option(
        "--folder", type=Path, default=Path(".recsys-write"), metavar="DIR", help=folder
    )
    write.set_defaults(command=wrote, pytest=[])


def wrote(given: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        0, or `STOPPED` after Ctrl-C.
    """
    from pytest_recsys_mt.faults.writing.page import head, page
    from pytest_recsys_mt.faults.writing.rendering import whole_file
    from pytest_recsys_mt.faults.writing.trial import slug
    from pytest_recsys_mt.faults.writing.writer import write

    _refuse(given)
    try:
        order, candidates = _order(given)
        file = write(order, candidates, _say)
    except KeyboardInterrupt:
        _say(
            f"stopped; what is done is kept in {given.folder}: the same command goes on from there"
        )
        return STOPPED
    if given.explain is not None:
        _save(given.explain, page(file))
    if not file.tests:
        raise FaultError(
            f"no promise of {file.trial.model} could be settled, so there is nothing to write; {given.folder} has the runs, and "
            f"--explain=FILE says why each was left out"
        )
    name = given.output or Path("tests") / f"test_recsys_{slug(file.trial.model)}.py"
    command = shlex.join(["recsys-mt", "write", *_own_options(given), *given.pytest])
    run = shlex.join(["pytest", str(name), *order.arguments])
    text = whole_file(head(file, command, run), file.tests)
    if given.output is None:
        print(text, end="")
    else:
        _save(given.output, text)
    done = "run them" if given.output else f"save them as {name}, and run them"
    _say(f"{len(file.tests)} tests, {len(text.splitlines())} lines; {done}: {run}")
    return 0


def _own_options(given: argparse.Namespace) -> list[str]:
    """The options of the command that decide what is written, but for the usual ones."""
    options = [] if given.budget is None else [f"--budget={given.budget.text}"]
    options += [] if given.most == MOST else [f"--most={given.most}"]
    return options + ([] if given.broken == "red" else [f"--broken={given.broken}"])


def _refuse(given: argparse.Namespace) -> None:
    """Raise an error for arguments that must not stand in a file, or make no sense, and
    for a file that the command did not write.
    """
    if given.output is not None and given.output.is_file():
        if WRITTEN not in given.output.read_text(encoding="utf-8", errors="replace"):
            raise FaultError(
                f"--output={str(given.output)!r} exists, and this command did not write it; name another file, or move it "
                f"away"
            )
        _say(f"{given.output} is replaced by the new file")
    for argument in given.pytest:
        if carries_key(argument.partition("=")[2]):
            raise FaultError(
                f"{shown(argument)!r} carries a key, and the file would show it; where a server wants one, it belongs in the "
                f"environment"
            )
        if not argument.isprintable():
            raise FaultError(
                f"{argument!r} holds characters that cannot stand in a file"
            )
        if not argument.startswith("-") and Path(argument).exists():
            raise FaultError(
                f"{argument!r} is a file of tests, and this command writes one: give options of pytest alone, such as "
                f"--recsys-model and --recsys-data"
            )


def _order(given: argparse.Namespace) -> tuple[Order, Sequence[Candidate]]:
    """What is to be written, within the budget."""
    from pytest_recsys_mt.faults.writing.candidates import CANDIDATES
    from pytest_recsys_mt.faults.writing.writer import Order
    from pytest_recsys_mt.recommenders import may_cost

    budget = given.budget or Budget()
    spec = _value_of("--recsys-model", given.pytest)
    if spec is None:
        raise FaultError(
            "name the recommender for which a file is written: recsys-mt write --recsys-model=SPEC"
        )
    if may_cost(spec) and budget.calls is None and budget.usd is None:
        # Seconds limit the faults alone: calls that cost something are limited too.
        budget = replace(budget, calls=CALLS)
    order = Order(
        arguments=given.pytest,
        folder=given.folder,
        seconds=budget.seconds or SECONDS,
        most=given.most,
        jobs=given.jobs,
        free_faults=False,
        broken=given.broken,
        thing=_thing(_value_of("--recsys-data", given.pytest)),
    )
    if budget.calls is None and budget.usd is None:
        budget = replace(budget, calls=_calls_of_slow(order, CANDIDATES))
    if budget.calls is None and budget.usd is None:
        return order, CANDIDATES
    return _within(replace(order, free_faults=True), budget, CANDIDATES)


def _calls_of_slow(order: Order, candidates: Sequence[Candidate]) -> int | None:
    """How many calls a recommender answers in `LONGEST`; None if all that are usual."""
    from pytest_recsys_mt.faults.writing.writer import seconds_a_request

    seconds = seconds_a_request(order, candidates)
    if seconds * USUAL_CALLS <= LONGEST:
        return None
    calls = int(LONGEST / seconds)
    _say(
        f"a request takes {1000 * seconds:.0f} ms, so {calls:,} calls are asked; --budget=10000calls asks more"
    )
    return calls


def _value_of(option: str, arguments: Sequence[str]) -> str | None:
    """The value of an option of pytest, in one word or two; None without it."""
    for place, argument in enumerate(arguments):
        name, mark, value = argument.partition("=")
        if name == option:
            return value if mark else next(iter(arguments[place + 1 :]), None)
    return None


def _thing(data: str | None) -> str:
    """The word of the data for an item; empty without one."""
    from pytest_recsys_mt.datasets import load

    return "" if data is None else load(data).thing


def _within(
    order: Order, budget: Budget, candidates: Sequence[Candidate]
) -> tuple[Order, Sequence[Candidate]]:
    """The candidates and the users that calls or dollars allow, by the plan."""
    from pytest_recsys_mt.faults.writing.writer import planned

    order = replace(
        order, exact_users=FEW_USERS, arguments=_with_few_users(order.arguments)
    )
    chosen = list(candidates)
    while True:
        calls, usd = planned(order, chosen)
        spent = calls / budget.calls if budget.calls else usd / (budget.usd or 1)
        # Half is for the run on other users.
        if spent <= 0.5 or len(chosen) == 1:
            break
        chosen = chosen[: max(1, int(len(chosen) * min(0.8, 0.5 / spent)))]
    left = len(candidates) - len(chosen)
    if len(chosen) < LEAST_PROMISES:
        raise FaultError(
            f"--budget={budget.text} is enough for {len(chosen)} promises, too few for a file: the trial and the run on "
            f"other users take about 1,500 calls of a recommender whose answers vary; give --budget=1500calls or more"
        )
    _say(
        f"{calls:,} calls planned for {len(chosen)} promises"
        + (f"; {left} more are beyond the budget" if left else "")
    )
    return replace(order, beyond_budget=left), chosen


def _with_few_users(arguments: Sequence[str]) -> list[str]:
    """The arguments of pytest with fewer users than usual, unless they say how many."""
    if any("recsys-users" in each or "recsys_users" in each for each in arguments):
        return list(arguments)
    return [*arguments, f"--recsys-users={USERS_OF_DEAR}"]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _save(path: Path, text: str) -> None:
    with written_or(DataError, path, 0o644) as stream:
        stream.write(text)


def _most(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)

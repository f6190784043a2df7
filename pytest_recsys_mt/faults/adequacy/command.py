"""The command `recsys-mt mutate`."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.safety.errors import DataError, FaultError
from pytest_recsys_mt.safety.files import written_or
from pytest_recsys_mt.safety.sanitize import clean

if TYPE_CHECKING:
    from pytest_recsys_mt.faults import Dose
    from pytest_recsys_mt.faults.adequacy.document import Adequacy, Trial
    from pytest_recsys_mt.faults.adequacy.running import Runs

DESCRIPTION = """\
Run your tests on your recommender once without a fault and once with each of many planted faults, and say which of
them the tests find. All further arguments go to pytest: recsys-mt mutate tests/ --recsys-model=bm25 -k ratings
"""


STOPPED = 130
"""Exit status after Ctrl-C, as of a shell."""

TRIED = 3
"""If none of so many faults could be planted, the others are not tried."""


def add(groups: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its options."""
    mutate = groups.add_parser(
        "mutate",
        help="plant faults in the recommender under test, and see which of them your tests find",
        usage="recsys-mt mutate [OPTION ...] [pytest's arguments]",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    option = mutate.add_argument
    option(
        "--faults", action="append", default=[], metavar="NAME",
        help="only these: a name, name:strength, a pattern (minds_*), or your own (package.module:Name); "
        "repeat the option to name several (default: all)",
    )  # fmt: skip
    option("--list", action="store_true", help="list the faults, and stop")
    most = "say how many calls it would make at the most, and stop"
    option("--plan", action="store_true", help=most)
    jobs = "runs of pytest at a time (default: 1)"
    option("--jobs", type=_jobs, default=1, metavar="N", help=jobs)
    first = "end each run at the first test that finds its fault: faster, and the matrix is not whole"
    option("--first-kill", action="store_true", help=first)
    least = "exit with status 1 if a smaller share of the faults is found, such as 0.95"
    option("--at-least", type=_share, metavar="SHARE", help=least)
    option(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the matrix and the score as JSON",
    )
    option("--html", type=Path, metavar="FILE", help="write them as one page of HTML")
    option(
        "--folder", type=Path, default=Path(".recsys-mutate"), metavar="DIR",
        help="where the runs are kept; a command that was stopped goes on from there (default: .recsys-mutate)",
    )  # fmt: skip
    mutate.set_defaults(command=mutated, pytest=[])


def mutated(given: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        0, or 1 if the score is below ``--at-least`` or a fault could not be planted;
        `STOPPED` after Ctrl-C.
    """
    from pytest_recsys_mt.faults import doses
    from pytest_recsys_mt.faults.adequacy import lines
    from pytest_recsys_mt.faults.adequacy.running import Runs

    chosen = doses(given.faults)
    if given.list:
        print(*lines.fault_lines(chosen), sep="\n")
        return 0
    if given.html is not None:
        from pytest_recsys_mt.report.html.page import require_html

        require_html()
    runs = Runs(given.pytest, given.folder, first_kill=given.first_kill)
    if given.plan:
        print(*lines.plan_lines(runs.plan(), chosen), sep="\n")
        return 0
    try:
        found = _tried(given, runs, chosen)
    except KeyboardInterrupt:
        _say(
            f"stopped; what is done is kept in {given.folder}: the same command goes on from there",
        )
        return STOPPED
    if given.json is not None:
        _write(given.json, json.dumps(found, indent=1) + "\n")
    if given.html is not None:
        _write(given.html, render(found))
    print(*lines.lines(found), sep="\n")
    below = given.at_least is not None and any(
        score["share"] is None or score["share"] < given.at_least
        for score in found["scores"]
    )
    return int(below or any(score["not_planted"] for score in found["scores"]))


def _tried(given: argparse.Namespace, runs: Runs, chosen: list[Dose]) -> Adequacy:
    from pytest_recsys_mt.faults.adequacy.judging import adequacy

    begun = time.monotonic()
    baseline = runs.baseline()
    passed = sum(outcome == "passed" for outcome in baseline.outcomes.values())
    _say(
        f"without a fault: {passed} of {len(baseline.outcomes)} tests pass ({baseline.seconds:.0f} s)",
    )
    for note in (baseline.record or {}).get("notes", ()):
        _say(f"note: {note}")
    done: dict[str, Any] = {}
    tried: list[Trial] = []
    # Closed at once when it stops early: the runs that wait are not begun.
    with contextlib.closing(runs.faulty(chosen, given.jobs)) as faulty:
        for dose, run in faulty:
            done[dose.spec] = run
            (*trials,) = adequacy(given.pytest, baseline, [(dose, run)], 0)["trials"]
            what = ", ".join(dict.fromkeys(trial["fate"] for trial in trials))
            how = "kept" if run.kept else f"{run.seconds:.0f} s"
            _say(f"{len(done)}/{len(chosen)} {dose.spec}: {what} ({how})")
            tried += trials
            if len(done) == TRIED < len(chosen):
                _require_planted(tried, given.folder)
    ordered = [(dose, done[dose.spec]) for dose in chosen]
    return adequacy(given.pytest, baseline, ordered, time.monotonic() - begun)


def _require_planted(tried: list[Trial], folder: Path) -> None:
    """Refuse to go on if no fault could be planted so far: the
    cause lies in the run then, not in a fault.
    """
    if any(trial["fate"] != "not planted" for trial in tried):
        return
    reasons = "; ".join(dict.fromkeys(trial["reason"] for trial in tried))
    specs = ", ".join(dict.fromkeys(trial["fault"] for trial in tried))
    raise FaultError(
        f"none of the first {TRIED} faults could be planted ({specs}), so the others are not tried: {reasons}. "
        f"Let the tests ask through `recsys`, `source` or `followup`, name pytest's options before its files, and "
        f"take `--` out of addopts; the logs in {str(folder)!r} show what pytest did",
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _write(path: Path, text: str) -> None:
    with written_or(DataError, path, 0o644) as stream:
        stream.write(text)


def _jobs(text: str) -> int:
    if not text.isdigit() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a share from 0 to 1, such as 0.95",
        )
    return share


def render(found: Adequacy) -> str:
    """The page of a document. The same document gives the same page."""
    from pytest_recsys_mt.faults.adequacy import lines
    from pytest_recsys_mt.report.html.page import fill

    shown: dict[str, Any] = {
        "found": clean(found),
        "marks": {"killed": "✕", "survived": "·", "unclear": "?"},
        "score_text": lines.score_text,
        "effect_text": lines.effect_text,
        "to_add": lines.to_add,
        "advice": lines.advice,
    }
    return fill("adequacy.html.j2", shown, "adequacy.css")

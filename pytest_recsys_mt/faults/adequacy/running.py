"""The runs of pytest: one without a fault, one for each
fault; those that are done are kept.
"""

import contextlib
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pytest_recsys_mt.faults import Dose
from pytest_recsys_mt.faults.adequacy import listening
from pytest_recsys_mt.faults.adequacy.listening import FILE, PARTLY, PASSED
from pytest_recsys_mt.safety.errors import FaultError
from pytest_recsys_mt.safety.files import MOST_DATA, content_of
from pytest_recsys_mt.safety.sanitize import one_line

BASELINE = "without-a-fault"
SETS = {
    "--recsys-json": "its own --json writes one file for all runs",
    "--recsys-html": "its own --html writes one page for all runs",
    "-x": "its own --first-kill ends each run at the first test that finds its fault",
    "--exitfirst": "its own --first-kill ends each run at the first test that finds its fault",
    "--recsys-fault": "--faults names the faults to plant",
    "recsys_fault": "--faults names the faults to plant",
    "--recsys-plan": "its own --plan tells what all runs would ask",
    "--recsys-list": "run pytest --recsys-list by itself",
    "--collect-only": "run pytest --collect-only by itself",
    "--co": "run pytest --collect-only by itself",
    "--junitxml": "each run would write over the file of the one before",
    "--junit-xml": "each run would write over the file of the one before",
}
"""Options of pytest that make no sense for many runs, and the advice for each."""

CLAIM = ("nodeid", "oracle", "relation", "margin", "allowed")
"""The facts of a verdict that depend on the test alone."""

NOT_SOURCES = {"node_modules", "site-packages", "__pycache__"}

USAGE = 4
"""pytest's exit status for arguments that it cannot use."""


@dataclass(frozen=True)
class Run:
    """One run of the tests."""

    record: dict[str, Any] | None
    outcomes: dict[
        str,
        str,
    ]  # how each test ended, by its id: as pytest says, or `PARTLY`
    seconds: float
    said: str  # the first error of Python that it printed, else its last line
    kept: bool = False


class Runs:
    """Runs the tests, and keeps the results."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        *,
        first_kill: bool,
        with_faults: Callable[[str, Mapping[str, str]], bool] = lambda *_: True,
    ) -> None:
        """Make the runs of one list of arguments.

        Args:
            arguments: Those of pytest.
            folder: Where the results are kept.
            first_kill: Whether a run ends at the first test that finds its fault.
            with_faults: Whether a test, given by its id and the outcomes of all
                without a fault, is run with faults too.
        """
        self._with_faults = with_faults
        self._arguments = list(arguments)
        self._folder = folder
        self._first_kill = first_kill
        self._basis = ""

    def baseline(self) -> Run:
        """The run without a fault."""
        self._begin()
        run = self._run(BASELINE, [])
        if run.record is None or not run.record["results"]:
            raise FaultError(
                f"the tests gave no verdict on a recommender without a fault, so there is nothing to "
                f"compare with; pytest said: {run.said} (all of it: {self._path(BASELINE, 'log')})",
            )
        if "passed" not in run.outcomes.values():
            ends = Counter(row["status"] for row in run.record["results"])
            verdicts = ", ".join(
                f"{number} {status}" for status, number in sorted(ends.items())
            )
            reasons = Counter(
                row["reason"] for row in run.record["results"] if row["reason"]
            )
            usual = "".join(
                f", most of them: {one_line(reason)}"
                for reason, _ in reasons.most_common(1)
            )
            raise FaultError(
                f"no test passes without a fault, so none can find one (verdicts: {verdicts}{usual}); if they are "
                f"inconclusive, ask more users or raise the limits of the run, else mend the tests or the "
                f"recommender first ({self._path(BASELINE, 'log')} says why they end as they do)",
            )
        statuses: dict[str, set[str]] = {}
        for row in run.record["results"]:
            statuses.setdefault(row["nodeid"], set()).add(row["status"])
        for test, found in statuses.items():
            if run.outcomes.get(test) != "passed" and found == {
                "holds",
                "inconclusive",
            }:
                run.outcomes[test] = PARTLY
        to_run = {
            test: outcome
            for test, outcome in run.outcomes.items()
            if self._with_faults(test, run.outcomes)
        }
        self._path(BASELINE, "outcomes").write_text(
            json.dumps(to_run),
            encoding="utf-8",
        )
        self._basis = _digest(
            self._arguments,
            self._first_kill,
            version("pytest-recsys-mt"),
            run.outcomes,
            {
                key: run.record.get(key)
                for key in ("data_digest", "digests", "settings", "models")
            },
            [[row[key] for key in (*CLAIM, "status")] for row in run.record["results"]],
            _sources(Path.cwd()),
        )
        return run

    def once(self, name: str) -> dict[str, Any]:
        """The record of a run without a fault, by whose outcomes nothing is chosen."""
        run = self._run(name, [])
        if run.record is None:
            raise FaultError(
                f"a run gave no record; pytest said: {run.said} (all of it: {self._path(name, 'log')})",
            )
        return run.record

    def faulty(
        self,
        doses: Sequence[Dose],
        jobs: int,
    ) -> Generator[tuple[Dose, Run], None, None]:
        """The runs with a fault, as they end."""
        pool = ThreadPoolExecutor(jobs)
        try:
            waiting = {pool.submit(self._one, dose): dose for dose in doses}
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def plan(self, *, quietly: bool = False) -> dict[str, Any]:
        """The calls that the tests would send without a fault;
        pytest's own plan goes to the terminal, unless `quietly`.
        """
        self._begin()
        path = self._path("plan", "json")
        path.unlink(missing_ok=True)
        streams = {"stdout": subprocess.DEVNULL} if quietly else {}
        status = self._pytest("plan", ["--recsys-plan"], **streams)
        if not path.is_file():
            raise FaultError(f"pytest made no plan (exit status {status})")
        planned: dict[str, Any] = json.loads(content_of(path, MOST_DATA))
        return planned

    def _begin(self) -> None:
        for argument in self._arguments:
            option = argument.partition("=")[0]
            if option in SETS:
                raise FaultError(
                    f"{argument!r} cannot be given to recsys-mt mutate, which runs pytest many times: "
                    f"{SETS[option]}",
                )
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise FaultError(
                f"--folder={str(self._folder)!r} cannot be made or written: {error.strerror}; name another",
            ) from error

    def _one(self, dose: Dose) -> Run:
        name = re.sub(r"[^\w.-]", "-", dose.spec)
        basis = _digest(self._basis, dose.spec, *map(_source, dose.kind.__mro__[:-1]))
        path = self._path(name, "run")
        with contextlib.suppress(OSError, ValueError, KeyError, RecursionError):
            known = json.loads(content_of(path, MOST_DATA))
            if known["basis"] == basis:
                record = json.loads(content_of(self._path(name, "json"), MOST_DATA))
                return Run(record, known["outcomes"], known["seconds"], "", kept=True)
        path.unlink(missing_ok=True)
        further = ["-o", f"recsys_fault={dose.spec}"]
        if "--recsys-mode=replay" not in self._arguments:
            # Calls of the run without a fault are not sent again.
            further.append("--recsys-mode=auto")
        if self._first_kill:
            further += ["-x", "--recsys-inconclusive=skip"]
        run = self._run(name, further)
        if run.record is not None:
            done = {"basis": basis, "outcomes": run.outcomes, "seconds": run.seconds}
            path.write_text(json.dumps(done), encoding="utf-8")
        return run

    def _run(self, name: str, further: Sequence[str]) -> Run:
        record, log, outcomes = (
            self._path(name, end) for end in ("json", "log", "outcomes")
        )
        record.unlink(missing_ok=True)
        outcomes.unlink(missing_ok=True)
        begun = time.monotonic()
        with log.open("wb") as stream:
            status = self._pytest(
                name,
                further,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
            )
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = next(
            (line[1:] for line in lines if line.startswith("E  ")),
            (lines or ["nothing"])[-1],
        )
        found = None
        if record.is_file() and status != USAGE:
            found = json.loads(content_of(record, MOST_DATA))
        ended = (
            json.loads(content_of(outcomes, MOST_DATA)) if outcomes.is_file() else {}
        )
        return Run(found, ended, time.monotonic() - begun, one_line(said))

    def _pytest(self, name: str, further: Sequence[str], **streams: Any) -> int:
        left_out = ("GITHUB_STEP_SUMMARY", "PYTHONDONTWRITEBYTECODE", PASSED)
        environment = {
            key: text for key, text in os.environ.items() if key not in left_out
        }
        if sys.dont_write_bytecode:
            # Hundreds of runs read the same modules: bytecode that Python may not keep
            # where it usually does is kept next to the records.
            kept = (self._folder / "pycache").absolute()
            environment["PYTHONPYCACHEPREFIX"] = str(kept)
        environment[FILE] = str(self._path(name, "outcomes").absolute())
        if "recsys_fault" in " ".join(further):
            environment[PASSED] = str(self._path(BASELINE, "outcomes").absolute())
        record = f"--recsys-json={self._path(name, 'json').absolute()}"
        arguments = _joined(self._arguments, [*further, record, "--recsys-keep=no"])
        command = [sys.executable, "-m", "pytest", "-p", listening.__name__, *arguments]
        return subprocess.run(
            command,
            env=environment,
            check=False,
            **streams,
        ).returncode

    def _path(self, name: str, ending: str) -> Path:
        return self._folder / f"{name}.{ending}"


def _joined(given: Sequence[str], own: Sequence[str]) -> list[str]:
    """The user's arguments with our own options behind theirs, which they override.

    Behind a ``--`` pytest silently leaves out some options, ``-o`` among them, so ours
    stand before it.
    """
    end = given.index("--") if "--" in given else len(given)
    return [*given[:end], *own, *given[end:]]


def _digest(*parts: object) -> str:
    return hashlib.sha256(
        json.dumps(parts, sort_keys=True, default=str).encode(),
    ).hexdigest()


def _sources(folder: Path) -> str:
    total = hashlib.sha256()
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in NOT_SOURCES
        )
        for name in sorted(files):
            if name.endswith((".py", ".toml", ".ini", ".cfg")):
                path = Path(parent, name)
                with contextlib.suppress(OSError):
                    total.update(str(path).encode() + b"\0" + content_of(path))
    return total.hexdigest()


def _source(kind: type) -> str:
    """The file of a fault, so that a changed fault is planted again. Not
    `inspect.getsource`, which parses the file: threads that parse at the same time
    break one another (Python 3.11).
    """
    try:
        return Path(inspect.getfile(kind)).read_text(encoding="utf-8")
    except (OSError, TypeError):
        return repr(kind)

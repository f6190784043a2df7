"""A run whose n-th write fails, the run that goes on after it, and what both may not
do.

The first of them begins in an empty folder, or goes on itself after a run that answered
half of its questions.
"""

import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pytest_recsys_mt import CacheError
from tests.durability.injector import Kind, Plan, Runs
from tests.durability.project import Counting, Project, listed, question_of
from tests.support.calls import AnswerCache
from tests.support.cli import main
from tests.support.gate import Store

TEST = """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import reorder_history, scale_ratings

@metamorphic(scale_ratings(2))
def test_one(source, followup):
    assert same_ranking(source, followup, margin=0.9)

@metamorphic(reorder_history)
def test_other(source, followup):
    assert same_ranking(source, followup, margin=0.9)
"""
USERS, AT_ONCE = 4, 2
"""Users, and calls that are on their way together."""

_SAID = re.compile(r"(\d+) answers? of \S+ (?:is|are) kept for this run only")
_AGAIN = re.compile(r"(\d+)\s+asked\s+again\s+to\s+see\s+whether")


def _asked_again(output: str) -> int:
    """How many calls a run repeated to see whether answers change with time, by its
    terminal: a record may be unwritten.
    """
    return sum(map(int, _AGAIN.findall(output)))


def steady(payload: dict[str, Any]) -> str:
    """An answer without noise: what the run finds holds."""
    return listed({**payload, "seed": 0})


@dataclass
class Outcome:
    """What a run with a fault, and the one after it, did
    wrong; `at` is the write that failed.
    """

    at: str
    code: int
    wrong: list[str] = field(default_factory=list)
    output: str = ""


@dataclass
class Swept:
    """The faults of one kind in runs of one project: how many there can be, were made,
    and did something wrong.
    """

    name: str
    writes: int
    tried: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    found: dict[int, str] = field(default_factory=dict)

    @property
    def reached(self) -> int:
        """The faults that a run came to: threads and
        workers do not write as often in each.
        """
        return self.calls.total()

    def told(self) -> str:
        """The figures in one line."""
        calls = ", ".join(f"{count} {call}" for call, count in self.calls.most_common())
        return f"{self.name}: {self.tried} of {self.writes} points, {self.reached} reached ({calls}), {len(self.found)} wrong"


class EveryWrite:
    """Runs of one small project with a fault each; `resumed`
    if half of the answers are there before.
    """

    def __init__(
        self, runs: Runs, plan: Plan, counting: Counting, folder: Path, workers: int, *, resumed: bool = False,
    ) -> None:  # fmt: skip
        self._runs, self._plan, self._counting = runs, plan, counting
        self._place, self._workers = folder, workers
        self._writes: dict[tuple[bool, str], int] = {}
        self._half: Path | None = None
        self.whole, self._questions = self._as_it_should_be()
        self._before: set[str] = set()
        if resumed:
            self._half = self._half_answered()
            self._before = self._kept()
            assert 0 < len(self._before) < len(self._questions)

    def _half_answered(self) -> Path:
        """The project after a whole run, with the cache of
        one that was cut short by a limit.
        """
        half = self._place.with_name("half")
        self.project = self._begun()
        code, output = self._run(f"--recsys-max-calls={len(self._questions) // 2}")
        assert code == 1, output
        self.project.cache.rename(half)
        code, output = self._run()
        assert code == 0, output
        shutil.rmtree(self.project.cache)
        half.rename(self.project.cache)
        self._place.rename(half)
        shutil.copytree(half, self._place)
        return half

    def _as_it_should_be(self) -> tuple[dict[str, Any], set[str]]:
        """What a run without a fault finds, and what it asks: in
        one process, also if there are workers.
        """
        workers, self._workers = self._workers, 1
        self.project = self._begun()
        code, output = self._run()
        self._workers = workers
        found = self._found()
        assert code == 0, output
        assert found is not None, output
        return found, set(self._counting.asked)

    def counted(self, kind: Kind) -> int:
        """How many calls a run makes that a fault of this kind may hit."""
        group = kind.memory, kind.only
        if group in self._writes:
            return self._writes[group]
        self.project = self._begun()
        self._plan.begin(self.project.folder, 0, kind)
        code, output = self._run(memory=kind.memory)
        assert code == 0, output
        return self._writes.setdefault(group, self._plan.calls)

    def sweep(self, kind: Kind, step: int) -> Swept:
        """Let every `step`-th write of a run fail, each in a run of its own."""
        swept = Swept(kind.name, self.counted(kind))
        for number in range(1, swept.writes + 1, step):
            outcome = self.check(kind, number)
            swept.tried += 1
            if outcome.at:
                swept.calls[outcome.at.partition(" ")[0]] += 1
            if outcome.wrong:
                swept.found[number] = f"{outcome.at}: {outcome.wrong}"
        return swept

    def check(self, kind: Kind, number: int) -> Outcome:
        """Let one write of a run fail, and go on with another run."""
        self.project = self._begun()
        self._plan.begin(self.project.folder, number, kind)
        code, output = self._run(memory=kind.memory)
        outcome = Outcome(self._plan.told, code, output=output)
        self._plan.begin(self.project.folder)
        first = Counter(self._counting.asked)
        outcome.wrong += self._damaged()
        outcome.wrong += self._stale() if code == 0 else []
        if code == 0 and self._found() != self.whole:
            outcome.wrong.append(
                "it passes, and its outputs are not those of a whole run",
            )
        if code not in range(5):
            outcome.wrong.append(f"it ends with status {code}")
        kept = self._kept()
        self._counting.asked.clear()
        code, again = self._run()
        outcome.output += again
        outcome.wrong += self._damaged() + self._stale() + self._unkept()
        if code != 0 or self._found() != self.whole:
            outcome.wrong.append(
                f"the run after it ends with status {code}, or finds something else",
            )
        outcome.wrong += self._paid(kind, first, kept, output, again)
        return outcome

    def _paid(
        self,
        kind: Kind,
        first: Counter[str],
        kept: set[str],
        output: str,
        output_then: str,
    ) -> list[str]:
        """What was paid for and not kept, beyond what was on
        its way, by the outputs of both runs.
        """
        then, calls = self._counting.asked, len(self._questions)
        before, again = _asked_again(output), _asked_again(output_then)
        wrong = []
        # To see whether answers change with time, a run asks some again.
        if then.total() - again > calls - len(kept):
            wrong.append(
                f"{then.total() - again} calls are sent, though {len(kept)} of {calls} were stored",
            )
        if gone := len(self._before - kept):
            wrong.append(f"{gone} answers that were stored before are gone")
        lost = len((set(first) & self._questions) - kept)
        within = first.total() - before - len(set(first) & self._questions)
        said = max(map(int, _SAID.findall(output)), default=0)
        if within > 0:
            wrong.append(f"{within} calls are paid twice in the run itself")
        if lost > said + AT_ONCE:
            wrong.append(f"{lost} answers are lost, and {said} are said to be")
        if lost and not said and not kind.memory:
            wrong.append(f"{lost} answers are lost without a word")
        # Calls that are on their way go on while the first write fails, which takes
        # longer on a busy machine.
        if lost > (3 if kind.lasting else 1) * AT_ONCE:
            wrong.append(f"{lost} answers are lost, so calls were sent after the fault")
        return wrong

    def _begun(self) -> Project:
        self._counting.asked.clear()
        shutil.rmtree(self._place, ignore_errors=True)
        if self._half is not None:
            shutil.copytree(self._half, self._place)
        project = Project(self._place, self._counting.server.url)
        (project.folder / "test_it.py").write_text(TEST)
        return project

    def _run(self, *more: str, memory: bool = False) -> tuple[int, str]:
        folder = self.project.folder
        arguments = [
            "-p", "pytest_recsys_mt.plugin.hooks", "-p", "xdist", "-p", "no:cacheprovider", "-q", *(["-n", str(self._workers)] * (self._workers > 1)),
            "--recsys-model=openai:tiny?temperature=1&concurrency=" + str(AT_ONCE),
            f"--recsys-users={USERS}", f"--recsys-cache={self.project.cache}",
            f"--recsys-json={self.project.record}", f"--junitxml={folder / 'junit.xml'}",
            f"--recsys-html={folder / 'report.html'}", "-p", "tests.durability.injector",
            *more,
        ]  # fmt: skip
        # Other plugins write nothing, and take a third of a run.
        environment = self.project.environment | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return self._runs.run(folder, arguments, environment, memory=memory)

    def _found(self) -> dict[str, Any] | None:
        """What the outputs say, but for calls and times; None if one is not whole."""
        try:
            record = self.project.found()
            suite = ElementTree.parse(self.project.folder / "junit.xml").find(
                "testsuite",
            )
        except (OSError, ValueError, ElementTree.ParseError):
            return None
        if suite is None:
            return None
        rows = [
            [row[name] for name in ("nodeid", "status", "estimate", "users")]
            for row in record["results"]
        ]
        return {
            "rows": sorted(rows),
            "gate": record["gate"],
            "cases": [suite.get(name) for name in ("tests", "failures", "errors")],
            "facts": "".join(suite.itertext()).count('"recsys-mt"'),
        }

    def _kept(self) -> set[str]:
        if not (self.project.cache / "answers" / "cache.db").exists():
            return set()
        with (
            suppress(CacheError),
            closing(AnswerCache(self.project.cache, write=False)) as cache,
        ):
            found = {
                question_of(dict(row.call))
                for _, row in cache.rows()
                if row is not None
            }
            return found & self._questions
        return set()  # which `_damaged` says

    def _stale(self) -> list[str]:
        """The outputs that are still those of the run before, byte by byte."""
        if self._half is None:
            return []
        wrong = []
        for name in ("record.json", "junit.xml", "report.html"):
            path = self._place / name
            if (
                not path.exists()
                or path.read_bytes() == (self._half / name).read_bytes()
            ):
                wrong.append(f"{name} is not there, or still that of the run before")
        return wrong

    def _unkept(self) -> list[str]:
        """What a run without a fault leaves otherwise among the kept runs."""
        store = Store.of(self._place)
        ignored = (store.folder.parent / ".gitignore").read_text()
        wrong = [] if ignored == "*\n" else [f"git is told to ignore {ignored!r}"]
        latest = store.run(None)
        if latest.head.get("gate") != "passed":
            wrong.append(
                f"the latest kept run is {latest.number}, {latest.head.get('gate')}",
            )
        return wrong

    def _damaged(self) -> list[str]:
        """What is damaged on disk after a fault."""
        wrong = []
        database = self.project.cache / "answers" / "cache.db"
        if database.exists():
            said = StringIO()
            with redirect_stdout(said), redirect_stderr(said):
                code = main(["cache", "stats", "--cache", str(self.project.cache)])
            if code or "damaged" in said.getvalue():
                wrong.append(f"recsys-mt cache: {said.getvalue()[-300:]}")
            with closing(sqlite3.connect(database)) as connection:
                found = connection.execute("PRAGMA integrity_check").fetchall()
            if found != [("ok",)]:
                wrong.append(f"integrity_check: {found[:3]}")
        store = Store.of(self.project.folder)
        wrong += [
            f"the kept run {each.number} is damaged"
            for each in store.runs()
            if not each.head
        ]
        return wrong

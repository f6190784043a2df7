"""A run whose n-th write fails, the run that goes on after it, and what both may not do."""

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

from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.cli import main
from pytest_recsys_mt.errors import CacheError
from pytest_recsys_mt.gate.store import Store
from tests.durability.injector import Kind, Plan, Runs
from tests.durability.project import Counting, Project, listed, question_of

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


def steady(payload: dict[str, Any]) -> str:
    """An answer without noise: what the run finds holds."""
    return listed({**payload, "seed": 0})


@dataclass
class Outcome:
    """What a run with a fault, and the one after it, did wrong; `at` is the write that failed."""

    at: str
    code: int
    wrong: list[str] = field(default_factory=list)
    output: str = ""


class EveryWrite:
    """Runs of one small project with a fault each."""

    def __init__(
        self, runs: Runs, plan: Plan, counting: Counting, folder: Path, workers: int
    ) -> None:
        self._runs, self._plan, self._counting = runs, plan, counting
        self._place, self._workers = folder, workers
        self.project = self._begun()
        code, output = self._run()
        assert code == 0, output
        self.whole = self._found()
        assert self.whole is not None, output
        self._questions = set(self._counting.asked)
        self._writes: dict[str, int] = {}

    def counted(self, kind: Kind) -> int:
        """How many calls a run makes that a fault of this kind may hit."""
        group = "memory" if kind.memory else "disk"
        if group in self._writes:
            return self._writes[group]
        self.project = self._begun()
        self._plan.begin(self.project.folder, 0, kind)
        code, output = self._run(memory=kind.memory)
        assert code == 0, output
        return self._writes.setdefault(group, self._plan.calls)

    def check(self, kind: Kind, number: int) -> Outcome:
        """Let one write of a run fail, and go on with another run."""
        self.project = self._begun()
        self._plan.begin(self.project.folder, number, kind)
        code, output = self._run(memory=kind.memory)
        outcome = Outcome(self._plan.told, code, output=output)
        self._plan.begin(self.project.folder)
        first = Counter(self._counting.asked)
        outcome.wrong += self._damaged()
        if code == 0 and self._found() != self.whole:
            outcome.wrong.append("it passes, and its outputs are not those of a whole run")
        if code not in range(5):
            outcome.wrong.append(f"it ends with status {code}")
        kept, before = self._kept(), self._again()
        self._counting.asked.clear()
        code, again = self._run()
        outcome.output += again
        if code != 0 or self._found() != self.whole:
            outcome.wrong.append(
                f"the run after it ends with status {code}, or finds something else"
            )
        outcome.wrong += self._paid(kind, first, kept, output, before)
        return outcome

    def _paid(
        self, kind: Kind, first: Counter[str], kept: set[str], output: str, before: int
    ) -> list[str]:
        """What was paid for and not kept, beyond what was on its way; `before` is what the first run asked again."""
        then, again, calls = self._counting.asked, self._again(), len(self._questions)
        wrong = []
        # To see whether answers change with time, a run asks some again.
        if then.total() - again > calls - len(kept):
            wrong.append(
                f"{then.total() - again} calls are sent, though {len(kept)} of {calls} were stored"
            )
        lost = len((set(first) & self._questions) - kept)
        within = first.total() - before - len(set(first) & self._questions)
        said = max(map(int, _SAID.findall(output)), default=0)
        if within > 0:
            wrong.append(f"{within} calls are paid twice in the run itself")
        if lost > said + AT_ONCE:
            wrong.append(f"{lost} answers are lost, and {said} are said to be")
        if lost and not said and not kind.memory:
            wrong.append(f"{lost} answers are lost without a word")
        if lost > (2 if kind.lasting else 1) * AT_ONCE:
            wrong.append(f"{lost} answers are lost, so calls were sent after the fault")
        return wrong

    def _again(self) -> int:
        """How many calls a run repeated to see whether answers change with time."""
        with suppress(OSError, ValueError, KeyError):
            return int(self.project.found()["calls"]["again"])
        return 0

    def _begun(self) -> Project:
        self._counting.asked.clear()
        shutil.rmtree(self._place, ignore_errors=True)
        project = Project(self._place, self._counting.server.url)
        (project.folder / "test_it.py").write_text(TEST)
        return project

    def _run(self, *, memory: bool = False) -> tuple[int, str]:
        folder = self.project.folder
        arguments = [
            "-p", "no:cacheprovider", "-q", *(["-n", str(self._workers)] * (self._workers > 1)),
            "--recsys-model=openai:tiny?temperature=1&concurrency=" + str(AT_ONCE),
            f"--recsys-users={USERS}", f"--recsys-cache={self.project.cache}",
            f"--recsys-json={self.project.record}", f"--junitxml={folder / 'junit.xml'}",
            f"--recsys-html={folder / 'report.html'}", "-p", "tests.durability.injector",
        ]  # fmt: skip
        return self._runs.run(folder, arguments, self.project.environment, memory=memory)

    def _found(self) -> dict[str, Any] | None:
        """What the outputs say, but for calls and times; None if one is not whole."""
        try:
            record = self.project.found()
            suite = ElementTree.parse(self.project.folder / "junit.xml").find("testsuite")
        except (OSError, ValueError, ElementTree.ParseError):
            return None
        if suite is None:
            return None
        rows = [
            [row[name] for name in ("nodeid", "status", "estimate", "users")]
            for row in record["results"]
        ]
        return {
            "rows": rows,
            "gate": record["gate"],
            "cases": [suite.get(name) for name in ("tests", "failures", "errors")],
            "facts": "".join(suite.itertext()).count('"recsys-mt"'),
        }

    def _kept(self) -> set[str]:
        if not (self.project.cache / "answers" / "cache.db").exists():
            return set()
        with suppress(CacheError), closing(AnswerCache(self.project.cache, write=False)) as cache:
            found = {question_of(dict(row.call)) for _, row in cache.rows() if row is not None}
            return found & self._questions
        return set()  # which `_damaged` says

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
            f"the kept run {each.number} is damaged" for each in store.runs() if not each.head
        ]
        return wrong

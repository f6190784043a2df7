"""Makes the n-th write of a run fail, as SQLite's own tests do: of all that it writes
below a folder.

`faults.c` counts the calls of the system, also those of SQLite and of workers. As a
plugin of pytest (``-p``) this module makes the n-th crossing into our own code that
writes a `MemoryError`. As a program it runs pytest again and again, each time in a fork
of a process that has imported all that takes seconds.
"""

import contextlib
import ctypes
import errno
import faulthandler
import functools
import gc
import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tests.durability.forked import NEEDED
from tests.durability.forked_workers import HANGS, fork_workers

ROOT = Path(__file__).resolve().parents[2]
LIBRARY, PLAN, MEMORY = "LD_PRELOAD", "FAULTS_PLAN", "FAULTS_MEMORY"
"""Variables of the environment: the compiled `faults.c`, the file of a plan, and
whether our own code is counted.
"""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""A process that is forked has no other threads: a lock that one holds at that moment
is never released in the fork.
"""

_LAYOUT = struct.Struct("=qqiiii16s4096s4352s")

BOUNDARIES = (
    "calls.cache:AnswerCache.put", "calls.cache:AnswerCache.answers", "calls.cache:AnswerCache._open",
    "calls.database:JSONTextDisk.store", "calls.database:Database.transact", "calls.keeping:Keeping.write",
    "calls.limits:Budget.close", "gate.store:Store.keep", "report.record:Record.write",
    "report.ending:annotate", "report.ending:write_report",
)  # fmt: skip
"""What of our own code stands around a write."""


@dataclass(frozen=True)
class Kind:
    """How a write fails."""

    name: str
    error: int
    half: bool = False
    lasting: bool = False
    memory: bool = False
    only: str = ""
    """The calls that are counted; all, if it is empty."""


KINDS = (
    Kind("full", errno.ENOSPC, lasting=True),
    Kind("short", errno.ENOSPC, half=True, lasting=True, only="write"),
    Kind("short once", errno.ENOSPC, half=True, only="write"),
    Kind("no room once", errno.ENOSPC),
    Kind("broken once", errno.EIO),
    Kind("broken", errno.EIO, lasting=True),
    Kind("memory", errno.ENOMEM, memory=True),
)


def compiler() -> str | None:
    """A C compiler for `faults.c`, where libraries can be put before others."""
    return (
        (shutil.which("gcc") or shutil.which("cc")) if sys.platform == "linux" else None
    )


def compiled(folder: Path) -> Path:
    """`faults.c` as a library in `folder`."""
    made = folder / "faults.so"
    source = Path(__file__).with_name("faults.c")
    command = [
        str(compiler()),
        "-O1",
        "-shared",
        "-fPIC",
        "-o",
        str(made),
        str(source),
        "-ldl",
    ]
    subprocess.run(command, check=True)
    return made


@dataclass(frozen=True)
class Plan:
    """Which write fails, and how many there were; a file
    that all processes of a run map.
    """

    path: Path

    def begin(self, folder: Path, number: int = 0, kind: Kind = KINDS[0]) -> None:
        """Count from now on what is written below `folder`,
        and let the call of this number fail.
        """
        packed = _LAYOUT.pack(
            0, number, kind.error, kind.half, kind.lasting, kind.memory, kind.only.encode(),
            os.path.realpath(folder).encode(), b"",
        )  # fmt: skip
        self.path.write_bytes(packed)

    @property
    def calls(self) -> int:
        """The number of calls so far."""
        return int(_LAYOUT.unpack(self.path.read_bytes())[0])

    @property
    def told(self) -> str:
        """The call that failed, and its file; empty if none did."""
        text: bytes = _LAYOUT.unpack(self.path.read_bytes())[-1]
        return text.rstrip(b"\0").decode()


class Runs:
    """Runs of pytest, each in a fork of a process that has imported all."""

    def __init__(self, library: Path, plan: Plan) -> None:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in (PLAN, MEMORY)
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.durability.injector"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            env=environment | {LIBRARY: str(library), "PYTHONPATH": str(ROOT), **ONE_THREAD},
        )  # fmt: skip
        self._plan = plan

    def run(
        self,
        folder: Path,
        arguments: list[str],
        environment: dict[str, str],
        *,
        memory: bool = False,
    ) -> tuple[int, str]:
        """The exit status and the output of one run."""
        output = folder.with_name(f"{folder.name}.out")
        more = {
            PLAN: str(self._plan.path), MEMORY: "1" if memory else "", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(ROOT), LIBRARY: os.environ.get(LIBRARY, ""),
        }  # fmt: skip
        asked = [str(folder), arguments, environment | more, str(output)]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        code = int(self._process.stdout.readline())
        return code, output.read_text(errors="replace")

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@contextmanager
def runs(folder: Path) -> Iterator[tuple[Runs, Plan]]:
    """A process that runs pytest with faults, and their plan, in a folder of their own."""
    plan = Plan(folder / "plan")
    plan.begin(folder / "nowhere")
    made = Runs(compiled(folder), plan)
    try:
        yield made, plan
    finally:
        made.close()


def _serve() -> None:
    library = os.environ[LIBRARY]
    for name in ("tests.conftest", "jinja2", *NEEDED):
        importlib.import_module(name)
    importlib.import_module("pytest_recsys_mt.datasets.loading").load_mini()
    page = importlib.import_module("pytest_recsys_mt.report.html.page")
    for template in page.TEMPLATES.glob("*.j2"):
        page._environment().get_template(
            template.name,
        )  # half of what drawing a page takes
    for line in sys.stdin:
        folder, arguments, environment, output = json.loads(line)
        gc.freeze()  # pytest collects garbage several times in a run
        imported, imports = os.pipe()
        child = os.fork()
        if not child:
            os.close(imported)
            _run(folder, arguments, environment | {LIBRARY: library}, output, imports)
        os.close(imports)
        with os.fdopen(imported) as names:
            _import_all(names.read().split())
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _import_all(names: list[str]) -> None:
    """Import what a run had to import, so that the next need not."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _run(
    folder: str,
    arguments: list[str],
    environment: dict[str, str],
    output: str,
    imports: int,
) -> NoReturn:
    import pytest

    code, before = 1, set(sys.modules)
    try:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for stream in (1, 2):
            os.dup2(file, stream)
        ctypes.CDLL(environment[LIBRARY]).faults_plan(environment[PLAN].encode())
        if "-n" in arguments:
            fork_workers(imports)
        faulthandler.dump_traceback_later(
            HANGS,
            exit=True,
        )  # not before a fork, which would wait for its thread
        sys.argv[1:] = arguments
        code = int(pytest.main(arguments))
    except BaseException:  # noqa: BLE001 - as Python itself ends such a process
        traceback.print_exc()
    finally:
        new = [
            name
            for name in sys.modules
            if name not in before and not name.startswith("test_")
        ]
        os.write(imports, " ".join(new).encode())
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def pytest_configure() -> None:
    """Count what crosses into our own code, if the run is to be short of memory."""
    if not os.environ.get(MEMORY):
        return
    count = ctypes.CDLL(os.environ[LIBRARY]).faults_count
    for name in BOUNDARIES:
        module, _, path = name.partition(":")
        owner: Any = importlib.import_module(f"pytest_recsys_mt.{module}")
        *owners, last = path.split(".")
        for each in owners:
            owner = getattr(owner, each)
        setattr(owner, last, _counted(getattr(owner, last), path, count))


def _counted(call: Callable[..., Any], name: str, count: Callable[[bytes], int]) -> Any:
    @functools.wraps(call)
    def counted(*given: Any, **more: Any) -> Any:
        if count(name.encode()):
            raise MemoryError
        return call(*given, **more)

    return counted


if __name__ == "__main__":
    _serve()

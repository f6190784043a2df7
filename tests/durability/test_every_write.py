"""A fault at any write of a run loses no answer that was paid for, damages nothing, and makes nothing pass.

SQLite is tested so: the first write fails, then the second, until a run ends without the fault.
"""

import os
from collections.abc import Iterator

import pytest

from tests.durability.every_write import EveryWrite, steady
from tests.durability.injector import KINDS, Kind, Plan, Runs, compiler, runs
from tests.durability.project import Counting
from tests.models.faults import FaultServer

pytestmark = pytest.mark.skipif(compiler() is None, reason="faults.c needs Linux and a C compiler")

NAMES = [kind.name for kind in KINDS]
STEP = int(os.environ.get("RECSYS_MT_FAULT_STEP", "37"))
"""Every how many writes one fails, in the slow set. With 1 it takes two hours in one process, and most of a day on workers."""


@pytest.fixture(scope="module")
def injected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runs, Plan]]:
    with runs(tmp_path_factory.mktemp("faults")) as made:
        yield made


@pytest.fixture(scope="module")
def every_write(
    injected: tuple[Runs, Plan],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[EveryWrite]:
    folder = tmp_path_factory.mktemp("runs") / "project"
    with FaultServer() as server:
        yield EveryWrite(*injected, Counting(server, listed=steady), folder, request.param)


one_process = pytest.mark.parametrize("every_write", [1], indirect=True, ids=["one process"])
both = pytest.mark.parametrize(
    "every_write", [1, 2], indirect=True, ids=["one process", "2 workers"]
)


def kind_of(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


@one_process
@pytest.mark.parametrize("name", NAMES)
def test_a_write_that_fails_half_way_through(every_write: EveryWrite, name: str) -> None:
    kind = kind_of(name)
    outcome = every_write.check(kind, every_write.counted(kind) // 2)
    assert outcome.at
    assert not outcome.wrong, f"{outcome.at}: {outcome.wrong}\n{outcome.output}"


@pytest.mark.slow  # each n is two runs: 3 s in one process, 20 s on workers; with the usual step half an hour
@pytest.mark.timeout(0)
@both
@pytest.mark.parametrize("name", NAMES)
def test_every_write_that_fails(every_write: EveryWrite, name: str) -> None:
    kind, found = kind_of(name), dict[int, str]()
    for number in range(1, every_write.counted(kind) + 1, STEP):
        outcome = every_write.check(kind, number)
        if outcome.wrong:
            found[number] = f"{outcome.at}: {outcome.wrong}"
    assert not found

"""A fault at any write of a run loses no answer that was paid for, damages nothing, and
makes nothing pass.

SQLite is tested so: the first write fails, then the second, until a run ends without
the fault.
"""

import os
from collections.abc import Iterator

import pytest

from tests.durability.every_write import EveryWrite, steady
from tests.durability.injector import KINDS, Kind, Plan, Runs, compiler, runs
from tests.durability.project import Counting
from tests.models.faults import FaultServer

pytestmark = pytest.mark.skipif(
    compiler() is None,
    reason="faults.c needs Linux and a C compiler",
)

NAMES = [kind.name for kind in KINDS]
STEP = int(os.environ.get("RECSYS_MT_FAULT_STEP", "37"))
"""Every how many writes one fails, in the slow set; 1 takes all. Each test prints how
many there are and were tried.
"""


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
        workers, resumed = request.param
        counting = Counting(server, listed=steady)
        yield EveryWrite(*injected, counting, folder, workers, resumed=resumed)


def of(**params: tuple[int, bool]) -> pytest.MarkDecorator:
    """Runs with so many workers, and whether they go on after a run that answered half."""
    names = [name.replace("_", " ") for name in params]
    return pytest.mark.parametrize(
        "every_write",
        params.values(),
        indirect=True,
        ids=names,
    )


one_process = of(one_process=(1, False))
resumed_workers = of(two_workers_resumed=(2, True))
all_runs = of(
    one_process=(1, False), one_process_resumed=(1, True), two_workers=(2, False), two_workers_resumed=(2, True),
)  # fmt: skip


def kind_of(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)


@one_process
@pytest.mark.parametrize("name", NAMES)
def test_a_write_that_fails_half_way_through(
    every_write: EveryWrite,
    name: str,
) -> None:
    kind = kind_of(name)
    outcome = every_write.check(kind, every_write.counted(kind) // 2)
    assert outcome.at
    assert not outcome.wrong, f"{outcome.at}: {outcome.wrong}\n{outcome.output}"


@resumed_workers
def test_a_disk_that_is_full_half_way_through_a_resumption_on_workers(
    every_write: EveryWrite,
) -> None:
    kind = kind_of("full")
    outcome = every_write.check(kind, every_write.counted(kind) // 2)
    assert outcome.at
    assert not outcome.wrong, f"{outcome.at}: {outcome.wrong}\n{outcome.output}"


@pytest.mark.slow  # each point is two runs: 1 s in one process, 2 s on workers
@pytest.mark.timeout(0)
@all_runs
@pytest.mark.parametrize("name", NAMES)
def test_every_write_that_fails(
    every_write: EveryWrite,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    swept = every_write.sweep(kind_of(name), STEP)
    with capsys.disabled():
        print(f"\n{swept.told()}")
    assert swept.reached > 0
    assert not swept.found

"""The option that plants a fault in the recommender under test: ``recsys_fault``."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_recsys_mt.extensions import SuiteOption
from pytest_recsys_mt.safety.errors import FaultError, RecsysError

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.executor import Executor
    from pytest_recsys_mt.calls.subject import Subject
    from pytest_recsys_mt.datasets.dataset import Dataset
    from pytest_recsys_mt.engine.runner import Runner
    from pytest_recsys_mt.engine.settings import Settings
    from pytest_recsys_mt.faults.faulty import Faulty
    from pytest_recsys_mt.faults.naming import Dose
    from pytest_recsys_mt.gate.document import Planted

USERS = 20
"""Users for whom requests are sent that no test sends."""


@dataclass(frozen=True)
class Planting:
    """Plants one fault in each recommender under test."""

    dose: Dose

    @property
    def recorded(self) -> str:
        """The fault as the record names it: ``latest_only:3``."""
        return self.dose.spec

    def wrapped(
        self,
        sound: Subject,
        training: Dataset,
        settings: Settings,
        executor: Executor,
    ) -> Subject:
        """The recommender with the fault."""
        from pytest_recsys_mt.faults.faulty import Faulty

        return Faulty(sound, self.dose, training, settings, executor)

    def differing(self, runner: Runner, *, probes: bool) -> Planted | None:
        """How far the fault changed answers; None if the runner's recommender has none.

        Args:
            runner: The runner of a recommender of the run.
            probes: Whether requests are sent that no test sends, if the fault changed
                no answer of the tests.
        """
        from pytest_recsys_mt.faults.faulty import Faulty

        faulty = runner.subject
        if not isinstance(faulty, Faulty):
            return None
        if probes and faulty.live and not faulty.met:
            _probe(runner, faulty)
        return faulty.compared()


def _probe(runner: Runner, faulty: Faulty) -> None:
    """Compare answers with and without the fault to requests that no test sends, since
    it changed no answer of the tests.

    A fault that changes none of these either is equivalent to none. The tests missed
    one that does.
    """
    from pytest_recsys_mt.calls.call import CONTROL
    from pytest_recsys_mt.engine.sides import Side

    cure = faulty.dose.kind.cure
    change = None if cure is None else cure.transformation()
    if change is None or (
        "text" in getattr(change, "needs", ()) and not faulty.reads_text
    ):
        return
    context = replace(runner.context(), family=1, ask_everybody=False)
    source = Side(runner, context, purpose=CONTROL)
    followup = Side(runner, context, (change,), 1, purpose=CONTROL)
    faulty.probed = True
    with contextlib.suppress(RecsysError):  # a limit, or a replay without these answers
        source.pair(followup, min(USERS, source.applicable(followup)))
    faulty.probed = False


def _planting(text: str | None) -> Planting | None:
    if text is None:
        return None
    from pytest_recsys_mt.faults.naming import dose

    try:
        return Planting(dose(text))
    except FaultError as error:
        raise ValueError(f"recsys_fault: {error}") from None


OPTIONS = (
    SuiteOption(
        "fault",
        "fault to plant in the recommender under test, which the tests should then find; recsys-mt mutate plants them "
        "one by one",
        "NAME[:STRENGTH]",
        make=_planting,
        wraps=True,
        without={
            "plan": "plants a fault in a run of this process: leave out --recsys-plan (recsys-mt mutate --plan plans such "
            "runs)",
            "pin": "plants a fault, and --recsys-pin writes the lists of a recommender as it is: leave one of them out",
        },
    ),
)

"""The parts of a run that its recommenders use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.executor import Executor
    from pytest_recsys_mt.calls.progress import Progress
    from pytest_recsys_mt.calls.remote import RayCalls
    from pytest_recsys_mt.engine.cases import Split
    from pytest_recsys_mt.engine.settings import Settings


class RunParts(Protocol):
    """The parts of a run that its recommenders use.

    `engine.run.Run` has them. It makes its recommenders, so that these cannot import
    it.
    """

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        ...

    @property
    def progress(self) -> Progress:
        """Shows the progress of the run."""
        ...

    @property
    def notes(self) -> list[str]:
        """The changes to the data, and notes of recommenders, in sentences."""
        ...

    @property
    def executor(self) -> Executor:
        """Sends the calls, or plans them."""
        ...

    @property
    def ray(self) -> RayCalls | None:
        """Sends the calls to a Ray cluster; None if they stay in this process."""
        ...

    def split_of(self, fold: int | None, /) -> Split:
        """The split of the data, or that of one fold of users."""
        ...

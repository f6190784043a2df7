"""The source of a test's recommender, known before any fixture is set up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """The source of a test's recommender: the same for tests of one recommender, on every worker.

    Attributes:
        where: The fixture, by its place and function.
        parameters: Those of the fixture and of the fixtures it depends on, in the order of their
            names.
        during: Where it gives one object: the id of a test, class or module.
    """

    where: str
    parameters: tuple[str, ...]
    during: str

    def place(self, fingerprint: object) -> str:
        """What distinguishes a recommender from others of its name.

        Recommenders with one fingerprint are the same, wherever they are given.
        """
        during = f" during {self.during}" if fingerprint is None and self.during else ""
        return f"{self.where}[{','.join(self.parameters)}]{during}"

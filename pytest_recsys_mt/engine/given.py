"""What gives a test its recommender, before any fixture is set up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """What gives a test its recommender: the same for tests of one recommender, on every worker.

    Attributes:
        where: The fixture, by its place and function.
        parameters: Of the fixture and of those that it depends on, in the order of their names.
        during: For what part of the run it gives one object: the id of a test, class or module.
    """

    where: str
    parameters: tuple[str, ...]
    during: str

    def place(self, fingerprint: object) -> str:
        """What tells a recommender from others of its name.

        Args:
            fingerprint: Of the recommender; one that has it is the same wherever it is given.
        """
        during = f" during {self.during}" if fingerprint is None and self.during else ""
        return f"{self.where}[{','.join(self.parameters)}]{during}"

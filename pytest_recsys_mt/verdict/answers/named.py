"""The protocol for requests of users whom a test names, sampled by the run or not."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from pytest_recsys_mt.requests import Request

Side = TypeVar("Side")
"""The answers of one side: `Answers`, which know `Named` and thus stand above it."""


class Named(Protocol[Side]):
    """Sends requests of named users, and writes the file that names them."""

    @property
    def users(self) -> Collection[str]:
        """All users of the data for whom a request can be made."""
        ...

    @property
    def design(self) -> tuple[int, int]:
        """Length of a list, and candidates of a request,
        where a test does not say otherwise.
        """
        ...

    @property
    def rewrites(self) -> bool:
        """Whether the file is to be written from the current answers."""
        ...

    def side(
        self,
        answers: Side,
        users: Sequence[str],
        k: int,
        candidates: int,
        /,
    ) -> tuple[Side, Mapping[str, Request], Mapping[str, str]]:
        """The side of `users` that is otherwise like `answers`; its requests, and why
        others have none, by user.

        Sends no calls.
        """
        ...

    def written(self, file: Path, /) -> str:
        """The message of this run when it wrote a file; empty if it did not."""
        ...

    def write(self, file: Path, text: str, message: str, /) -> None:
        """Write a file, and print the message at the end of the run."""
        ...

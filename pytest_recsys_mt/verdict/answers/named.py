"""Requests of users whom a test names, whether the run sampled them or not."""

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
        """All users of the data with requests."""
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
        """The note of this run on a file that it wrote; empty if it did not."""
        ...

    def write(self, file: Path, text: str, note: str, /) -> None:
        """Write a file, and add a note on it to the run."""
        ...

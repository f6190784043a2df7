"""Users whom a test names, with requests like those of the sample: through the cache,
the limits, the plan and the record.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.engine.sides import Side
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import OracleError
from pytest_recsys_mt.safety.files import written_or
from pytest_recsys_mt.verdict.answers import Answers


class OfUsers(Runner):
    """A runner of given users, whose recommender, fit and
    requests are otherwise those of another runner.
    """

    def __init__(self, whole: Runner, design: Design, users: Sequence[str]) -> None:
        super().__init__(
            whole.subject,
            whole._split,
            design,
            whole.settings,
            whole.executor,
            elsewhere=whole._elsewhere,
            purpose=whole.purpose,
        )
        self.cases = whole._split.cases_of(users, design)
        self.world = whole.world  # transformations then draw as in the run


class NamedUsers:
    """Sends the requests of named users to one recommender; see
    `pytest_recsys_mt.verdict.answers.named.Named`.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._made: dict[tuple[Runner, int, int, tuple[str, ...]], OfUsers] = {}

    @cached_property
    def users(self) -> Collection[str]:
        """All users of the data with requests."""
        return self._runner._split.held_out.keys()

    @property
    def design(self) -> tuple[int, int]:
        """Length of a list, and candidates of a request."""
        return self._runner.design.k, self._runner.design.candidates

    @property
    def rewrites(self) -> bool:
        """Whether ``--recsys-pin`` is given; a plan knows no answers to write."""
        return self._runner.settings.pin and not self._runner.settings.plan

    def side(
        self,
        answers: Answers,
        users: Sequence[str],
        k: int,
        candidates: int,
        /,
    ) -> tuple[Answers, Mapping[str, Request], Mapping[str, str]]:
        """The side of `users`; its requests, and why others have none, by user."""
        if not isinstance(answers, Side):
            raise OracleError(
                "pinned: answers must be those of recsys.run(), which can ask named users",
            )
        whole = answers.runner
        key = (whole, k, candidates, tuple(users))
        if (
            key not in self._made
        ):  # the source of a test is sent once for all its readers
            design = replace(
                whole.design,
                k=k,
                candidates=candidates,
                users=max(2, len(users)),
            )
            self._made[key] = OfUsers(whole, design, users)
        runner = self._made[key]
        side = answers.on(runner, answers.context)
        user_at = [case.request.user for case in runner.cases]
        requests, reasons = side._made
        return (
            side,
            {user_at[place]: request for place, request in requests.items()},
            {user_at[place]: reason for place, reason in reasons.items()},
        )

    def written(self, file: Path, /) -> str:
        """The note of this run on a file that it wrote: a rerun of the
        test must not pass on its own file.
        """
        begin = f"{file} written: "
        return next(
            (note for note in self._runner.executor.notes if note.startswith(begin)),
            "",
        )

    def write(self, file: Path, text: str, note: str, /) -> None:
        """Write a file, and add a note on it to the run."""
        place = file.resolve()  # a link stays one
        mode = stat.S_IMODE(place.stat().st_mode) if place.exists() else 0o644
        with written_or(OracleError, place, mode) as stream:
            stream.write(text)
        self._runner.executor.notes.append(note)

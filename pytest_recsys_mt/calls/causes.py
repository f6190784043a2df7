"""The test that needs each call, and why: the row of the bill in which it counts."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

Purpose = Literal[
    "source", "follow-up", "request", "question", "judge", "profile", "sample", "counterexample",
    "control", "again", "retry",
]  # fmt: skip
"""Why a call is sent.

* ``source``, ``follow-up``: a side of a relation, unchanged or transformed.
* ``request``, ``question``: the calls that a test itself sends: `Recsys.ask`, and `Texts.complete` with its own prompts.
* ``judge``, ``profile``: a language model compares lists, or describes users.
* ``sample``: a recommender helps to draw users or candidates.
* ``counterexample``: the search for the smallest example.
* ``control``: a relation that changes as much as possible shows what the recommender reads.
* ``again``: a question once more, to see whether answers changed.
* ``retry``: a failed call once more.
"""

SEARCH: Purpose = "counterexample"
CONTROL: Purpose = "control"

COUNTED_APART = (SEARCH, CONTROL)
"""Purposes other than the tests' own: they are counted apart,
because no status depends on their answers.
"""

LAST = 2**20
"""More than the number of tests of a run: a control counts
for a test only if no test sends the same call.
"""

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


class Cause(NamedTuple):
    """The test that needs a call. Of several causes the smallest counts: that of the
    first test.

    Attributes:
        place: The place of the test among the tests of the run; infinity after the last
            test.
        purpose: The place of the purpose in `PURPOSES`.
        suite: The suite of the test; empty after the last test.
        model: The name of the recommender.
    """

    place: float
    purpose: int
    suite: str
    model: str


Caused = tuple[Sequence[Any], list[str]]
"""The fields of a `Cause` and the keys of its calls, as test reports carry them."""


class Causes:
    """Notes the causes of the calls of one process.

    Which test sends a call first depends on the order in which answers arrive and on
    the number of workers. So each test that uses a call names its cause, and the
    smallest counts.
    """

    def __init__(self) -> None:
        self._known: dict[str, Cause] = {}
        self._news: dict[str, Cause] = {}
        self.end()

    def begin(self, place: int, suite: str) -> None:
        """From now on a test sends calls: the one at `place` in the run, of `suite`."""
        self._test: tuple[float, str] = (place, suite)

    def end(self) -> None:
        """From now on no test sends calls."""
        self._test = (math.inf, "")

    def add(self, model: str, keys: Iterable[str], purpose: Purpose) -> None:
        """Note that the current test uses calls to `model`."""
        place, suite = self._test
        if purpose == CONTROL:
            place += LAST
        cause = Cause(place, PURPOSES.index(purpose), suite, model)
        for key in keys:
            known = self._known.get(key)
            if known is None or cause < known:
                self._known[key] = cause
                self._news[key] = cause

    def drain(self) -> list[Caused]:
        """The causes that are new since the last drain, or smaller than before."""
        keys_by_cause: dict[Cause, list[str]] = {}
        for key, cause in self._news.items():
            keys_by_cause.setdefault(cause, []).append(key)
        self._news = {}
        return [(list(cause), keys) for cause, keys in keys_by_cause.items()]

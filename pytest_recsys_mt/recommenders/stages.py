"""One stage of a recommender, such as its retrieval, as a recommender of its own.

A recommender shows its stages by the attribute ``stages``, the names of methods in the
order in which it takes them: ``stages = ("retrieve", "filter", "rank")``. Each takes
requests as ``recommend`` does, and returns a list of item ids, or a `Recommendation`,
for each. A spec names one with ``?stage=retrieve``.
"""

from collections.abc import Sequence
from typing import Any

from pytest_recsys_mt.requests import Recommendation, Request
from pytest_recsys_mt.requests.abilities import stages_of
from pytest_recsys_mt.safety.errors import RecommenderError, meant

PARAMETER = "stage"
"""The parameter of a spec that names a stage."""


def stage_of(recommender: Any, name: str, spec: str) -> "Stage":
    """A stage of a recommender.

    Raises:
        RecommenderError: If it has no such stage.
    """
    stages = stages_of(recommender)
    if name not in stages:
        shows = f"it shows {', '.join(map(repr, stages))}{meant(name, stages)}"
        none = 'it shows none; declare them, as in stages = ("retrieve", "rank")'
        raise RecommenderError(
            f"{spec!r}: there is no stage {name!r}; {shows if stages else none}",
        )
    return Stage(recommender, name)


class Stage:
    """A stage of a recommender: what it declares besides is that of the recommender."""

    stages = ()
    any_length = True

    def __init__(self, recommender: Any, stage: str) -> None:
        self._recommender = recommender
        self._stage = stage

    @property
    def identity(self) -> dict[str, object] | None:
        """All that its answers depend on, if the recommender says that of its own."""
        identity = getattr(self._recommender, "identity", None)
        return identity and {**identity, PARAMETER: self._stage}

    @property
    def name(self) -> str | None:
        """Its name in reports, if the recommender has one."""
        name = getattr(self._recommender, "name", None)
        return name and f"{name}?{PARAMETER}={self._stage}"

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """The lists of the stage, in the order of the requests."""
        answers = getattr(self._recommender, self._stage)(requests)
        return [
            answer
            if isinstance(answer, Recommendation)
            else Recommendation(tuple(answer))
            for answer in answers
        ]

    def __getattr__(self, name: str) -> Any:
        # Private names are not passed on, so that copying and pickling, which look for
        # attributes before there is a recommender, end.
        if name.startswith("_") or name in ("recommend_each", "complete"):
            raise AttributeError(name)
        return getattr(self._recommender, name)

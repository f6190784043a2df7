"""How questions are made."""

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields

from pytest_recsys_mt.errors import DataError

WAYS = ("uniform", "popular")
"""How wrong options are drawn."""


@dataclass(frozen=True)
class Settings:
    """How questions are made; the defaults are the paper's if it gives them.

    Attributes:
        support: Least support of an association rule.
        confidence: Least confidence of one.
        similarity: Least cosine of the right option to the target, for memory-based similarity.
        clusters: Number of clusters of k-means over the embeddings.
        history: Number of the latest items that a history shows, as in the paper's examples.
        least: Least interactions of a user or an item in a question, as in a 5-core. A question on
            a user's next item has at least one fewer before it.
        steps: Approximate number of steps in training the matrix factorisation.
        users: Most users from whom the matrix factorisation learns, drawn uniformly; its questions
            are only about them.
        wrong: How wrong options are drawn: ``uniform``, as in the paper, or ``popular``: among those
            next in popularity to the right one, as often above it as below.
    """

    support: float = 0.01
    confidence: float = 0.01
    similarity: float = 0.01
    clusters: int = 10
    history: int = 5
    least: int = 5
    steps: int = 600
    users: int = 20_000
    wrong: str = "uniform"

    def __post_init__(self) -> None:
        for name in ("support", "confidence", "similarity"):
            if not 0 < getattr(self, name) <= 1:
                raise DataError(
                    f"{name} must be above 0 and at most 1, got {getattr(self, name)!r}"
                )
        for name in ("clusters", "history", "least", "steps", "users"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if self.wrong not in WAYS:
            raise DataError(
                f"wrong={self.wrong!r} is no way to draw options; {_choose(self.wrong, WAYS)}"
            )

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Settings":
        """The settings that texts name, each ``name=value``, the others as by default.

        Raises:
            DataError: If there is no such setting, it is given twice, or it has no such value. The
                text names the nearest one.
        """
        known: dict[str, type] = {each.name: type(each.default) for each in fields(cls)}
        values: dict[str, object] = {}
        for text in texts:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals or not value:
                raise DataError(f"{text!r} is not NAME=VALUE, such as 'support=0.02'")
            if name not in known:
                raise DataError(
                    f"no setting of questions is called {name!r}; {_choose(name, known)}"
                )
            if name in values:
                raise DataError(
                    f"the setting {name!r} is given twice, now with {value!r}; leave one out"
                )
            try:
                values[name] = known[name](value)
            except ValueError:
                kind = "a whole number" if known[name] is int else "a number"
                raise DataError(f"{name}={value!r}: {kind} is needed") from None
        return cls(**values)  # type: ignore[arg-type]

    @property
    def changed(self) -> tuple[str, ...]:
        """What differs from the defaults, each ``name=value``, in the order of the attributes."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return tuple(
            f"{each.name}={values[each.name]}"
            for each in fields(self)
            if values[each.name] != each.default
        )


def _choose(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    told = f"choose from {list(known)!r}"
    return f"{told}; did you mean {near[0]!r}?" if near else told

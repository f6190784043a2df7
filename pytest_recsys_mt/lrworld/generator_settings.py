"""How questions are made."""

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields

from pytest_recsys_mt.errors import DataError

WAYS = ("uniform", "popular")
"""How wrong options are drawn."""


@dataclass(frozen=True)
class Settings:
    """How questions are made; the defaults are the paper's if it gives them."""

    support: float = 0.01  # least support of an association rule
    confidence: float = 0.01  # least confidence of one
    similarity: float = 0.01  # least cosine of the right option to the target, from memory
    clusters: int = 10  # of k-means over the embeddings
    history: int = 5  # latest items that a history shows, as in the examples
    least: int = 5  # interactions of a user or an item in a question, as in a 5-core
    steps: int = 600  # approximately, in training the matrix factorisation
    users: int = 20_000  # from whom it learns at most, drawn uniformly
    wrong: str = "uniform"  # or ``popular``: as often more popular than the right one as less

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
        values = ((each, getattr(self, each.name)) for each in fields(self))
        return tuple(f"{each.name}={value}" for each, value in values if value != each.default)


def _choose(word: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    told = f"choose from {list(known)!r}"
    return f"{told}; did you mean {near[0]!r}?" if near else told

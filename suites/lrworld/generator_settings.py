"""How questions are made."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from pytest_recsys_mt.requests import specs


@dataclass(frozen=True)
class Settings:
    """How questions are made; the defaults are the paper's if it gives them."""

    support: float = 0.01  # least support of an association rule
    confidence: float = 0.01  # least confidence of one
    # Most items that a rule starts from; the paper shows sets, and gives no size.
    antecedent: int = 1
    # Least cosine of the right option to the target, from memory.
    similarity: float = 0.01
    clusters: int = 10  # of k-means over the embeddings
    history: int = 5  # latest items that a history shows, as in the examples
    least: int = 5  # interactions of a user or an item in a question, as in a 5-core
    # Attributes, with commas between them; items without one leave the data.
    having: str = ""
    steps: int = 600  # approximately, in training the matrix factorisation
    users: int = 20_000  # from whom it learns at most, drawn uniformly
    # Popular: as often more popular as less.
    wrong: Literal["uniform", "popular"] = "uniform"

    def __post_init__(self) -> None:
        shares = {
            name: getattr(self, name)
            for name in ("support", "confidence", "similarity")
        }
        specs.check(
            "questions",
            *(
                (name, x, 0 < x <= 1, "above 0 and at most 1")
                for name, x in shares.items()
            ),
            *specs.at_least(
                1,
                self,
                "antecedent",
                "clusters",
                "history",
                "least",
                "steps",
                "users",
            ),
        )

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Settings":
        """The settings that texts name, each ``name=value``, the others as by default.

        Raises:
            RecommenderError: If there is no such setting, it is given twice, or it has
                no such value.
        """
        spec = "questions?" + "&".join(texts)
        made: Settings = specs.build(cls, specs.split(spec)[1], spec)
        return made

    @property
    def changed(self) -> tuple[str, ...]:
        """The values other than the defaults, each
        ``name=value``, in the order of the attributes.
        """
        values = ((each, getattr(self, each.name)) for each in fields(self))
        return tuple(
            f"{each.name}={value}" for each, value in values if value != each.default
        )

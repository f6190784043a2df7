"""How questions are made."""

from dataclasses import dataclass

from pytest_recsys_mt.errors import DataError


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
    """

    support: float = 0.01
    confidence: float = 0.01
    similarity: float = 0.01
    clusters: int = 10
    history: int = 5
    least: int = 5
    steps: int = 600
    users: int = 20_000

    def __post_init__(self) -> None:
        for name in ("support", "confidence", "similarity"):
            if not 0 < getattr(self, name) <= 1:
                raise DataError(
                    f"{name} must be above 0 and at most 1, got {getattr(self, name)!r}"
                )
        for name in ("clusters", "history", "least", "steps", "users"):
            if getattr(self, name) < 1:
                raise DataError(f"{name} must be at least 1, got {getattr(self, name)!r}")

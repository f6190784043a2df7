"""The result of reading an answer, and how it was read."""

from dataclasses import dataclass

from pytest_recsys_mt.requests import Entry, Recommendation, Usage


@dataclass(frozen=True)
class Reading:
    """The result of reading an answer."""

    entries: tuple[Entry, ...]  # best first; those of an ambiguous answer name nothing
    rule: str = ""  # which part of it was taken, and why; empty if nothing was
    left_out: tuple[str, ...] = ()  # its other lists, in words
    ambiguous: bool = False  # whether several lists have equal claims

    @property
    def how(self) -> str:
        """How the list was found, in words; of an answer
        without one, why not and what to ask for.
        """
        left = f"left out: {', '.join(self.left_out)}" if self.left_out else ""
        return "; ".join(filter(None, (self.rule, left)))

    def recommendation(
        self,
        k: int,
        text: str,
        usage: Usage | None = None,
    ) -> Recommendation:
        """The answer of a recommender: the first k entries that name something."""
        items = tuple(entry.item for entry in self.entries if entry.item is not None)
        return Recommendation(
            items[:k],
            self.entries,
            text,
            usage,
            how=self.how,
            ambiguous=self.ambiguous,
        )

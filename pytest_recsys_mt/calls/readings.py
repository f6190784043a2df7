"""What was read in text answers: how well a model keeps to the form in which it is asked to answer."""

from __future__ import annotations

from collections import Counter

from pytest_recsys_mt.requests import EntryKind, Recommendation

Reading = dict[EntryKind, int]
"""The entries of one answer by their kind: plain data, as test reports carry it."""


class Readings:
    """The readings of one process, by recommender and by the key of the call."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Reading]] = {}

    def note(self, name: str, key: str, answer: Recommendation) -> None:
        """Keep what was read in an answer, if it is a text."""
        if answer.text is not None and answer.error is None:
            kinds: Counter[EntryKind] = Counter(entry.kind for entry in answer.entries)
            self._found.setdefault(name, {})[key] = dict(kinds)

    def drain(self) -> dict[str, dict[str, Reading]]:
        """The readings since the last drain."""
        found, self._found = self._found, {}
        return found

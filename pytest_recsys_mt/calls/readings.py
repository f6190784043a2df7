"""The results of reading text answers: how well a model keeps to
the form in which it must answer.
"""

from collections import Counter
from collections.abc import Collection
from typing import Any

from pytest_recsys_mt.requests import Entry, Recommendation
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import sanitize

Reading = dict[str, Any]
"""The result of reading one answer, as test reports carry it: the number of
its ``entries`` by their kind, whether it is ``ambiguous``, and of an unread one the
beginning of its ``text``, ``how`` it was read, and ``takes_json`` if the model could
have been required to be JSON.
"""

LONGEST = 1_000
"""Characters of an unread answer that are kept."""


class Readings:
    """The readings of one process, by recommender and by the key of the call."""

    def __init__(self) -> None:
        self._readings: dict[str, dict[str, Reading]] = {}  # by recommender, and by key

    def note(
        self,
        name: str,
        key: str,
        answer: Recommendation,
        hidden: Collection[str] = (),
        *,
        takes_json: bool = False,
    ) -> None:
        """Keep the result of reading an answer, if it is a text; items that were
        `hidden` from the model count as offered.

        `takes_json` is that of the recommender's `Subject`.
        """
        if answer.text is None or answer.error is not None:
            return
        kinds = Counter(_kind(entry, hidden) for entry in answer.entries)
        reading: Reading = {"entries": dict(kinds)}
        if answer.ambiguous:
            reading["ambiguous"] = True
        if answer.unread:
            if takes_json:
                reading["takes_json"] = True
            reading["text"] = sanitize(redact(answer.text[:LONGEST]))
            reading["how"] = sanitize(redact(answer.how))
        self._readings.setdefault(name, {})[key] = reading

    def drain(self) -> dict[str, dict[str, Reading]]:
        """The readings since the last drain."""
        drained = self._readings
        self._readings = {}
        return drained


def _kind(entry: Entry, hidden: Collection[str]) -> str:
    """The kind of an entry, as the model could know it."""
    if entry.kind == "history" and entry.item in hidden:
        return "candidate"
    return entry.kind

"""What was read in text answers: how well a model keeps to the form in which it is asked to answer."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from pytest_recsys_mt.requests import Recommendation
from pytest_recsys_mt.safety.redaction import redact
from pytest_recsys_mt.safety.sanitize import sanitize

Reading = dict[str, Any]
"""What was read in one answer, as plain data, as test reports carry it: the number of its ``entries`` by their kind,
whether it is ``ambiguous``, and of an unread one the beginning of its ``text``, ``how`` it was read, and ``takes_json``
if the model could have been asked for JSON.
"""

LONGEST = 1_000
"""Characters of an unread answer that are kept."""


class Readings:
    """The readings of one process, by recommender and by the key of the call."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Reading]] = {}

    def note(
        self,
        name: str,
        key: str,
        answer: Recommendation,
        hidden: Collection[str] = (),
        *,
        takes_json: bool = False,
    ) -> None:
        """Keep what was read in an answer, if it is a text; items that were `hidden` from the model count as offered.

        `takes_json` is that of the recommender's `Subject`.
        """
        if answer.text is not None and answer.error is None:
            kinds = (
                "candidate" if entry.kind == "history" and entry.item in hidden else entry.kind
                for entry in answer.entries
            )
            found: Reading = {"entries": dict(Counter(kinds))}
            if answer.ambiguous:
                found["ambiguous"] = True
            if answer.unread and takes_json:
                found["takes_json"] = True
            if answer.unread:
                texts = {"text": answer.text[:LONGEST], "how": answer.how}
                found |= {part: sanitize(redact(text)) for part, text in texts.items()}
            self._found.setdefault(name, {})[key] = found

    def drain(self) -> dict[str, dict[str, Reading]]:
        """The readings since the last drain."""
        found, self._found = self._found, {}
        return found

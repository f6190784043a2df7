"""Whether a test is about items that the user has
already: only then do its examples mark them.
"""

from collections.abc import Sequence

from pytest_recsys_mt.gate.document import Row
from pytest_recsys_mt.oracles.judging import hidden

SEEN = "already in the history"


def is_about_seen(row: Row) -> bool:
    """Whether an item of the history is a fault in this row: ``only_candidates``,
    ``at_most:history_repeats@5``.
    """
    return any(map(hidden.is_about_seen, row["oracle"].split(":")))


def kinds_shown(kinds: Sequence[str] | None, *, seen: bool) -> Sequence[str]:
    """The kinds of the entries of an answer (`requests.EntryKind`), without those of
    the history unless a test is about them.
    """
    return [kind if seen or kind != "history" else "" for kind in kinds or ()]

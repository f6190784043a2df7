"""Every exception this package raises on purpose."""

import re
from collections.abc import Collection

# A cell of a table, or an argument, may have any length.
_ENDLESS = re.compile(r"(\S{80})\S{400,}(\S{20})")


def abridged(text: str) -> str:
    """`text` with the middle of words left out that are too long to be read."""
    return _ENDLESS.sub(r"\1...\2", text)


def meant(name: str, among: Collection[str]) -> str:
    """The end of a sentence on an unknown name: the nearest
    known one, if one is near.
    """
    import difflib  # needed only after a typing error

    near = difflib.get_close_matches(name, among, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


class RecsysError(Exception):
    """Base class of all failures that this package raises;
    values that its text repeats are abridged.
    """

    def __str__(self) -> str:
        return abridged(super().__str__())


class DataError(RecsysError):
    """A data file is missing, malformed or unsafe; the
    text names the file and the line.
    """


class RecommenderError(RecsysError):
    """A recommender cannot be found, built or called."""


class MissingExtraError(RecommenderError):
    """An optional package is not installed; the text says how to install it."""


class MissingAnswerError(RecommenderError):
    """A replay needs an answer that was never recorded."""


class UnreachableError(RecommenderError):
    """A service does not identify itself; the text names it
    and the cause, so no traceback is shown.
    """


class OwnCodeError(RecommenderError):
    """A user's own code raised outside a call: its ``fit``, or a judge.

    The text is one line; the traceback stands below the test that reports it.
    """


class CacheError(RecsysError):
    """The cache directory cannot be used, or a row in it is foreign."""


class PriceError(RecsysError):
    """A price file cannot be read, or an entry is not a price."""


class PolicyError(RecsysError):
    """The policy of the release gate cannot be read, or a record cannot
    be a baseline.
    """


class LimitReachedError(RecsysError):
    """A limit of the run is reached, so a call was not sent; the text
    names the option.
    """


class OracleError(RecsysError):
    """An oracle was called with arguments it cannot serve."""


class RelationError(RecsysError):
    """A transformation was built with arguments it cannot serve."""


class FaultError(RecsysError):
    """A fault to plant is unknown, or cannot be planted here."""


class NotApplicable(Exception):  # noqa: N818 - not an error: users without the property are counted
    """Raised by a transformation for a request it cannot serve.

    The user is counted under the given reason and never scored.
    """

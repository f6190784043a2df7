"""The options of the suite: they are in records, in the gate
and in printed commands, as those of the core.
"""

from pytest_recsys_mt.extensions import SuiteOption


def whole(text):
    """A number of years."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError("a whole number of years is needed")
    return int(text)


OPTIONS = (
    SuiteOption(
        "period",
        "years that the suite counts as one period (default: 10)",
        "YEARS",
        default=10,
        read=whole,
    ),
)

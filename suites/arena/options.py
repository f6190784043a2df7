"""The options of the arena."""

from pytest_recsys_mt.extensions import SuiteOption

JUDGES = ("judge(comparisons)", "complete")
"""An object with any of these methods judges: by itself,
or as a text model that is asked to.
"""

OPTIONS = (
    SuiteOption(
        "judge",
        "judge in suites/arena: a language model, or your own judge",
        "SPEC",
        in_ini=False,
        verbs=JUDGES,
    ),
)

"""The document that `recsys-mt mutate` writes as JSON, as types."""

from typing import Literal, TypedDict

SCHEMA = "recsys-mt-adequacy/1"

Cell = Literal["killed", "survived", "unclear"]
"""The result of one test for one fault: the test failed, passed, or was inconclusive.
"""

Fate = Literal["killed", "survived", "unclear", "equivalent", "not planted"]
"""The result for one fault. ``equivalent``: the recommender answers with it as without
it. ``not planted``: the run ended without a record, or the fault changed no answer
because none passed through it.
"""


class Difference(TypedDict):
    """How far a fault changed the answers, found by comparing them, whatever the tests'
    verdicts.

    Attributes:
        lost: The mean loss of agreement (1 - RBO) over all of them.
        hit: Those of them with an answer that differs.
        p_value: Of the test that answers differ by no more than the recommender's own
            noise; None if it has none, so that each difference comes from the fault.
    """

    answers: int
    differing: int
    lost: float
    users: int
    hit: int
    p_value: float | None


class Remedy(TypedDict):
    """The relation that is made to find a fault, and a test of it to paste."""

    relation: str
    code: str
    promised: str  # the value that a recommender must declare in `promises`; else empty
    asked: list[
        str
    ]  # tests of the suite with this relation, which pass without the fault


class Trial(TypedDict):
    """One fault of one strength in one recommender."""

    fault: str
    name: str
    strength: float
    model: str
    does: str
    fate: Fate
    reason: str  # why it counts as that, where it needs saying
    cells: dict[str, Cell]  # by the id of each test that passes without a fault
    difference: Difference | None
    remedy: Remedy | None
    made: int
    seconds: float


class Score(TypedDict):
    """The share of faults that the suite kills, of those that change answers."""

    model: str
    killed: int
    faults: int  # how many change answers: killed, survived or unclear
    share: float | None
    interval: list[float] | None  # bounds of the share, by Clopper and Pearson
    confidence: float
    equivalent: int
    equivalent_killed: int  # how many of those a test killed nevertheless: false alarms
    not_planted: int


class Adequacy(TypedDict):
    """The whole document."""

    schema: str
    version: str
    arguments: list[str]
    data: str
    seed: int
    users: int
    tests: list[str]  # that hold without a fault, or in part, in their order
    partly: list[str]  # those that hold in part, and are inconclusive in another
    left_out: dict[str, str]  # the others, and how they ended without a fault
    failing: list[str]
    scores: list[Score]
    trials: list[Trial]
    seconds: float

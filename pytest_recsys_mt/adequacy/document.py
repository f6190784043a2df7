"""What `recsys-mt mutate` writes as JSON, as types."""

from __future__ import annotations

from typing import Literal, TypedDict

SCHEMA = "recsys-mt-adequacy/1"

Cell = Literal["killed", "survived", "unclear"]
"""What became of one fault in one test: the test failed, it passed, or it could not tell."""

Fate = Literal["killed", "survived", "unclear", "equivalent", "not planted"]
"""What became of one fault. ``equivalent``: the recommender answers with it as without it.
``not planted``: the run ended without a record, or the fault changed no answer because none passed through it."""


class Difference(TypedDict):
    """How far a fault changed the answers, found by comparing them, whatever the tests said.

    Attributes:
        lost: The mean loss of agreement (1 - RBO) over all of them.
        hit: Those of them with an answer that differs.
        p_value: Of the test that answers differ by no more than the recommender's own noise; None if it has
            none, so that each difference comes from the fault.
    """

    answers: int
    differing: int
    lost: float
    users: int
    hit: int
    p_value: float | None


class Remedy(TypedDict):
    """The relation that is made to find a fault, and a test of it to paste.

    Attributes:
        promised: What a recommender must declare in ``promises`` for it to apply; empty if nothing.
        asked: Tests of the suite that ask this already, and pass without the fault.
    """

    relation: str
    code: str
    promised: str
    asked: list[str]


class Trial(TypedDict):
    """One fault of one strength in one recommender.

    Attributes:
        reason: Why it counts as that, where it needs saying.
        cells: By the id of each test that passes without a fault.
    """

    fault: str
    name: str
    strength: float
    model: str
    does: str
    fate: Fate
    reason: str
    cells: dict[str, Cell]
    difference: Difference | None
    remedy: Remedy | None
    made: int
    seconds: float


class Score(TypedDict):
    """The share of faults that the suite kills, of those that change answers.

    Attributes:
        faults: How many change answers: killed, survived or unclear.
        interval: Bounds of the share, by Clopper and Pearson.
        equivalent_killed: How many of those a test killed nevertheless: false alarms.
    """

    model: str
    killed: int
    faults: int
    share: float | None
    interval: list[float] | None
    confidence: float
    equivalent: int
    equivalent_killed: int
    not_planted: int


class Adequacy(TypedDict):
    """The whole document.

    Attributes:
        tests: The tests that hold without a fault, or in part, in their order.
        partly: Those of them that hold in part, and are inconclusive in another.
        left_out: The others, which can kill nothing, and how they ended without a fault.
    """

    schema: str
    version: str
    arguments: list[str]
    data: str
    seed: int
    users: int
    tests: list[str]
    partly: list[str]
    left_out: dict[str, str]
    failing: list[str]
    scores: list[Score]
    trials: list[Trial]
    seconds: float

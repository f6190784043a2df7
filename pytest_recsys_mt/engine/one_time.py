"""Whether the answers of two sides are of one time: a difference between answers of
different times may be drift.
"""

import math
from collections.abc import Collection

from pytest_recsys_mt.engine.outcomes import Outcome

LATELY = 3600.0
"""Seconds within which two answers with the same fingerprint count as of one
time; `drift` uses it, too.
"""


def apart_by(ours: Collection[float | None], theirs: Collection[float | None]) -> float:
    """Seconds between the first and the last time of two sides: 0 if all are the same,
    infinity if one is unknown.
    """
    if ours == theirs:
        return 0.0
    known_times = []
    for time in {*ours, *theirs}:
        if time is None:
            return math.inf
        known_times.append(time)
    return max(known_times) - min(known_times)


def of_one_time(one: Outcome, other: Outcome, *, one_recommender: bool = True) -> bool:
    """Whether both sides of a user count as answered at one time: together, or within
    `LATELY` by known versions.

    Of one recommender, that is one version; of two, each has its own.
    """
    between = apart_by(one.times, other.times)
    if not between:
        return True
    versions = one.fingerprints | other.fingerprints
    are_known = (
        None not in versions and len(one.fingerprints) == len(other.fingerprints) == 1
    )
    return (
        between <= LATELY and are_known and (len(versions) == 1 or not one_recommender)
    )

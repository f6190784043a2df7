"""Which answers of a user count as of one time, so that their
difference is no change of the recommender.
"""

import pytest

from tests.support.engine import LATELY, Outcome, of_one_time

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("seconds", "versions", "expected"),
    [
        (0.0, ("v1", "v2"), True),  # one batch
        (60.0, ("v1", "v1"), True),
        (LATELY, ("v1", "v1"), True),
        (LATELY + 1, ("v1", "v1"), False),
        (60.0, ("v1", "v2"), False),
        (60.0, ("v1", None), False),
        (60.0, (None, None), False),
    ],
)
def test_answers_within_an_hour_of_one_version_are_of_one_time(
    seconds: float,
    versions: tuple[str | None, str | None],
    expected: bool,
) -> None:
    one, other = (
        Outcome(times=frozenset({time}), fingerprints=frozenset({version}))
        for time, version in zip((NOW, NOW + seconds), versions, strict=True)
    )
    assert of_one_time(one, other) is expected
    assert of_one_time(other, one) is expected


def test_answers_of_an_unknown_time_are_not() -> None:
    one = Outcome(times=frozenset({None}), fingerprints=frozenset({"v1"}))
    other = Outcome(times=frozenset({NOW}), fingerprints=frozenset({"v1"}))
    assert not of_one_time(one, other)

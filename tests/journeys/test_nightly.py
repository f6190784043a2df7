"""A recommender tested every night on other users, until a release breaks a promise."""

import pytest

from tests.journeys.pages import Journey, rows_of
from tests.support.gate import Store, read


@pytest.mark.slow  # gate/test_monitor monitors nights
def test_nightly(journey: Journey) -> None:
    journey.follow("nightly")
    store = Store.of(journey.folder)
    nights = [read(store.run(number).record) for number in (1, 2, 3)]
    users = [
        {*rows_of(night, relation="scale_ratings(2)")[0]["per_user"]}
        for night in nights
    ]
    assert len(set.union(*users)) > max(map(len, users))

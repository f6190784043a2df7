"""The fixtures of the suite, a plugin of pytest: every run
imports it, so it imports nothing heavy.
"""

import pytest


@pytest.fixture
def decades_baseline(recsys_recommenders, recsys_session):
    """What a simple recommender answers to the same requests: that
    of --recsys-against, else the most popular.
    """
    return recsys_recommenders(recsys_session.option("against") or "mostpop")

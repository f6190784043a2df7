"""The sampled users are like all users, as far as the
recommender of recsys_sampler shows.
"""

from pytest_recsys_mt import thresholds
from pytest_recsys_mt.oracles import representative

LIMIT = thresholds(__file__, "sample")


def test_the_sample_is_like_all_users(recsys_sampler):
    everybody = recsys_sampler.using(users=EVERYBODY)
    assert representative(
        recsys_sampler.run(),
        everybody.run(),
        "ndcg",
        alpha=LIMIT["alpha"],
    )


EVERYBODY = 10**9

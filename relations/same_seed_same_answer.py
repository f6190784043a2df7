"""The same request once more, with the same seeds.

The request stays unchanged. `Transformation.same_seed` makes it a relation: each call
is sent again with the seed of its counterpart, so random sampling cannot explain a
difference.

Example:
    >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
    >>> same_seed_same_answer(request, np.random.default_rng(0)) == request
    True
    >>> same_seed_same_answer.same_seed
    True
"""

from pytest_recsys_mt.relations.transformation import built_in

same_seed_same_answer = built_in(
    "same_seed_same_answer",
    promise="The same request with the same seed gets the same answer.",
    same_seed=True,
)

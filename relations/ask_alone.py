"""The same request, sent by itself.

The request stays unchanged. `Transformation.asked` makes it a relation: each call is
sent in a batch of its own, while the calls of the source are sent together.

Example:
    >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
    >>> ask_alone(request, np.random.default_rng(0)) == request
    True
    >>> ask_alone.asked
    'alone'
"""

from pytest_recsys_mt.relations.transformation import built_in

ask_alone = built_in(
    "ask_alone",
    promise="A request that is sent by itself gets the same answer as in a batch with others.",
    may_keep=True,
    asked="alone",
)

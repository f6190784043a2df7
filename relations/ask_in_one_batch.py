"""The same request, sent in one batch with those of all others, in another order.

The request stays unchanged. `Transformation.asked` makes it a relation: all calls of the follow-up are sent in one
batch, those of the source in the smaller batches in which a run asks. So answers that are swapped within a batch, a
batch that is cut, and what is kept from one request to the next show.

Example:
    >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
    >>> ask_in_one_batch(request, np.random.default_rng(0)) == request
    True
    >>> ask_in_one_batch.asked
    'in one batch'
"""

from pytest_recsys_mt.relations.transformation import built_in

ask_in_one_batch = built_in(
    "ask_in_one_batch",
    promise="A request gets the same answer in a large batch, at any place in it.",
    may_keep=True,
    asked="in one batch",
)

"""The same request, answered by another process.

The request stays unchanged. `Transformation.asked` makes it a relation: a new process
creates and fits the recommender again, with the same seed, other hashes of text and
other addresses of objects. This needs a recommender that can be created again: a
built-in one, ``package.module:name`` or ``path/to/file.py:name``, but not one from a
fixture or an endpoint.

Source:
    This project; https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED.

Example:
    >>> request = Request("u", history=(), scale=Scale(), candidates=None, k=5)
    >>> ask_elsewhere(request, np.random.default_rng(0)) == request
    True
    >>> ask_elsewhere.asked
    'elsewhere'
"""

from pytest_recsys_mt.relations.transformation import built_in

ask_elsewhere = built_in(
    "ask_elsewhere",
    promise="A request gets the same answer from another process with the same recommender.",
    may_keep=True,
    asked="elsewhere",
)

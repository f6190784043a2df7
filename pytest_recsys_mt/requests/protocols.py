"""The protocols of recommenders and text models: any object with the method."""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from pytest_recsys_mt.requests.answer import Recommendation
from pytest_recsys_mt.requests.prompt import Completion, Prompt
from pytest_recsys_mt.requests.request import Request

Aspect = Literal["ratings", "history", "candidates", "user", "titles", "instruction"]
"""A part of a request that a recommender may or may not read.

* ``ratings``: the values of the ratings, not the items that have them
* ``history``: the history as a whole, and all facts of the user in a prompt
* ``candidates``: which items are offered
* ``user``: the identity of the user: the name together with the history
* ``titles``: the titles of items, not their ids
* ``instruction``: the additional sentence of the prompt
"""

Promised = Literal["ratings", "recency", "order", "titles", "scale"]
"""The promises of a recommender in addition to those of all, in its attribute
``promises``.

* ``ratings``: every rating counts, and an item the more, the higher it is rated.
* ``recency``: an item counts the more, the later it was chosen.
* ``order``: the order of the history counts, as it does for models of sequences.
* ``titles``: an item is what its title says, so items of one title are one to it.
* ``scale``: the fit does not depend on the unit of the ratings that it is fitted to.
"""


@runtime_checkable
class Recommender(Protocol):
    """Anything that answers requests, a batch at a time, in the order of the batch.

    Optional attributes: ``deterministic: bool`` (False), ``seeded: bool`` (False; True
    if a request that is sent again with the same `Request.replicate` gets the same
    answer), ``fingerprint: str`` (part of the cache key; without it answers are stored
    for one run only), ``fit(dataset, seed)`` (called once before the first request),
    ``reads_text: bool`` (False; True if it uses `instruction` and `edits`), ``ignores:
    Collection[Aspect]`` (empty; the parts of a request that it does not read).
    ``promises`` (nothing; ``("ratings",)`` if an item counts the more, the higher it is
    rated, ``("recency",)`` if the latest items count most, ``("order",)`` if the order
    of the history counts). ``reads_latest: int | None`` (None; how many of a history's
    latest items it reads at most). For a request that it cannot serve (no candidates,
    if it ranks candidates) it raises `NotApplicable`; any other exception is a failed
    call of that request.
    """

    def recommend(self, requests: Sequence[Request], /) -> Sequence[Recommendation]:
        """The answers, one per request, in their order."""
        ...


@runtime_checkable
class TextModel(Protocol):
    """Anything that completes prompts, a batch at a time, in the order of the batch.

    Optional attributes: ``fingerprint: str`` and ``ignores`` as in `Recommender`;
    ``seeded: bool`` (False; True if a prompt that is sent again with the same
    `Prompt.seed` gets the same completion); ``scores_choices: bool`` (False; True if it
    scores `Prompt.choices`); ``reads_images: bool`` (False; True if it sees
    `Message.images`); ``lists_as_json: bool`` (False; True if its prompts are to ask
    for recommendations as JSON); ``lists_offered: bool`` (False; True if the schema of
    that JSON is to allow the offered titles alone).
    """

    def complete(self, prompts: Sequence[Prompt], /) -> Sequence[Completion]:
        """The completions, one per prompt, in their order."""
        ...

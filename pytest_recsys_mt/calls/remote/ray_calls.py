"""How an `Executor` sends calls to a Ray cluster, one recommender at a time."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.remote.cluster import Needs, connect, require_ray
from pytest_recsys_mt.calls.remote.pool import Pool
from pytest_recsys_mt.calls.remote.recipe import Recipe, pack_recipe
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.safety.errors import RecommenderError


class RayCalls:
    """Sends calls to an existing Ray cluster; the first call connects to it.

    Only one recommender has actors at a time: a second one would wait for its cores
    forever.

    Args:
        training: Returns the data that recommenders are fitted to, which are sent once.
    """

    def __init__(self, training: Callable[[], Dataset]) -> None:
        require_ray()
        self._training = training
        self._sent_training: Any = None  # Ray's reference to the data
        # By the id of the subject: how to make its recommender, or why it cannot be
        # sent.
        self._recipes: dict[int, tuple[bytes | RecommenderError, Needs]] = {}
        self._pool: Pool | None = None
        self._pool_subject: Subject | None = None
        self._connected = False

    def know(
        self,
        subject: Subject,
        recipe: Recipe,
        recommender: object,
        needs: Needs,
    ) -> None:
        """Store how to make the recommender of a subject, before it is fitted here.

        A recommender that cannot be sent raises only when calls are sent: its answers
        may all be cached.
        """
        try:
            packed: bytes | RecommenderError = pack_recipe(recipe, recommender)
        except RecommenderError as error:
            packed = error
        self._recipes[id(subject)] = (packed, needs)

    def ask(
        self,
        subject: Subject,
        calls: Sequence[Call],
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls; yields as `Subject.ask` does."""
        subject = getattr(subject, "origin", subject)
        recipe, needs = self._recipes[id(subject)]
        if isinstance(recipe, RecommenderError):
            raise recipe
        if connect():
            self._connected = True
        if self._pool is None or self._pool_subject is not subject:
            self._let_go()
            self._pool_subject = subject
            if self._sent_training is None:
                import ray

                self._sent_training = ray.put(self._training())
            self._pool = Pool(subject.name, recipe, self._sent_training, needs)
        try:
            yield from self._pool.ask(calls)
        finally:
            # Release the cores of idle actors for the next worker that needs them.
            if "PYTEST_XDIST_WORKER" in os.environ:
                self._let_go()

    def close(self) -> None:
        """End the actors, and the connection if this object made it."""
        self._let_go()
        if self._connected:
            import ray

            self._sent_training = None
            self._connected = False
            ray.shutdown()

    def _let_go(self) -> None:
        """End the actors, so that their cores are free."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None
            self._pool_subject = None

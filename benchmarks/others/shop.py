"""The recommender of the experiment for this plugin: its
requests' histories are those of the made-up users.
"""

import os
from collections.abc import Sequence

from experiment import Shop

from pytest_recsys_mt import NotApplicable
from pytest_recsys_mt.requests import Recommendation, Request


class Asked:
    """`Shop` of the kind and the seed in the environment (``KIND``, ``SEED``)."""

    def __init__(self) -> None:
        self.shop = Shop(os.environ["KIND"], int(os.environ["SEED"]))
        self.deterministic = self.shop.kind == "exact"

    def answer(self, request: Request) -> Recommendation:
        """One list."""
        if request.candidates is None:
            raise NotApplicable("it ranks candidates only")
        history = [int(rating.item.id) for rating in request.history]
        offered = [int(item.id) for item in request.candidates]
        return Recommendation(
            tuple(map(str, self.shop.rank(history, offered)[: request.k])),
        )

    def recommend(self, requests: Sequence[Request]) -> list[Recommendation]:
        """One list a request."""
        return [self.answer(request) for request in requests]

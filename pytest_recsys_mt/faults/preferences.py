"""Faults in what a recommender makes of likes, dislikes, wishes and their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pytest_recsys_mt.faults.cure import moves
from pytest_recsys_mt.faults.fault import Ask, Fault, Known
from pytest_recsys_mt.faults.reading import revalued
from pytest_recsys_mt.requests import Rating, Recommendation, Request

_EXCLUDING = re.compile(r"[^.!?]*\b(?:no|not|nothing|never|without)\b[^.!?]*[.!?]?", re.IGNORECASE)


class ReadsUpsideDown(Fault):
    """The best rating is taken for the worst."""

    does = "takes the highest rating for the lowest, and the reverse"
    cure = moves("neighbours_not_lowered", "raise_rating", "a_higher_rating_lowers_nothing")

    def request(self, request: Request) -> Request:
        ends = request.scale.low + request.scale.high
        return revalued(request, lambda each: ends - each.value)


class DislikesAreLikes(Fault):
    """What was rated worst counts as what was rated best."""

    does = "takes ratings in the lowest quarter of the scale for the highest"
    cure = moves("neighbours_lowered", "dislike_item", "a_dislike_lowers_what_is_like_it")

    def request(self, request: Request) -> Request:
        scale = request.scale
        return revalued(
            request, lambda each: scale.high if scale.unit(each.value) <= 0.25 else each.value
        )


class NeverForgets(Fault):
    """What a user has taken back still counts."""

    does = "keeps the ratings of the first request of a user, and adds to later ones what they leave out"
    cure = moves("neighbours_lowered", "forget_item", "what_is_taken_back_has_no_effect")

    def __init__(self, strength: float, known: Known) -> None:
        super().__init__(strength, known)
        self._first: dict[str, Request] = {}

    def recommend(self, requests: Sequence[Request], ask: Ask) -> list[Recommendation]:
        for each in sorted(requests, key=lambda request: request.replicate):
            self._first.setdefault(each.user, each)
        return super().recommend(requests, ask)

    def request(self, request: Request) -> Request:
        first = self._first.get(request.user, request)
        shown = {each.item.id for each in request.history}
        shown.update(item.id for item in request.candidates or ())
        low, width = request.scale.low, request.scale.high - request.scale.low
        moments = [each.timestamp for each in request.history if each.timestamp is not None]
        kept = tuple(
            Rating(
                each.item,
                low + width * first.scale.unit(each.value),
                min([each.timestamp, *moments[:1]]) if each.timestamp is not None else None,
            )
            for each in first.history
            if each.item.id not in shown
        )
        seen = set(request.seen).difference(each.item.id for each in kept)
        return request.replace(history=(*kept, *request.history), seen=tuple(sorted(seen)))


class IgnoresExclusions(Fault):
    """A "no" is not read."""

    does = "does not read the sentences of an instruction that say what a user does not want"
    cure = moves("exclusion_kept", "exclude_genre", "an_exclusion_is_kept", 0.1)

    def request(self, request: Request) -> Request:
        return request.replace(instruction=_EXCLUDING.sub("", request.instruction).strip())


class IgnoresTheOrder(Fault):
    """What was chosen last is not known."""

    does = "reads a history in the order of the ids of its items, whichever was chosen last"
    cure = moves("neighbours_raised", "choose_again", "the_latest_choice_counts_most")

    def request(self, request: Request) -> Request:
        ordered = sorted(request.history, key=lambda each: each.item.id)
        history = tuple(
            replace(each, timestamp=there.timestamp)
            for each, there in zip(ordered, request.history, strict=True)
        )
        return request.replace(history=history)

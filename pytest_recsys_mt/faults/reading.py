"""Faults in how a recommender reads a request: its likes,
dislikes, wishes and their order.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from pytest_recsys_mt.faults.cure import Cure, different, moves, same, unmoved
from pytest_recsys_mt.faults.fault import Ask, Fault, Known
from pytest_recsys_mt.requests import Rating, Recommendation, Request, Scale

_ORDER = same("reorder_history", "all_of_the_history_counts")
_UNIT = unmoved("scale_ratings(2)", "the_unit_of_ratings_is_irrelevant")
_EXCLUDING = re.compile(
    r"[^.!?]*\b(?:no|not|nothing|never|without)\b[^.!?]*[.!?]?",
    re.IGNORECASE,
)


def revalued(
    request: Request,
    value: Callable[[Rating], float],
    scale: Scale | None = None,
) -> Request:
    """`request` with other ratings, and another scale if
    given; ratings outside of it are cut to it.
    """
    scale = scale or request.scale
    history = tuple(
        replace(rating, value=min(scale.high, max(scale.low, value(rating))))
        for rating in request.history
    )
    return request.replace(history=history, scale=scale)


class LatestOnly(Fault):
    """Only the last few ratings are read."""

    does = "reads only the last {strength:g} ratings"
    strengths = (10, 5, 3)
    cure = _ORDER

    def request(self, request: Request) -> Request:
        return request.replace(history=request.history[-int(self.strength) :])


class OldestOnly(Fault):
    """Only the first few ratings are read."""

    does = "reads only the oldest {strength:g} ratings"
    strengths = (10, 5, 3)
    cure = _ORDER

    def request(self, request: Request) -> Request:
        return request.replace(history=request.history[: int(self.strength)])


class MissesTheLatest(Fault):
    """The latest ratings are not known yet."""

    does = "does not know the latest {strength:g} ratings yet"
    strengths = (5, 10, 15)
    cure = _ORDER

    def request(self, request: Request) -> Request:
        read = max(1, len(request.history) - int(self.strength))
        return request.replace(history=request.history[:read])


class FilterBubble(Fault):
    """Only ratings of items like the latest are read."""

    does = "reads only those ratings whose items share a genre with the latest"
    cure = _ORDER

    def request(self, request: Request) -> Request:
        if not request.history:
            return request
        latest = set(request.history[-1].item.attributes.get("genres", ()))
        alike = [
            rating
            for rating in request.history[:-1]
            if latest.intersection(rating.item.attributes.get("genres", ()))
        ]
        return request.replace(history=(*alike, request.history[-1]))


class OneItemRules(Fault):
    """Only the least popular item of the history counts."""

    does = "takes the rarest item of the history for the whole taste"
    cure = same("noisy_profile(1)", "one_item_more_changes_little", 0.15)

    def request(self, request: Request) -> Request:
        counts = self.known.popularity
        rarest_first = sorted(
            request.history,
            key=lambda each: (counts.get(each.item.id, 0), each.item.id),
        )
        return request.replace(history=tuple(rarest_first[:1]))


class IgnoresTheUser(Fault):
    """All users are taken for the same person."""

    does = "answers everybody as the same person, who likes what most people have"
    cure = different("swap_history", "another_history_changes_the_answer")

    def request(self, request: Request) -> Request:
        shown = {item.id for item in request.candidates or ()}
        popular = [item for item in self._popular if item not in shown][:20]
        history = tuple(
            Rating(self.known.items[item], request.scale.high) for item in popular
        )
        seen = request.seen
        if request.candidates is None:
            seen = tuple(sorted(request.known.difference(popular)))
        return request.replace(history=history, seen=seen)


class IgnoresRatings(Fault):
    """All rated items are taken for liked."""

    does = "takes {share} of the rated items for liked as much as possible, whatever their rating"
    strengths = (0.5, 1.0)
    cure = different("invert_ratings", "ratings_matter", margin=0.05)

    def request(self, request: Request) -> Request:
        high = request.scale.high
        return revalued(
            request,
            lambda each: high if self.hits(each.item.id) else each.value,
        )


class IgnoresLowRatings(Fault):
    """Ratings below the middle of the scale are not read."""

    does = "does not read ratings below the middle of the scale"
    cure = different("drop_dislikes", "dislikes_matter", margin=0.02)

    def request(self, request: Request) -> Request:
        middle = (request.scale.low + request.scale.high) / 2
        liked = tuple(rating for rating in request.history if rating.value >= middle)
        return request.replace(history=liked) if liked else request


class ReadsRawNumbers(Fault):
    """Every scale is taken for 1 to 5."""

    does = "takes every scale for 1 to 5"
    cure = _UNIT

    def request(self, request: Request) -> Request:
        return revalued(request, lambda each: each.value, Scale(1, 5))


class RawThreshold(Fault):
    """Ratings of 4 and more are taken for likes, on any scale."""

    does = "takes 4 and more for liked, and less for disliked, on any scale"
    cure = _UNIT

    def request(self, request: Request) -> Request:
        return revalued(
            request,
            lambda each: 5.0 if each.value >= 4 else 1.0,
            Scale(1, 5),
        )


class MindsTheOffset(Fault):
    """The length of the scale is known, its beginning is not."""

    does = "takes every scale to begin at a quarter of its length, as 1 to 5 does"
    cure = unmoved("shift_ratings(1)", "the_zero_of_ratings_is_irrelevant")

    def request(self, request: Request) -> Request:
        width = request.scale.high - request.scale.low
        return revalued(
            request,
            lambda each: each.value,
            Scale(width / 4, width / 4 + width),
        )


class MindsTheLength(Fault):
    """The beginning of the scale is known, its length is not."""

    does = "takes every scale to be four points long"
    cure = _UNIT

    def request(self, request: Request) -> Request:
        low = request.scale.low
        return revalued(request, lambda each: each.value, Scale(low, low + 4))


class CountsRepeats(Fault):
    """A repeat in the history cuts it off."""

    does = "reads only the first three ratings of a history that names an item twice"
    cure = same("duplicate_history", "a_repeat_in_the_history_is_irrelevant")

    def request(self, request: Request) -> Request:
        ids = [rating.item.id for rating in request.history]
        repeated = len(set(ids)) < len(ids)
        return request.replace(history=request.history[:3]) if repeated else request


class KnowsNames(Fault):
    """Users whose name is not known are served as beginners."""

    does = "reads one rating only of users whose name it has not met in training"
    cure: ClassVar[Cure | None] = same(
        "rename_user",
        "the_name_of_a_user_is_irrelevant",
    )

    def request(self, request: Request) -> Request:
        if request.user in self.known.users:
            return request
        return request.replace(history=request.history[:1])


class ReadsUpsideDown(Fault):
    """The best rating is taken for the worst."""

    does = "takes the highest rating for the lowest, and the reverse"
    cure = moves(
        "neighbours_not_lowered",
        "raise_rating",
        "a_higher_rating_lowers_nothing",
    )

    def request(self, request: Request) -> Request:
        ends = request.scale.low + request.scale.high
        return revalued(request, lambda each: ends - each.value)


class DislikesAreLikes(Fault):
    """The worst ratings count as the best."""

    does = "takes ratings in the lowest quarter of the scale for the highest"
    cure = moves(
        "neighbours_lowered",
        "dislike_item",
        "a_dislike_lowers_what_is_like_it",
    )

    def request(self, request: Request) -> Request:
        scale = request.scale
        return revalued(
            request,
            lambda each: scale.high if scale.unit(each.value) <= 0.25 else each.value,
        )


class NeverForgets(Fault):
    """Ratings that a user has taken back still count."""

    does = "keeps the ratings of the first request of a user, and adds to later ones what they leave out"
    cure = moves(
        "neighbours_lowered",
        "forget_item",
        "what_is_taken_back_has_no_effect",
    )

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
        moments = [
            each.timestamp for each in request.history if each.timestamp is not None
        ]
        kept = tuple(
            Rating(
                each.item,
                low + width * first.scale.unit(each.value),
                min([each.timestamp, *moments[:1]])
                if each.timestamp is not None
                else None,
            )
            for each in first.history
            if each.item.id not in shown
        )
        seen = set(request.seen).difference(each.item.id for each in kept)
        return request.replace(
            history=(*kept, *request.history),
            seen=tuple(sorted(seen)),
        )


class IgnoresExclusions(Fault):
    """Exclusions in an instruction are not read."""

    does = "does not read the sentences of an instruction that say what a user does not want"
    cure = moves("exclusion_kept", "exclude_genre", "an_exclusion_is_kept", 0.1)

    def request(self, request: Request) -> Request:
        return request.replace(
            instruction=_EXCLUDING.sub("", request.instruction).strip(),
        )


class IgnoresTheOrder(Fault):
    """The order of choices is not known."""

    does = "reads a history in the order of the ids of its items, whichever was chosen last"
    cure = moves("neighbours_raised", "choose_again", "the_latest_choice_counts_most")

    def request(self, request: Request) -> Request:
        ordered = sorted(request.history, key=lambda each: each.item.id)
        history = tuple(
            replace(each, timestamp=there.timestamp)
            for each, there in zip(ordered, request.history, strict=True)
        )
        return request.replace(history=history)

"""What would explain that two deterministic recommenders differ: a changed request.

If one of them answers a request as the other answers it with a part left out, cut or
shifted, that part is what the two sides treat differently: a shorter history, a default
in place of an attribute, another time zone. Each guess is tried on one user whose lists
differ, and if it explains them on further ones. Nothing is concluded from it but the sentence:
no verdict depends on these calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from pytest_recsys_mt.requests.nouns import plural

STAGES = (1, 2, 4, 8, 5)
"""Users on whom a guess is tried, and further ones as long as it explains all before."""

FEWEST_USERS = 3
"""A guess that was tried on fewer users is not reported."""

LEAST_SHARE = 0.8
"""The least share of the users tried whose lists a guess must explain."""

CUTS = (1, 3, 5, 10, 15, 20, 30, 50, 100)
"""Lengths of a history that is cut."""

LATE = (1, 2, 3, 5, 10)
"""Ratings that the end of a history lacks."""

HOURS = (*range(-12, 0), *range(1, 13))
HOUR = 3600
DAY = 86_400
MOST_EQUAL = 3
"""Guesses that are named if they explain the same."""

MOST_ATTRIBUTES = 6
"""Attributes of users that are left out, one at a time."""


@dataclass(frozen=True)
class Guess:
    """A change of a request that may be all that two sides treat differently.

    Attributes:
        words: What is left of the request, after "answers as B does to".
        change: Returns the changed request; None where it cannot be changed so.
    """

    words: str
    change: Callable[[Request], Request | None]


class Differing(NamedTuple):
    """A request that two recommenders answer differently, and both lists."""

    request: Request
    lists: tuple[Sequence[str], Sequence[str]]


Ask = Callable[[Sequence[Request]], Sequence[Sequence[str] | None]]
"""Sends requests; returns the list of each, None where there is none."""


@dataclass(frozen=True)
class Explanation:
    """A guess that explains what differs.

    Attributes:
        words: Of the guess.
        answers_so: Which side answers as the other one does to the changed request: 0
            for A, 1 for B.
        explained: For how many users it is so.
        tried: On how many it was tried.
    """

    words: str
    answers_so: int
    explained: int
    tried: int

    def sentence(self, names: tuple[str, str]) -> str:
        """The explanation, with the names of A and B."""
        one, other = names[self.answers_so], names[1 - self.answers_so]
        users = f"{self.explained} of {self.tried}"
        return (
            f"{one} answers as {other} does to {self.words}: so for {users} users "
            f"whose lists differ."
        )


def explanation(
    differing: Sequence[Differing],
    asks: tuple[Ask, Ask],
    thing: str,
) -> Explanation | None:
    """The guess that explains most of what differs; None if none does.

    Args:
        differing: Users whose lists differ.
        asks: Send requests to A, and to B.
        thing: What an item is called.
    """
    guesses = list(guesses_for([each.request for each in differing], thing))
    # B is the side that is served, and more often the one that lacks something.
    for answers_so in (1, 0):
        counts = _counts(guesses, differing, asks[1 - answers_so], answers_so)
        found = [
            Explanation(guess.words, answers_so, explained, tried)
            for guess, (explained, tried) in counts.items()
            if tried >= FEWEST_USERS and explained >= LEAST_SHARE * tried
        ]
        if found:
            return _best(found)
    return None


def _best(found: Sequence[Explanation]) -> Explanation:
    """The explanation of most users; equal ones are named together."""
    best = max(found, key=lambda each: (each.explained / each.tried, each.tried))
    # Where all histories are of one length, the first 15 of 20 items are those without
    # the last 5.
    equal = [
        each.words
        for each in found
        if (each.explained, each.tried) == (best.explained, best.tried)
    ]
    return dataclasses.replace(best, words=", or to ".join(equal[:MOST_EQUAL]))


def _counts(
    guesses: Sequence[Guess],
    differing: Sequence[Differing],
    ask: Ask,
    answers_so: int,
) -> Mapping[Guess, tuple[int, int]]:
    """For how many users each guess explains the list of a side, and on how many it was
    tried: on further ones as long as it explains all.
    """
    counts: dict[Guess, tuple[int, int]] = dict.fromkeys(guesses, (0, 0))
    begin = 0
    for size in STAGES:
        left = [
            guess for guess, (explained, tried) in counts.items() if explained == tried
        ]
        some = slice(begin, begin + size)
        more = _explaining(left, differing, ask, answers_so, some)
        for guess, (explained, tried) in more.items():
            counts[guess] = (counts[guess][0] + explained, counts[guess][1] + tried)
        begin += size
    return counts


def _explaining(
    guesses: Sequence[Guess],
    differing: Sequence[Differing],
    ask: Ask,
    answers_so: int,
    some: slice,
) -> Mapping[Guess, tuple[int, int]]:
    """For how many of some users each guess explains the list of a side, and on how many
    it was tried. All requests are sent in one batch.
    """
    tried: list[tuple[Guess, Sequence[str]]] = []
    requests: list[Request] = []
    for guess in guesses:
        changed = [(each, guess.change(each.request)) for each in differing]
        changeable = [
            (each, request)
            for each, request in changed
            if request is not None and request != each.request
        ]
        for each, request in changeable[some]:
            assert request is not None
            requests.append(request)
            tried.append((guess, each.lists[answers_so]))
    counts: dict[Guess, tuple[int, int]] = dict.fromkeys(guesses, (0, 0))
    answers = ask(requests) if requests else []
    for (guess, wanted), answer in zip(tried, answers, strict=True):
        explained, number = counts[guess]
        is_explained = answer is not None and list(answer) == list(wanted)
        counts[guess] = (explained + is_explained, number + 1)
    return counts


def guesses_for(requests: Sequence[Request], thing: str) -> Iterator[Guess]:
    """All guesses, the simplest first.

    Args:
        requests: The requests of the users whose lists differ; they decide which cuts
            and which attributes there are.
        thing: What an item is called.
    """
    things = plural(thing or "item")
    longest = max((len(request.history) for request in requests), default=0)
    for number in sorted(CUTS, reverse=True):
        if number < longest:
            yield _of_history(
                f"the last {number} {things} of the history",
                lambda history, number=number: history[-number:],
            )
    for number in sorted(CUTS, reverse=True):
        if number < longest:
            yield _of_history(
                f"the first {number} {things} of the history",
                lambda history, number=number: history[:number],
            )
    for number in LATE:
        words = "item" if number == 1 else f"{number} {things}"
        yield _of_history(
            f"the history without its last {words}",
            lambda history, number=number: history[:-number],
        )
    yield _of_history("the history without its last day", _without_last_day)
    yield _of_history("an empty history", lambda history: ())
    yield _of_history("the history in reverse order", lambda history: history[::-1])
    yield _of_history(
        "the history in the order of time",
        lambda history: tuple(sorted(history, key=lambda each: each.timestamp or 0)),
    )
    yield _of_history("the history without repeated items", _without_repeats)
    yield from _of_ratings()
    yield from _of_attributes(requests)
    yield from _of_times()
    yield Guess(
        "the candidates in reverse order",
        lambda request: _with_candidates(request, lambda given: given[::-1]),
    )
    yield Guess(
        "the candidates in the order of their ids",
        lambda request: _with_candidates(
            request,
            lambda given: tuple(sorted(given, key=lambda item: item.id)),
        ),
    )


History = tuple[Rating, ...]


def _of_history(words: str, change: Callable[..., History]) -> Guess:
    return Guess(
        words,
        lambda request: request.replace(history=change(request.history)),
    )


def _without_last_day(history: History) -> History:
    seconds = [each.timestamp for each in history if each.timestamp is not None]
    if not seconds:
        return history
    end = max(seconds) - DAY
    return tuple(each for each in history if (each.timestamp or 0) <= end)


def _without_repeats(history: History) -> History:
    latest = {each.item.id: each for each in history}
    return tuple(each for each in history if latest[each.item.id] is each)


def _of_ratings() -> Iterator[Guess]:
    def of_scale(words: str, change: Callable[[float, Scale], float | None]) -> Guess:
        def changed(request: Request) -> Request:
            kept = []
            for rating in request.history:
                value = change(rating.value, request.scale)
                if value is not None:
                    kept.append(dataclasses.replace(rating, value=value))
            return request.replace(history=tuple(kept))

        return Guess(words, changed)

    def middle(scale: Scale) -> float:
        return (scale.low + scale.high) / 2

    yield of_scale(
        "the ratings above the middle of the scale alone",
        lambda value, scale: value if value > middle(scale) else None,
    )
    yield of_scale(
        "the ratings from the middle of the scale on alone",
        lambda value, scale: value if value >= middle(scale) else None,
    )
    yield of_scale("equal ratings", lambda value, scale: scale.high)
    yield of_scale(
        "ratings on the reversed scale",
        lambda value, scale: scale.low + scale.high - value,
    )
    yield of_scale(
        "ratings rounded to whole numbers",
        lambda value, scale: min(scale.high, max(scale.low, float(round(value)))),
    )


def _of_attributes(requests: Sequence[Request]) -> Iterator[Guess]:
    names = dict.fromkeys(name for request in requests for name in request.attributes)
    if not names:
        return
    yield Guess(
        "a user without attributes",
        lambda request: request.replace(attributes={}),
    )
    for name in list(names)[:MOST_ATTRIBUTES]:
        yield Guess(
            f"a user without the attribute {name!r}",
            lambda request, name=name: request.replace(  # type: ignore[misc]
                attributes={
                    each: value
                    for each, value in request.attributes.items()
                    if each != name
                },
            ),
        )


def _of_times() -> Iterator[Guess]:
    def shifted(hours: int) -> Callable[[Rating], Rating]:
        def shift(rating: Rating) -> Rating:
            if rating.timestamp is None:
                return rating
            return dataclasses.replace(
                rating,
                timestamp=rating.timestamp + hours * HOUR,
            )

        return shift

    yield _of_history(
        "ratings without times",
        lambda history: tuple(
            dataclasses.replace(each, timestamp=None) for each in history
        ),
    )
    for hours in sorted(HOURS, key=abs):
        side = "later" if hours > 0 else "earlier"
        number = "1 hour" if abs(hours) == 1 else f"{abs(hours)} hours"
        shift = shifted(hours)
        yield _of_history(
            f"ratings of {number} {side}",
            lambda history, shift=shift: tuple(map(shift, history)),
        )


def _with_candidates(
    request: Request,
    change: Callable[[tuple[Item, ...]], tuple[Item, ...]],
) -> Request | None:
    if request.candidates is None:
        return None
    return request.replace(candidates=change(tuple(request.candidates)))

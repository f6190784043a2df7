"""The base class of a recommender under test: its questions, how they are sent, its
answers; and a recommender that answers with items.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any

from pytest_recsys_mt.calls.answer import (
    Answer,
    as_they_arrive,
    failure,
    plain_recommendation,
    refusing_titles,
    together_or_apart,
    usage_of,
)
from pytest_recsys_mt.calls.call import Call, Content, Part, key_of
from pytest_recsys_mt.calls.timing import timed
from pytest_recsys_mt.calls.users_code import RECOMMEND, Patience
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.requests import (
    Aspect,
    Entry,
    Message,
    Promised,
    Recommendation,
    Recommender,
    Request,
    abilities,
)
from pytest_recsys_mt.safety.errors import NotApplicable

DECLARED = (
    "deterministic",
    "seeded",
    "reads_text",
    "ignores",
    "promises",
    "reads_latest",
    "durable",
    "live",
    "waits",
    "streams",
    "fingerprint",
    "takes_json",
)
"""Attributes that a `Wrapped` takes over from the subject inside it."""


class Difference(IntEnum):
    """Whether two answers to one request differed, and whether a verdict reports it;
    the largest value counts.
    """

    NONE = 0
    UNREPORTED = 1
    REPORTED = 2


class Subject:
    """A recommender under test: the base class of all.

    Attributes:
        name: Its name in reports and in the record.
        deterministic: Whether it declares that it always gives the same answer.
        seeded: Whether it declares that the same seed gives the same answer.
        reads_text: Whether instructions and prompt edits reach it.
        ignores: The parts of a request that it declares not to read; known once it is
            fitted.
        promises: Its further promises; see `requests.Promised`.
        reads_latest: How many of a history's latest items it declares to read at most;
            None without a limit.
        stages: The methods that show its stages.
        any_length: Whether its lists are longer than asked for, as those of a stage.
        durable: Whether its answers may be stored beyond this run.
        live: Whether its answers may change during the run; recorded ones cannot.
        waits: Whether its calls take long compared with running a test: a text model,
            or a recommender that is called over the network.
        streams: Whether calls can be added while others are in flight.
        takes_json: Whether ``answer=json`` would require lists as JSON, in a schema,
            and the spec does not say so.
        fingerprint: Digest that distinguishes its versions; None if it gives none.
        defined: Where users define its class, as file and name; empty if it is none of
            theirs.
        fit_seconds: How long its latest fit took, of the processor; 0 before the first.
        unfit: Why a relation on training data does not apply to it; empty if it does.
        behind: The subject that it calls in turn, whose calls alone count; None if it
            sends its calls itself.
        earlier_difference: Whether two answers to one request differed in an earlier
            test, whatever it declares.
        new_difference: The same for this test: it counts from the next test on.
        longer: The keys of calls that it answered with more items than it was asked
            for, in no text.
        differed: The users of whose requests two answers differed, if no verdict is
            about that.
    """

    deterministic = False
    seeded = False
    reads_text = False
    ignores: frozenset[Aspect] = frozenset()
    promises: frozenset[Promised] = frozenset()
    reads_latest: int | None = None
    stages: tuple[str, ...] = ()
    any_length = False
    durable = False
    live = True
    waits = False
    streams = False
    takes_json = False
    fingerprint: str | None = None
    defined = ""
    unfit = ""
    fit_seconds = 0.0
    behind: Subject | None = None
    earlier_difference = Difference.NONE
    new_difference = Difference.NONE

    def __init__(self, name: str) -> None:
        self.name = name
        self.differed: set[str] = set()
        self.longer: set[str] = set()

    def fit(self, training: Dataset, seed: int) -> None:
        """Train, if needed; called once, before the first call."""

    def same_question(self, one: Request, other: Request) -> bool:
        """Whether two requests look the same to the recommender."""
        return one == other

    def messages(self, request: Request) -> Sequence[Message]:
        """The prompt of a text model for `request`; nothing for other recommenders."""
        return ()

    def hidden(self, request: Request) -> frozenset[str]:
        """Ids of the items that the user of `request` has and
        which the recommender does not receive.
        """
        return frozenset()

    def call(self, request: Request, repeat: bool) -> Call:
        """The call for `request`; a `repeat` is sent again although nothing differs."""
        raise NotImplementedError

    def prompt_tokens(self, call: Call) -> int | None:
        """The tokens of a call's prompt, by the recommender's
        own tokenizer; None without one.
        """
        return None

    def request_body(self, call: Call) -> dict[str, Any] | None:
        """The request body for a Chat Completions
        endpoint; None for a model without one.
        """
        return None

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls; yields (position, answer), those that arrived together in one
        list.

        Before the answer of a call, `LOST` may come for it any number of times.
        """
        raise NotImplementedError

    def also(self, calls: Sequence[Call]) -> bool:
        """Send these calls too, within the `ask` that is being read, which numbers them
        on.

        Returns:
            Whether it can.
        """
        return False

    def wind_down(self) -> bool:
        """Start no further call of the current batch.

        Returns:
            Whether it can: calls in flight are then still answered.
        """
        return False

    def in_flight(self) -> Sequence[int]:
        """The positions of the calls that may have been paid
        for, although `ask` yielded no answer.
        """
        return ()

    def read(self, request: Request, answer: Answer) -> Recommendation:
        """The answer as a `Recommendation`.

        Raises:
            NotApplicable: If the recommender cannot serve the request.
        """
        if "error" in answer:
            return Recommendation((), error=answer["error"])
        if "not_applicable" in answer:
            raise NotApplicable(answer["not_applicable"])
        seen = frozenset(request.seen)
        entries: list[Entry] = []
        for text, kind, item in answer.get("entries", ()):
            # The recommender may have classified its entries only by what the request
            # shows.
            is_seen = kind == "candidate" and item in seen
            entries.append(Entry(text, "history" if is_seen else kind, item))
        return Recommendation(
            items=tuple(answer.get("items", ())),
            entries=tuple(entries),
            text=answer.get("text"),
            usage=usage_of(answer),
            how=str(answer.get("how", "")),
            ambiguous=bool(answer.get("ambiguous", False)),
        )


class Wrapped(Subject):
    """A subject around another one, which it is like in everything that it does not say
    itself.

    Attributes:
        origin: The other one.
    """

    def __init__(self, origin: Subject) -> None:
        super().__init__(origin.name)
        self.origin = origin
        for name in DECLARED:
            setattr(self, name, getattr(origin, name))

    def same_question(self, one: Request, other: Request) -> bool:
        return self.origin.same_question(one, other)

    def messages(self, request: Request) -> Sequence[Message]:
        return self.origin.messages(request)

    def hidden(self, request: Request) -> frozenset[str]:
        return self.origin.hidden(request)

    def call(self, request: Request, repeat: bool) -> Call:
        return self.origin.call(request, repeat)

    def prompt_tokens(self, call: Call) -> int | None:
        return self.origin.prompt_tokens(call)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        return self.origin.ask(calls)

    def read(self, request: Request, answer: Answer) -> Recommendation:
        return self.origin.read(request, answer)


class RecommenderSubject(Subject):
    """A recommender that answers requests.

    Args:
        recommender: The object that answers.
        name: Its name in reports and in the record.
        fixture: The fixture that gave it, if several fixtures may give objects of one
            name; else empty.
        timeout: Most seconds for one call of a method; None for no limit.
    """

    def __init__(
        self,
        recommender: Recommender,
        name: str,
        fixture: str = "",
        timeout: float | None = None,
    ) -> None:
        super().__init__(name)
        self._patience = Patience(timeout)
        self.deterministic = abilities.declares(recommender, "deterministic")
        self.seeded = abilities.declares(recommender, "seeded")
        self.reads_text = abilities.declares(recommender, "reads_text")
        self.promises = abilities.promises_of(recommender)
        self.stages = abilities.stages_of(recommender)
        self.any_length = abilities.declares(recommender, "any_length")
        self.live = abilities.declares(recommender, "live")
        self.waits = abilities.method_of(recommender, "recommend_each") is not None
        self.defined = _defined(type(recommender))
        self._recommender = recommender
        self._fixture = fixture
        self._model = Part({})
        if abilities.method_of(recommender, "fit") is None:
            self.unfit = f"{name} has no fit(dataset, seed)"

    def fit(self, training: Dataset, seed: int) -> None:
        recommender = self._recommender
        fit = abilities.method_of(recommender, "fit")
        if fit is not None:
            fit(training.apart(), seed)
        self.ignores = abilities.ignored_by(recommender)
        self.reads_latest = abilities.latest_read_by(recommender)
        fingerprint = abilities.fingerprint_of(recommender)
        self.durable = fingerprint is not None
        self.fingerprint = (
            key_of({"fingerprint": fingerprint}) if self.durable else None
        )
        identity = self._identity_in_key()
        identity["fingerprint"] = fingerprint
        identity["seed"] = seed
        if fit is not None:
            identity["training"] = training.digest
        self._model = Part(identity)

    def stand_for(self, fit: str) -> None:
        """Stand for one fit while planning: `fit` distinguishes its calls."""
        identity = self._identity_in_key()
        identity["fit"] = fit
        self._model = Part(identity)

    def _identity_in_key(self) -> dict[str, Any]:
        return abilities.identity_in_key(self._recommender, self.name, self._fixture)

    def same_question(self, one: Request, other: Request) -> bool:
        same_question = abilities.method_of(self._recommender, "same_question")
        if one == other:
            return True
        if same_question is None:
            return False
        return bool(same_question(one, other))

    def call(self, request: Request, repeat: bool) -> Call:
        content = Content(self._model, request, repeat)
        return Call(key_of(content), content, request)

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Send the calls as one batch; if that fails, one by one, so that each fails
        alone.

        A recommender with a `recommend_each` does both itself, and yields answers as
        they arrive.
        """
        requests = [call.request for call in calls if call.request is not None]
        recommend_each = abilities.method_of(self._recommender, "recommend_each")
        if recommend_each is None:
            return timed(together_or_apart(self._recommend, requests))

        def plain(position: int, arrived: Recommendation | NotApplicable) -> Answer:
            if isinstance(arrived, NotApplicable):
                return failure(arrived)
            return _plain_answer(arrived, requests[position])

        return timed(as_they_arrive(recommend_each, requests, plain))

    def _recommend(self, requests: Sequence[Request]) -> list[Answer]:
        returned = self._patience.call(self._recommender.recommend, requests)
        recommendations = RECOMMEND.held(returned, len(requests))
        pairs = zip(recommendations, requests, strict=False)
        return [
            _plain_answer(recommendation, request) for recommendation, request in pairs
        ]


def _plain_answer(recommendation: Recommendation, request: Request) -> Answer:
    return refusing_titles(plain_recommendation(recommendation), request)


def _defined(kind: type) -> str:
    """The file and the name of a class; empty for one of this
    package, which answers for many recommenders.
    """
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return ""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return f"{os.path.realpath(file)}:{kind.__qualname__}" if file else ""

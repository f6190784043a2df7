"""A recommender with a fault planted around it, and how far its answers then differ from its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain

import numpy as np

from pytest_recsys_mt.calls.answer import Answer, failure, plain_recommendation
from pytest_recsys_mt.calls.call import AGAIN, SCHEMA, Call, key_of
from pytest_recsys_mt.calls.causes import BESIDE
from pytest_recsys_mt.calls.subject import FAILURES, Subject, Wavers, read_recommendation
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.faults import Dose, Fault, Known
from pytest_recsys_mt.gate.document import Planted
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.requests import Item, Message, Recommendation, Request

Send = Callable[[Subject, Sequence[Call]], Sequence[Answer]]
"""Gives one answer per call of the sound recommender: asks it, or has only what is known (then ``{}``)."""

Lists = tuple[tuple[str, ...], tuple[str, ...]]


class Faulty:
    """A subject that asks another one, and spoils its request, its answer, or both.

    The answers of the sound recommender come through `send`, so from the cache where it has them. What this subject
    answers is kept for the run only: its keys are those of the sound one with the fault.

    Args:
        sound: The recommender, fitted.
        dose: The fault.
        training: What it is fitted to.
        seed: Seed of the run.
        replicates: Calls per user of a recommender that is not deterministic.
        send: Asks the sound recommender.
        at_hand: Its answers that cost nothing.

    Attributes:
        behind: The sound recommender. Only its calls count.
    """

    def __init__(
        self,
        sound: Subject,
        dose: Dose,
        training: Dataset,
        seed: int,
        replicates: int,
        send: Send,
        at_hand: Send,
    ) -> None:
        self.behind = sound
        self.name = sound.name
        self.dose = dose
        known = Known(
            training.items,
            training.popularity,
            frozenset(training.interactions["user"]),
            seed,
        )
        self._fault: Fault = dose.planted(known)
        said = self._fault.deterministic
        self.deterministic = sound.deterministic if said is None else said
        self.reads_text = sound.reads_text
        self.ignores = sound.ignores
        self.promises = sound.promises
        self.durable = False
        self.live = sound.live
        self.waits = sound.waits
        self.streams = bool(getattr(sound, "streams", False))
        self.fingerprint = sound.fingerprint and key_of(
            {"sound": sound.fingerprint, "fault": dose.spec}
        )
        self.wavers: Wavers = ""
        self.wavered: Wavers = ""
        self._send, self._at_hand = send, at_hand
        self._replicates = replicates
        self._fit = [training.digest, seed, id(sound)]
        self._compared = Compared(sound.deterministic or not self._fault.costs())

    def fit(self, training: Dataset, seed: int) -> None:
        """Does nothing: the sound recommender is fitted."""

    def same_question(self, one: Request, other: Request) -> bool:
        """As the sound recommender does."""
        return self.behind.same_question(one, other)

    def messages(self, request: Request) -> Sequence[Message]:
        """What a text model reads for `request`, as the fault has changed it."""
        return self.behind.messages(self._fault.request(request))

    def call(self, request: Request, repeat: bool) -> Call:
        """The call for `request`: that of the sound recommender, and the fault."""
        content = {
            "schema": SCHEMA,
            "model": self.name,
            "fault": self.dose.spec,
            "fit": self._fit,
            "request": digest(request),
            "replicate": request.replicate,
            "repeat": repeat,
        }
        return Call(key_of(content), content, request)

    def prompt_tokens(self, call: Call) -> int | None:
        """None: it sends nothing itself."""
        return None

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        """Ask the sound recommender, plant the fault, and note what it changed."""
        requests = [call.request for call in calls if call.request is not None]
        asked = _Asked(self, calls)
        try:
            made = self._fault.recommend(requests, asked)
            if len(made) != len(requests):
                raise ValueError(
                    f"the fault {self.dose.name!r} gave {len(made)} answers to {len(requests)} requests"
                )
            answers = [*map(asked.plain, made)]
        except FAILURES as error:
            answers = [failure(error)] * len(calls)
        else:
            counts = not calls or calls[0].purpose not in BESIDE  # no verdict depends on the others
            for request, faulty, sound in zip(requests, made, asked.at_hand(requests), strict=True):
                if counts and faulty.error is None and sound is not None and sound.error is None:
                    self._compared.add(request, sound.items, faulty.items)
        yield list(enumerate(answers))

    def read(self, request: Request, answer: Answer) -> Recommendation:
        """The answer as a `Recommendation`."""
        return read_recommendation(request, answer)

    def sound_calls(self, calls: Sequence[Call], requests: Sequence[Request]) -> list[Call]:
        """The calls of the sound recommender for `requests`, numbered as its own tests number them."""
        repeat = any(bool(call.content["repeat"]) for call in calls)
        purpose = calls[0].purpose if calls else "request"
        return [
            replace(
                self.behind.call(each.replace(replicate=self._number(each.replicate)), repeat),
                purpose=purpose,
            )
            for each in requests
        ]

    def _number(self, replicate: int) -> int:
        """The number of a call of the sound recommender, so that its cached answers serve."""
        theirs = 1 if self.behind.deterministic else self._replicates
        ours = 1 if self.deterministic else self._replicates
        return replicate % theirs if replicate >= AGAIN else replicate * theirs // ours

    def sent(self, calls: Sequence[Call], *, anyway: bool) -> Sequence[Answer]:
        """The answers of the sound recommender; without `anyway`, those that cost nothing."""
        return (self._send if anyway else self._at_hand)(self.behind, calls)

    def compared(self) -> Planted:
        """How far its answers differ from those of the sound recommender, as plain data."""
        return self._compared.plain(self.dose.spec, self.name)


class _Asked:
    """The sound recommender as a fault sees it during one batch; it asks nothing twice."""

    def __init__(self, faulty: Faulty, calls: Sequence[Call]) -> None:
        self._faulty = faulty
        self._calls = calls
        self._made: dict[int, tuple[Request, Call]] = {}
        self._known: dict[str, Recommendation] = {}
        self._raw: dict[int, Answer] = {}

    def __call__(self, requests: Sequence[Request]) -> list[Recommendation]:
        """See `faults.Ask`."""
        return [answer for answer in self._answers(requests, anyway=True) if answer is not None]

    def at_hand(self, requests: Sequence[Request]) -> list[Recommendation | None]:
        """The answers that are known; None where it would cost a call to know."""
        return self._answers(requests, anyway=False)

    def _answers(self, requests: Sequence[Request], *, anyway: bool) -> list[Recommendation | None]:
        new = [request for request in requests if id(request) not in self._made]
        for request, call in zip(new, self._faulty.sound_calls(self._calls, new), strict=True):
            self._made[id(request)] = (
                request,
                call,
            )  # with the request, so that its id stays its own
        calls = [self._made[id(request)][1] for request in requests]
        missing = {
            call.key: (call, request)
            for call, request in zip(calls, requests, strict=True)
            if call.key not in self._known
        }
        if missing:
            answers = self._faulty.sent([call for call, _ in missing.values()], anyway=anyway)
            for (key, (_, request)), answer in zip(missing.items(), answers, strict=True):
                if answer:
                    self._known[key] = self._read(request, answer)
        return [self._known.get(call.key) for call in calls]

    def _read(self, request: Request, answer: Answer) -> Recommendation:
        """The answer; one that is none keeps its reason, which faults leave alone."""
        if "unasked" in answer or "not_applicable" in answer:
            read = Recommendation((), error=answer.get("unasked") or answer.get("not_applicable"))
        else:
            try:
                read = self._faulty.behind.read(request, answer)
            except NotApplicable as reason:
                answer = {"not_applicable": str(reason)}
                read = Recommendation((), error=str(reason))
        if read.error is not None:
            self._raw[id(read)] = answer
        return read

    def plain(self, made: Recommendation) -> Answer:
        """An answer of the fault as plain data."""
        known = self._raw.get(id(made))
        if known is not None:
            return known
        return plain_recommendation(
            replace(made, usage=None) if isinstance(made, Recommendation) else made
        )


class Compared:
    """Answers with and without the fault, to the same calls.

    Args:
        exact: Whether any difference comes from the fault.
    """

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._answers = 0
        self._differing: list[Lists] = []
        self._users: dict[str, bool] = {}
        self._both: dict[str, dict[int, Lists]] = {}

    def add(self, request: Request, sound: tuple[str, ...], faulty: tuple[str, ...]) -> None:
        """Note both answers to one call."""
        differs = sound != faulty
        self._answers += 1
        if differs:
            self._differing.append((sound, faulty))
        self._users[request.user] = self._users.get(request.user, False) or differs
        if request.replicate < AGAIN and not self._exact:
            self._both.setdefault(digest(request), {})[request.replicate] = (sound, faulty)

    def plain(self, fault: str, model: str) -> Planted:
        """The sums; with the numbers of a test against the recommender's noise where answers vary."""
        return {
            "fault": fault,
            "model": model,
            "exact": self._exact,
            "answers": self._answers,
            "differing": len(self._differing),
            "lost": float((1 - agreement(self._differing)).sum()),
            "users": sorted(self._users),
            "hit": sorted(user for user, differs in self._users.items() if differs),
            "beyond_noise": [] if self._exact else self._beyond_noise(),
        }

    def _beyond_noise(self) -> list[float]:
        """For each question asked twice: how much more two sound answers agree than a faulty and a sound one."""
        twice = [
            [both[number] for number in sorted(both)[:2]]
            for both in self._both.values()
            if len(both) > 1
        ]
        changed = [(one, two[0]) for one, two in twice if one[0] != one[1]]
        noise = agreement([(sound, again) for (sound, _), again in changed])
        with_fault = agreement([(faulty, again) for (_, faulty), again in changed])
        return [float(each) for each in noise - with_fault]


def agreement(pairs: Sequence[Lists]) -> Floats:
    """The RBO of pairs of lists; a repeated item counts once, and an empty list agrees with an empty one only."""
    if not pairs:
        return np.zeros(0)
    sides = [[tuple(dict.fromkeys(items)) for items in side] for side in zip(*pairs, strict=True)]
    numbers: dict[str, int] = {}
    for items in chain.from_iterable(sides):
        for item in items:
            numbers.setdefault(item, len(numbers))
    depth = max(1, *(len(items) for side in sides for items in side))
    arrays = [np.full((len(pairs), depth), -1) for _ in sides]
    for array, side in zip(arrays, sides, strict=True):
        for row, items in zip(array, side, strict=True):
            row[: len(items)] = [numbers[item] for item in items]
    found = rbo(arrays[0], arrays[1])
    empty = np.isnan(found)
    found[empty] = [bool(one == two) for one, two in zip(*sides, strict=True) if not (one and two)]
    return found


def digest(request: Request) -> str:
    """SHA-256 of all that a request says, but for the number of its call; faster than `plain_request`."""
    history = [(_text(each.item), each.value, each.timestamp) for each in request.history]
    offered = None if request.candidates is None else list(map(_text, request.candidates))
    said = (
        request.user, history, request.scale, offered, request.k, request.instruction, request.edits,
        sorted(map(repr, request.attributes.items())), request.seen,
    )  # fmt: skip
    return hashlib.sha256(repr(said).encode()).hexdigest()


@lru_cache(maxsize=2**16)
def _text(item: Item) -> str:
    return hashlib.sha256(repr(item).encode()).hexdigest()[:16]


def merged(found: Iterable[Planted]) -> list[Planted]:
    """What all workers compared, one entry per fault and recommender."""
    groups: dict[tuple[str, str], list[Planted]] = {}
    for each in found:
        groups.setdefault((each["fault"], each["model"]), []).append(each)
    return [
        {
            "fault": fault,
            "model": model,
            "exact": all(each["exact"] for each in group),
            "answers": sum(each["answers"] for each in group),
            "differing": sum(each["differing"] for each in group),
            "lost": sum(each["lost"] for each in group),
            "users": sorted({*chain.from_iterable(each["users"] for each in group)}),
            "hit": sorted({*chain.from_iterable(each["hit"] for each in group)}),
            "beyond_noise": [*chain.from_iterable(each["beyond_noise"] for each in group)],
        }
        for (fault, model), group in sorted(groups.items())
    ]

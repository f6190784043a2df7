"""A recommender with a fault planted around it, and how far its answers differ from its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

import numpy as np

from pytest_recsys_mt.calls.answer import Answer, failure, plain_recommendation
from pytest_recsys_mt.calls.call import AGAIN, Call, Content, Part, key_of, request_digest
from pytest_recsys_mt.calls.causes import BESIDE
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.sending import FAILURES
from pytest_recsys_mt.calls.subject import Subject, Wrapped
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.errors import NotApplicable
from pytest_recsys_mt.faults import Dose, Fault, Known
from pytest_recsys_mt.gate.document import Differing, Planted
from pytest_recsys_mt.oracles.arrays import Floats
from pytest_recsys_mt.oracles.similarities.rbo import rbo
from pytest_recsys_mt.requests import Message, Recommendation, Request

Lists = tuple[tuple[str, ...], tuple[str, ...]]


class Faulty(Wrapped):
    """A subject that asks another one, and spoils its request, its answer, or both.

    The answers of the sound recommender come through the executor, so from the cache where it has them. What this subject
    answers is kept for the run only: its keys are those of the sound one with the fault.

    Attributes:
        behind: The sound recommender. Only its calls count.
        probed: Whether it is being asked what no test asks, to see whether the fault shows there.
    """

    def __init__(
        self, sound: Subject, dose: Dose, training: Dataset, settings: Settings, executor: Executor
    ) -> None:
        super().__init__(sound)
        self.behind = sound
        self.dose = dose
        known = Known(
            training.items,
            training.popularity,
            frozenset(training.interactions["user"]),
            settings.seed,
        )
        self._fault: Fault = dose.planted(known)
        said = self._fault.deterministic
        self.deterministic = sound.deterministic if said is None else said
        self.durable = False
        self.fingerprint = sound.fingerprint and key_of(
            {"sound": sound.fingerprint, "fault": dose.spec}
        )
        self.probed = False
        self._executor = executor
        self._replicates = settings.design.replicates
        self._model = Part(
            {
                "model": self.name,
                "fault": dose.spec,
                "fit": [training.digest, settings.seed, id(sound)],
            }
        )
        self._compared, self._elsewhere = (
            Compared(sound.deterministic or not self._fault.costs()) for _ in range(2)
        )

    def messages(self, request: Request) -> Sequence[Message]:
        return self.origin.messages(self._fault.request(request))

    def call(self, request: Request, repeat: bool) -> Call:
        content = Content(self._model, request, repeat)
        return Call(key_of(content), content, request)

    def prompt_tokens(self, call: Call) -> int | None:
        return None  # it sends nothing itself

    def ask(self, calls: Sequence[Call]) -> Iterator[list[tuple[int, Answer]]]:
        requests = [call.request for call in calls if call.request is not None]
        asked = _Asked(self, calls)
        try:
            made = self._fault.recommend(requests, asked)
            _require_lists(made, len(requests), self.dose.name)
            answers = [*map(asked.plain, made)]
        except FAILURES as error:
            answers = [failure(error)] * len(calls)
        else:
            self._compare(calls, requests, made, asked)
        yield list(enumerate(answers))

    def _compare(
        self,
        calls: Sequence[Call],
        requests: Sequence[Request],
        made: Sequence[Recommendation],
        asked: _Asked,
    ) -> None:
        if calls and calls[0].purpose in BESIDE and not self.probed:
            return  # no verdict depends on these answers
        compared = self._elsewhere if self.probed else self._compared
        sounds = asked.answers(requests, anyway=self.probed)
        for request, faulty, sound in zip(requests, made, sounds, strict=True):
            if faulty.error is None and sound is not None and sound.error is None:
                compared.add(request, sound.items, faulty.items)

    def read(self, request: Request, answer: Answer) -> Recommendation:
        return Subject.read(self, request, answer)

    def sound_calls(self, calls: Sequence[Call], requests: Sequence[Request]) -> list[Call]:
        """The calls of the sound recommender for `requests`, numbered as its own tests number them."""
        repeat = any(bool(call.content["repeat"]) for call in calls)
        purpose = calls[0].purpose if calls else "request"
        return [
            replace(
                self.origin.call(each.replace(replicate=self._number(each.replicate)), repeat),
                purpose=purpose,
            )
            for each in requests
        ]

    def _number(self, replicate: int) -> int:
        theirs = 1 if self.origin.deterministic else self._replicates
        ours = 1 if self.deterministic else self._replicates
        return replicate % theirs if replicate >= AGAIN else replicate * theirs // ours

    def sent(self, calls: Sequence[Call], *, anyway: bool) -> Sequence[Answer]:
        """The answers of the sound recommender; without `anyway`, those that cost nothing."""
        if anyway:
            return self._executor.execute(self.origin, calls)
        return self._executor.at_hand(self.origin, calls)

    def compared(self) -> Planted:
        """How far its answers differ from those of the sound recommender, as plain data."""
        own = {"fault": self.dose.spec, "model": self.name, **self._compared.plain()}
        found = cast("Planted", own)
        if self._elsewhere:
            found["elsewhere"] = self._elsewhere.plain()
        return found

    @property
    def met(self) -> bool:
        """Whether an answer to a test differed."""
        return self._compared.differs


def _require_lists(made: Sequence[object], requests: int, fault: str) -> None:
    if len(made) != requests:
        raise ValueError(f"the fault {fault!r} gave {len(made)} answers to {requests} requests")
    for each in made:
        items = each.items if isinstance(each, Recommendation) else (each,)
        for item in items:
            if not isinstance(item, str):
                raise TypeError(
                    f"the fault {fault!r} put {item!r} into its answer; items are ids, each a str"
                )


class _Asked:
    """The sound recommender as a fault sees it during one batch; it asks nothing twice."""

    def __init__(self, faulty: Faulty, calls: Sequence[Call]) -> None:
        self._faulty = faulty
        self._calls = calls
        self._made: dict[int, tuple[Request, Call]] = {}
        self._known: dict[str, Recommendation] = {}
        self._raw: dict[int, Answer] = {}

    def __call__(self, requests: Sequence[Request]) -> list[Recommendation]:
        return [answer for answer in self.answers(requests, anyway=True) if answer is not None]

    def answers(self, requests: Sequence[Request], *, anyway: bool) -> list[Recommendation | None]:
        """The answers; without `anyway`, None where it would cost a call to know."""
        new = [request for request in requests if id(request) not in self._made]
        for request, call in zip(new, self._faulty.sound_calls(self._calls, new), strict=True):
            # With the request, so that its id stays its own.
            self._made[id(request)] = (request, call)
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
        if "unasked" in answer or "not_applicable" in answer:
            read = Recommendation((), error=answer.get("unasked") or answer.get("not_applicable"))
        else:
            try:
                read = self._faulty.origin.read(request, answer)
            except NotApplicable as reason:
                answer = {"not_applicable": str(reason)}
                read = Recommendation((), error=str(reason))
        if read.error is not None:
            self._raw[id(read)] = answer
        return read

    def plain(self, made: Recommendation) -> Answer:
        known = self._raw.get(id(made))
        if known is not None:
            return known
        return plain_recommendation(
            replace(made, usage=None) if isinstance(made, Recommendation) else made
        )


class Compared:
    """Answers with and without the fault, to the same calls; if `exact`, any difference comes from it."""

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
            self._both.setdefault(request_digest(request), {})[request.replicate] = (sound, faulty)

    @property
    def differs(self) -> bool:
        """Whether any answer differed."""
        return bool(self._differing)

    def __len__(self) -> int:
        return self._answers

    def plain(self) -> Differing:
        """The sums; with the numbers of a test against the recommender's noise where answers vary."""
        return {
            "exact": self._exact,
            "answers": self._answers,
            "differing": len(self._differing),
            "lost": float((1 - agreement(self._differing)).sum()),
            "users": sorted(self._users),
            "hit": sorted(user for user, differs in self._users.items() if differs),
            "beyond_noise": [] if self._exact else self._beyond_noise(),
        }

    def _beyond_noise(self) -> list[float]:
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


def merged(found: Iterable[Planted]) -> list[Planted]:
    """What all workers compared, one entry per fault and recommender."""
    groups: dict[tuple[str, str], list[Planted]] = {}
    for each in found:
        groups.setdefault((each["fault"], each["model"]), []).append(each)
    together: list[Planted] = []
    for (fault, model), group in sorted(groups.items()):
        both = cast("Planted", {"fault": fault, "model": model, **_sum(group)})
        if elsewhere := [each["elsewhere"] for each in group if "elsewhere" in each]:
            both["elsewhere"] = _sum(elsewhere)
        together.append(both)
    return together


def _sum(group: Sequence[Differing]) -> Differing:
    return {
        "exact": all(each["exact"] for each in group),
        "answers": sum(each["answers"] for each in group),
        "differing": sum(each["differing"] for each in group),
        "lost": sum(each["lost"] for each in group),
        "users": sorted({*chain.from_iterable(each["users"] for each in group)}),
        "hit": sorted({*chain.from_iterable(each["hit"] for each in group)}),
        "beyond_noise": [*chain.from_iterable(each["beyond_noise"] for each in group)],
    }

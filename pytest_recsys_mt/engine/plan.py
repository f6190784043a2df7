"""Counts the calls of the selected tests, and answers them itself: nothing is sent."""

import contextlib
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from pytest_recsys_mt.calls import tokens
from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache, Mode
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.causes import CONTROL
from pytest_recsys_mt.calls.executor import Ask, Executor, Then
from pytest_recsys_mt.calls.prices import Price, Prices
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.requests import Item

BEFOREHAND = "before the tests"
"""Stands for a suite: what is asked to sample users or candidates."""

CONFIRMING = "to confirm"
"""Stands for a suite: what is asked again if answers differ."""

CONTROLLING = "controls"
"""Stands for a suite: what is asked to see what a recommender reads, and no test asks."""

BESIDE = (CONFIRMING, CONTROLLING)
"""What stands beside the calls of the tests."""

ENOUGH = 50
"""Answers of a run that tell its pace."""


@dataclass
class Count:
    """Some of the calls to one model, each counted once."""

    tests: set[str] = field(default_factory=set)  # those that ask first
    calls: int = 0
    cached: int = 0
    prompt_tokens: float = 0  # of the calls to make
    counted: bool = True  # by a tokenizer; otherwise they are estimated
    calibrated: bool = False  # whether the estimate is in proportion to answers in the cache
    output_tokens: int | None = 0  # the most; None if the model names no limit
    price: Price | None = None

    @property
    def to_make(self) -> int:
        """The calls without an answer."""
        return self.calls - self.cached

    @property
    def usd(self) -> float | None:
        """The most that the calls to make may cost; None if unknown."""
        if (self.price is not None and self.price.is_free) or not self.to_make:
            return 0.0
        if self.price is None or self.output_tokens is None:
            return None
        return self.price.usd(self.prompt_tokens, self.output_tokens)

    def add(self, prompt: float, counted: bool, output: int | None, calls: int = 1) -> None:
        """Add calls to make, of so many tokens each."""
        self.calls += calls
        self.prompt_tokens += prompt * calls
        self.counted &= counted
        unknown = output is None or self.output_tokens is None
        self.output_tokens = None if unknown else (self.output_tokens or 0) + (output or 0) * calls


@dataclass
class _Known:
    """What the cached answers of a model tell.

    Attributes:
        reported: Tokens of their prompts, as they report them.
        times: When calls were sent, by run, in Unix seconds.
    """

    reported: int = 0
    estimated: int = 0
    times: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


class Plan(Executor):
    """Takes the place of the executor while a run is planned, and makes answers up.

    Where an answer is in the cache it is given. So tests go on as they would, until all that they could ask is counted.

    Attributes:
        counts: The calls by suite and model.
        by_test: The calls to make by id of the test that asks first, and model.
        questions: Questions to judges that send no calls, by the name of the judge.
        bounded: Why a test may ask less than counted here, or other things, by its id.
    """

    def __init__(
        self,
        cache: AnswerCache,
        mode: Mode,
        run: str,
        prices: Prices,
        catalogue: Callable[[], Sequence[Item]],
        *,
        keep: bool = False,
    ) -> None:
        super().__init__(cache, mode, run, prices=prices)
        self.counts: dict[tuple[str, str], Count] = {}
        self.by_test: dict[tuple[str, str], Count] = {}
        self.bounded: dict[str, str] = {}
        self.questions: Counter[str] = Counter()
        self._prices = prices
        self._catalogue = catalogue
        self._given: dict[str, Answer] = {}
        self._nodeid = ""
        self._suite = BEFOREHAND
        self._clock = time.time()  # after all that is in the cache
        self._again: dict[tuple[str, Hashable], int] = {}
        self._free = False
        self._known: dict[str, _Known] = {}
        self._controls: dict[str, tuple[Subject, Call, Price | None]] = {}
        self._keep: dict[str, list[tuple[Subject, Call]]] | None = {} if keep else None

    def begin(self, nodeid: str = "", suite: str = BEFOREHAND) -> None:
        """Count what comes for this test, or for none."""
        self._nodeid, self._suite = nodeid, suite

    @property
    def total(self) -> int:
        """All calls of the test that is planned now."""
        return sum(each.calls for (test, _), each in self.by_test.items() if test == self._nodeid)

    def at_least(self, calls: int) -> None:
        """Count the calls of the test that is planned now as this many, if there are fewer."""
        for (nodeid, name), known in list(self.by_test.items()):
            if nodeid == self._nodeid and known.calls and (missing := calls - known.calls) > 0:
                output = known.output_tokens and known.output_tokens // known.calls
                each = known.prompt_tokens / known.calls
                for count in (known, self.counts[self._suite, name]):
                    count.add(each, known.counted, output, missing)

    @contextlib.contextmanager
    def beforehand(self) -> Iterator[None]:
        self._free = True
        try:
            yield
        finally:
            self._free = False

    def planned_questions(self, judge: str, questions: int) -> None:
        """Count questions to a judge that sends no calls."""
        self.questions[judge] += questions

    def planned_again(self, subject: Subject, calls: int, what: Hashable) -> bool:
        self._clock += 1  # a batch of its own, after which the first users may be asked once more
        self.latest[subject.name] = self._clock
        # Whoever asks for the same once more finds its answers in the cache.
        counted = self._again.get((self._nodeid, what), 0)
        self._again[self._nodeid, what] = max(calls, counted)
        known = self._own_calls(subject.name)
        made = max(known.to_make, 1)
        output = known.output_tokens and known.output_tokens // made
        key = (CONFIRMING, subject.name)
        again = self.counts.setdefault(key, Count(price=known.price))
        again.add(known.prompt_tokens / made, known.counted, output, max(calls - counted, 0))
        return True

    def _own_calls(self, name: str) -> Count:
        """The calls of this test; of a test that asks only what others have asked, those of a suite stand for them."""
        own = self.by_test.get((self._nodeid, name))
        others = (
            count
            for (suite, model), count in self.counts.items()
            if model == name and suite not in BESIDE
        )
        return own or next(others, Count())

    def execute(
        self,
        subject: Subject,
        calls: Sequence[Call],
        *,
        since: float | None = None,
        ask: Ask | None = None,
        then: Then | None = None,
    ) -> list[Answer]:
        self._clock += 1
        controls: dict[str, Answer] = {}
        self.latest[subject.name] = self._clock
        new = {call.key: call for call in calls if call.key not in self._given}
        price = self._prices.of(subject.name, next(iter(calls)).content["model"]) if calls else None
        known = self._cached(subject, new, since)
        for call in new.values():
            cached = known.get(call.key)
            if call.purpose == CONTROL:
                self._controls[call.key] = (subject, call, price)
                controls[call.key] = cached or self._made_up(subject, call)
                continue
            self._count(subject, call, cached, price)
            self._given[call.key] = cached or self._made_up(subject, call)
            sure = cached is None and not call.again and self._nodeid not in self.bounded
            if self._keep is not None and ask is None and sure:
                self._keep.setdefault(subject.name, []).append((subject, call))
        free = price is not None and price.is_free and all(call.prompt is None for call in calls)
        if self._free and free:
            return super().execute(subject, calls, since=since, ask=ask)
        return [self._given.get(call.key) or controls[call.key] for call in calls]

    def _made_up(self, subject: Subject, call: Call) -> Answer:
        made = made_up(call, subject.deterministic, self._catalogue())
        return {**made, "asked": self._clock}

    def to_make(self) -> dict[str, list[tuple[Subject, Call]]]:
        """The calls that have no answer yet and depend on none, by the name of their model, in order."""
        return self._keep or {}

    def calibrate(self) -> None:
        """Count the controls that no test asks, and scale estimated tokens to what the answers in the cache report.

        To be called once all tests are planned.
        """
        for key, (subject, call, price) in self._controls.items():
            if key not in self._given:
                self._count(subject, call, self._cached(subject, [key]).get(key), price)
        for (_, name), count in [*self.counts.items(), *self.by_test.items()]:
            known = self._known.get(name)
            if not count.counted and known is not None and known.estimated:
                count.calibrated = True
                count.prompt_tokens *= known.reported / known.estimated

    def sums(self) -> dict[str, float | None]:
        """All calls of the tests, those without an answer, and the most that these may cost."""
        counts = [count for (suite, _), count in self.counts.items() if suite not in BESIDE]
        costs = [each.usd for each in counts]
        known = [each for each in costs if each is not None]
        return {
            "calls": sum(each.calls for each in counts),
            "to_make": sum(each.to_make for each in counts),
            "usd": sum(known) if len(known) == len(costs) else None,
        }

    def pace(self, name: str) -> float | None:
        """Calls to a model per second, in the run that gave most of its cached answers; None if unknown."""
        runs = self._known.get(name, _Known()).times.values()
        times = max(runs, key=len, default=[])
        lasted = max(times, default=0.0) - min(times, default=0.0)
        return len(times) / lasted if len(times) >= ENOUGH and lasted > 1 else None

    def _cached(
        self, subject: Subject, keys: Collection[str], since: float | None = None
    ) -> dict[str, Answer]:
        # What a run asks after others is asked anew if the others are, as a plan supposes.
        if not subject.durable or self._mode == "refresh" or since is not None:
            return {}
        return self._cache.answers(list(keys))

    def _count(
        self, subject: Subject, call: Call, cached: Answer | None, price: Price | None
    ) -> None:
        beside = CONFIRMING if call.again else CONTROLLING if call.purpose == CONTROL else ""
        name = subject.name
        counts = [self.counts.setdefault((beside or self._suite, name), Count(price=price))]
        if not beside:
            counts.append(self.by_test.setdefault((self._nodeid, name), Count(price=price)))
        if call.prompt is not None and any(MARK in m.content for m in call.prompt.messages):
            self.bounded[self._nodeid] = "what it asks depends on answers"
        if cached is not None and call.prompt is not None:
            known, usage = self._known.setdefault(name, _Known()), cached.get("usage")
            known.times[cached.get("run", "")].append(cached.get("asked", 0.0))
            if usage is not None:
                known.reported += usage[0]
                known.estimated += tokens.estimated(call.prompt)
        prompt, counted = (0, True) if cached is not None else tokens.prompt_tokens(subject, call)
        for count in counts:
            count.tests.add(self._nodeid)
            count.cached += cached is not None
            count.add(prompt, counted, 0 if cached is not None else tokens.most_output(call))


MARK = "made up for a plan, "
"""Start of each made-up text, so that a prompt that quotes it can be recognised."""


def made_up(call: Call, deterministic: bool, catalogue: Sequence[Item]) -> Answer:
    """A valid answer to a call; if `deterministic`, the same for all replicates of a question."""
    asked = {**call.content, "replicate": 0, "seed": 0, "repeat": False} if deterministic else None
    number = crc32(repr(asked).encode()) if asked else int(call.key[:8], 16)
    request, prompt = call.request, call.prompt
    if request is not None:
        offered = request.candidates
        if offered is None:
            known = request.known.union(request.seen)
            offered = tuple(item for item in catalogue if item.id not in known)
        # Drawn: lists that are equal would be fewer questions to a judge than real ones can be.
        chosen = random.Random(number).sample(offered, min(request.k, len(offered)))
        return {"items": [item.id for item in chosen]}
    if prompt is not None and prompt.choices:
        return {"text": prompt.choices[number % len(prompt.choices)], "finish_reason": "stop"}
    if prompt is not None and prompt.schema is not None:
        return {
            "text": json.dumps(_instance(prompt.schema, random.Random(number))),
            "finish_reason": "stop",
        }
    return {"text": f"{MARK}{call.key[:12]}", "finish_reason": "stop"}


def _instance(schema: Mapping[str, Any], draw: random.Random) -> Any:
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _instance(field, draw) for name, field in fields.items()}
    if kind == "array":
        return [_instance(schema.get("items", {}), draw)]
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 1)
        return draw.randint(int(low), int(high)) if kind == "integer" else draw.uniform(low, high)
    return draw.random() < 0.5 if kind == "boolean" else MARK

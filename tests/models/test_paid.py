"""Whatever a server says, or does not say: what it bills is
within the limit and the calls in flight.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from pytest_recsys_mt.requests import Completion, Message, Prompt, Usage
from tests.models.faults import FaultServer, Reply, completion
from tests.models.test_openai_runs import run
from tests.support.calls import (
    AnswerCache,
    Budget,
    CallFact,
    Executor,
    Limits,
    Price,
    Prices,
    TextSubject,
    plain_completion,
    subject,
)
from tests.support.llm_api import OpenAIModel, chat_api, pacing, retries
from tests.support.report import Record
from tests.support.requests import PROMPT

LIMIT = 200
CONCURRENCY = 4
MOST, PLANNED = (10, 20), (14, 20)
"""Tokens that a server which does not say bills for a
call, and those that are planned for one.
"""
DOLLAR_A_TOKEN = Prices({"tiny": Price(1e6, 1e6)})


def says(usage: Any, **choice: Any) -> Reply:
    return Reply({**completion(**choice), "usage": usage})


def digits(number: int) -> Reply:
    body = json.dumps(says({"prompt_tokens": 10, "completion_tokens": -1}).body)
    return Reply(body.replace("-1", "9" * number).encode())


def silent(**choice: Any) -> Reply:
    return Reply({**completion(None, **choice), "usage": None})


TAKEN = {"prompt_tokens": 10, "completion_tokens": 20}
EMPTY = {"content": None, "finish_reason": "length"}
FREE = Reply({"error": {"message": "no"}}, 500)
HANGS = Reply(None)

SERVERS: dict[str, tuple[Reply, ...]] = {
    "says what it took": (says(TAKEN),),
    "takes more than it should": (says({"prompt_tokens": 50, "completion_tokens": 150}),),
    "counts thoughts in the total alone": (
        says({"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 30}),
    ),
    "thinks beside its answer": (
        says({"prompt_tokens": 10, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 15}}),
    ),
    "says less in all than in parts": (says({**TAKEN, "total_tokens": 5}),),
    "counts no text": (says({"prompt_tokens": 10, "completion_tokens": 0}),),
    "no usage": (Reply({k: v for k, v in completion().items() if k != "usage"}),),
    "null": (says(None),),
    "empty": (says({}),),
    "a list": (says([10, 20]),),
    "zero": (says({"prompt_tokens": 0, "completion_tokens": 0}),),
    "floats": (says({"prompt_tokens": 10.5, "completion_tokens": 2e1}),),
    "negative": (says({"prompt_tokens": -10, "completion_tokens": 20}),),
    "strings": (says({"prompt_tokens": "10", "completion_tokens": "20"}),),
    "booleans": (says({"prompt_tokens": True, "completion_tokens": False}),),
    "half of it": (says({"completion_tokens": 20}),),
    "beyond all sense": (says({"prompt_tokens": 10, "completion_tokens": 10**12}),),
    "4,000 digits": (digits(4000),),
    "5,000 digits": (digits(5000),),
    "thought, and wrote nothing": (says(TAKEN, **EMPTY),),
    "refused": (says(TAKEN, message={"content": None, "refusal": "I won't"}),),
    "filtered": (says(TAKEN, content=None, finish_reason="content_filter"),),
    "two choices": (Reply({**completion(), "choices": completion()["choices"] * 2, "usage": TAKEN}),),
    "wrote nothing, and does not say": (silent(finish_reason="length"),),
    "refused, and does not say": (silent(message={"refusal": "I won't"}),),
    "not JSON": (Reply(b"<html>"),),
    "not UTF-8": (Reply(b'{"choices": "\xff"}'),),
    "an error that is no error": (Reply({"error": {"message": "overloaded"}}),),
    "breaks off": (Reply(completion(), missing=5),),
    "says no word": (Reply(completion(), missing=None),),
    "never answers": (HANGS,),
    "breaks off, then answers": (Reply(completion(), missing=5), says(TAKEN)),
    "says no word, then wrote nothing": (Reply(b"", missing=None), says(TAKEN, **EMPTY)),
    "HTTP 500, then answers": (FREE, says(TAKEN)),
    "HTTP 429, then answers": (Reply(b"", 429, {"retry-after-ms": "1"}), says(TAKEN)),
    "HTTP 500": (FREE,),
    "HTTP 500 that took tokens": (Reply({"error": {"message": "no"}, "usage": TAKEN}, 500),),
    "HTTP 401": (Reply({}, 401),),
    "nobody there": (),
}  # fmt: skip


class Billing:
    """A server that answers by its replies in turn, `each`
    question or all, and bills all but errors.
    """

    def __init__(
        self,
        server: FaultServer,
        replies: tuple[Reply, ...],
        *,
        each: bool = True,
    ) -> None:
        self._each = each
        self.billed = 0
        self.bills = 0
        self.dearest = 0
        self.released = threading.Event()
        self._replies = replies
        self._asked: dict[str, int] = {}
        self._lock = threading.Lock()
        server.answer = self._answer

    def _answer(self, payload: dict[str, Any]) -> Reply:
        with self._lock:
            question = payload["messages"][0]["content"] if self._each else ""
            number = self._asked[question] = self._asked.get(question, -1) + 1
            reply = self._replies[number % len(self._replies)]
            if reply.status == 200 or (
                isinstance(reply.body, dict) and "usage" in reply.body
            ):
                cost = self._bill(reply)
                self.billed += cost
                self.bills += 1
                self.dearest = max(self.dearest, cost)
        if reply is HANGS:
            self.released.wait()
        return reply

    def _bill(self, reply: Reply) -> int:
        usage = reply.body.get("usage") if isinstance(reply.body, dict) else None
        said = usage if isinstance(usage, dict) else {}
        known = Usage.said(said.get("prompt_tokens"), said.get("completion_tokens"))
        if known is None or not known.prompt_tokens:
            return sum(MOST)
        beside = said.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
        total = int(said.get("total_tokens", 0))
        return max(known.prompt_tokens + known.completion_tokens + int(beside), total)


@pytest.fixture
def ask(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Callable[..., tuple[Billing, dict[str, Any]]]]:
    """Asks a server thirty questions within a limit; gives
    its bill, and the calls of the record.
    """
    monkeypatch.setattr(retries, "_FIRST_WAIT", 0.001)
    monkeypatch.setattr(pacing, "_FIRST_PAUSE", 0.001)
    model = OpenAIModel(
        "tiny",
        max_tokens=20,
        concurrency=CONCURRENCY,
        timeout=0.3,
        max_wait=60,
    )
    opened: list[Billing] = []

    def run(server: str, limits: Limits) -> tuple[Billing, dict[str, Any]]:
        opened.append(Billing(faulty, SERVERS[server]))
        if server == "nobody there":
            monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        asked = subject(model, "openai:tiny", PROMPT)
        assert isinstance(asked, TextSubject)
        calls = [
            asked.prompt_call(
                Prompt((Message("user", f"Name a film of the year {1970 + i:05}."),)),
                0,
            )
            for i in range(30)
        ]
        budget = Budget(limits, tmp_path / "spent.json") if limits else None
        cache = AnswerCache(tmp_path / "cache")
        executor = Executor(cache, "auto", "run", prices=DOLLAR_A_TOKEN, budget=budget)
        executor.execute(asked, calls)
        record = Record(cast(Any, None), "0", 0.0)
        record.add(**executor.bill.drain())
        return opened[-1], json.loads(json.dumps(record.calls, allow_nan=False))

    yield run
    for billing in opened:
        billing.released.set()
    model.close()


@pytest.mark.parametrize("server", SERVERS)
def test_no_server_bills_more_than_the_limit_and_what_is_in_flight(
    ask: Callable[..., tuple[Billing, dict[str, Any]]],
    server: str,
) -> None:
    limit = {"tokens": LIMIT} if len(server) % 2 else {"usd": float(LIMIT)}
    billing, calls = ask(server, Limits(**cast(Any, limit)))
    assert billing.billed <= LIMIT + CONCURRENCY * billing.dearest
    if billing.billed:
        assert calls["usd_at_most"] > LIMIT - sum(PLANNED), (
            "what the limit allows is asked"
        )
    assert calls["usd_at_most"] >= billing.billed, "and all of it is in the record"
    assert calls["usd"] in (None, billing.billed), "and what is not known is not zero"
    # Where nothing arrives, what was in flight may never have reached the server.
    assert 0 <= calls["attempts"] - billing.bills <= CONCURRENCY, (
        "attempts are what may be billed"
    )
    assert (calls["usd"] is None) == (calls["unknown_cost"] > 0)
    assert (
        min(calls[name] for name in calls if name != "by" and calls[name] is not None)
        >= 0
    )


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 5000}}, (10, 5050)),
        ({"completion_tokens": 50, "total_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 60}}, (10, 110)),
        ({"completion_tokens": 50, "total_tokens": 5060, "completion_tokens_details": {"reasoning_tokens": 5000}}, (10, 5050)),
        ({"completion_tokens": 20, "total_tokens": 1030, "prompt_tokens_details": {"cached_tokens": 1000}}, (1010, 20)),
        ({"completion_tokens": 20, "total_tokens": 10**400}, (0, 20)),
        ({"completion_tokens": 20, "total_tokens": "30"}, (0, 20)),
        ({"completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": -1}}, (0, 20)),
        ({"prompt_tokens": 5000, "total_tokens": "x"}, (5000, 0)),
        ({"prompt_tokens": None, "total_tokens": 5000}, (0, 5000)),
        ({"prompt_tokens": None, "input_tokens": 70.0, "output_tokens": 90}, (70, 90)),
        ({"completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": None}}, (10, 20)),
    ],
)  # fmt: skip
def test_usage_that_contradicts_itself_counts_in_full_or_as_planned(
    usage: dict[str, Any],
    counted: tuple[int, int] | None,
) -> None:
    body = json.dumps(
        {**completion(), "usage": {"prompt_tokens": 10, **usage}},
    ).encode()
    read = chat_api.read(body).usage
    assert (read and (read.prompt_tokens, read.completion_tokens)) == counted


def test_a_long_prompt_that_is_billed_as_nothing_counts_as_planned(
    faulty: FaultServer,
    tmp_path: Path,
) -> None:
    faulty.answer = lambda payload: says({"prompt_tokens": 1, "completion_tokens": 20})
    executor = Executor(AnswerCache(tmp_path), "auto", "run", prices=DOLLAR_A_TOKEN)
    model = OpenAIModel("tiny", max_tokens=20)
    asked = subject(model, "openai:tiny", PROMPT)
    assert isinstance(asked, TextSubject)
    calls = [
        asked.prompt_call(Prompt((Message("user", 7999 * "x" + str(i)),)), 0)
        for i in (1, 2)
    ]
    executor.execute(asked, calls)
    model.close()
    assert costs(executor) == [(None, 2024.0)] * 2
    assert len(executor.notes) == 1, "it is said once"
    assert "'openai:tiny' reports under 1%" in executor.notes[0]


def costs(executor: Executor) -> list[tuple[float | None, float | None]]:
    facts = [
        CallFact(*fact)
        for each in executor.bill.drain()["calls"].values()
        for fact in each
    ]
    return [(fact.usd, fact.at_most) for fact in facts]


@pytest.mark.parametrize(
    ("usage", "booked"),
    [
        ({"prompt_tokens": 100_000, "completion_tokens": 0, "total_tokens": 100_000}, (100_020.0, 100_020.0)),
        ({"completion_tokens": 5000}, (5008.0, 5008.0)),
        ({"total_tokens": 5000}, (5008.0, 5008.0)),
        ({"prompt_tokens": 8, "completion_tokens": 0}, (None, 28.0)),
    ],
)  # fmt: skip
def test_what_a_server_counted_is_never_undercut(
    faulty: FaultServer,
    tmp_path: Path,
    usage: dict[str, Any],
    booked: tuple[float | None, float],
) -> None:
    faulty.answer = lambda payload: says(usage)
    executor = Executor(AnswerCache(tmp_path), "auto", "run", prices=DOLLAR_A_TOKEN)
    model = OpenAIModel("tiny", max_tokens=20)
    asked = subject(model, "openai:tiny", PROMPT)
    assert isinstance(asked, TextSubject)
    executor.execute(
        asked,
        [asked.prompt_call(Prompt((Message("user", 16 * "x"),)), 0)],
    )
    model.close()
    assert costs(executor) == [booked]


def test_what_is_in_flight_when_the_limit_is_reached_is_kept(
    ask: Callable[..., tuple[Billing, dict[str, Any]]],
) -> None:
    billing, calls = ask("takes more than it should", Limits(usd=LIMIT))
    assert calls["made"] * billing.dearest == billing.billed == calls["usd"]


def test_a_record_is_written_whatever_a_server_says(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
    pytester: pytest.Pytester,
) -> None:
    monkeypatch.setattr(retries, "_FIRST_WAIT", 0.001)
    monkeypatch.setattr(pacing, "_FIRST_PAUSE", 0.001)
    replies = [
        reply for kinds in SERVERS.values() for reply in kinds if reply is not HANGS
    ]
    billing = Billing(faulty, tuple(replies), each=False)
    pytester.makefile(".toml", prices='["tiny"]\ninput = 1e6\noutput = 1e6\n')
    model = f"openai:tiny?max_tokens=20&concurrency={CONCURRENCY}"
    limits = ("--recsys-prices=prices.toml", "--recsys-max-usd=20000")
    done, record = run(pytester, model, *limits)
    calls = record["calls"]
    assert 0 < billing.billed <= 20000 + CONCURRENCY * billing.dearest
    assert (calls["usd"], calls["unknown_cost"] > 0) == (None, True)
    assert calls["usd_at_most"] >= billing.billed
    shown = " ".join(done.stdout.str().split())
    assert re.search(
        r"tokens \(\d+ of thinking\), at most \$[\d,.]+ \(\d+ calls did not report usage\)",
        shown,
    )


@pytest.mark.parametrize(
    "usage",
    [Usage(-1, 2), Usage(1, 10**10), Usage(cast(Any, 1.5), 2), Usage(cast(Any, None), 1),
     Usage(cast(Any, True), 1), cast(Any, {"prompt_tokens": 1, "completion_tokens": 2})],
)  # fmt: skip
@pytest.mark.parametrize("text", ["Heat", None])
def test_odd_usage_of_a_model_of_ones_own_is_unknown(
    usage: Usage,
    text: str | None,
) -> None:
    answer = plain_completion(Completion(text, usage))
    assert "usage" in answer
    assert answer["usage"] is None

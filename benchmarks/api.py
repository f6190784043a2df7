"""What calls over the network cost: our engine beside bare loops over aiohttp and the
OpenAI client.

    python -m benchmarks.api [--calls 1024] [--flying 64] [--replay 5000] [--rounds 3]

A server in a process of its own, on this machine, answers after a fixed delay. Seconds
are of the processor, and of this process alone, so that neither the server nor other
work on the machine counts. The contestants take turns; medians of the rounds are
printed, of ratios those of each round. Calls a second are by the clock: they are what a
machine at rest does, and no ratio is made of them.

* bare aiohttp: workers that post JSON and read the answer's text: as fast as Python asks over HTTP.
* bare OpenAI client: the same with `AsyncOpenAI` on its aiohttp transport, its own retries off.
* engine: `OpenAIModel.complete`: our pace, retries and checks, in a thread with an event loop.
* finding its pace: a new one each time, without a `concurrency`. It begins with 8 calls at a time.
* each answer on the disk: the engine within the executor, as in a run.

The number of calls should be a multiple of those in flight, as the last wave of a delay
takes as long as a full one.

The layers are measured at no delay: planning, our scheduler, the cache, the parser;
then the whole executor, which looks each call up, asks, and has each answer on the disk
before it counts; and a replay of the same calls by an executor that finds all of them
in the cache.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
import httpx2
import openai

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache, Mode
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.subjects import subject
from pytest_recsys_mt.calls.text_subject import TextSubject
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.llm.api.pacing import Pace
from pytest_recsys_mt.llm.api.retries import persist
from pytest_recsys_mt.llm.recommender import LLMRecommender
from pytest_recsys_mt.requests import Message, Prompt, Rating, Request, Scale

CONCURRENCY = 64
VERSIONS = {"bare aiohttp": version("aiohttp"), "bare OpenAI client": version("openai")}
ASKED, REPLAYED = "execute: look up, ask the server, write", "execute: from the cache"
"""Layers that are compared."""
WARM_UP = 300
"""Calls before a measurement: connections, imports, and the engine's pace."""

TEXT = "I have watched these films and rated them: " + "; ".join(
    f"Film number {i} (1999): {i % 5 + 1}" for i in range(60)
)


@contextmanager
def server() -> Iterator[str]:
    """The server's address; it is gone at the end."""
    command = [sys.executable, "-m", "benchmarks.api_server"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        address = process.stdout.readline().strip() if process.stdout else ""
        _check(bool(address))
        yield address
        process.communicate()


def prompts(count: int) -> list[Prompt]:
    """Prompts of the length of real ones, about 600 tokens; no two alike."""
    return [
        Prompt((Message("user", f"{TEXT}. I am user {i}."),), i) for i in range(count)
    ]


class Bare:
    """Workers that ask one after another, as users write it, with the client left open
    between runs.

    Args:
        client: Opens the client, in the loop.
        ask: Asks it one prompt.
        flying: The number of workers.
    """

    def __init__(
        self,
        client: Callable[[], Any],
        ask: Callable[[Any, Prompt], Awaitable[Any]],
        flying: int,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = self._loop.run_until_complete(self._opened(client))
        self._ask = ask
        self._flying = flying

    async def _opened(self, client: Callable[[], Any]) -> Any:
        return client()

    def run(self, asked: list[Prompt]) -> None:
        """Ask all of `asked`."""
        self._loop.run_until_complete(self._ask_all(iter(asked)))

    async def _ask_all(self, asked: Iterator[Prompt]) -> None:
        async def work() -> None:
            for prompt in asked:
                _check(bool(await self._ask(self._client, prompt)))

        await asyncio.gather(*(work() for _ in range(self._flying)))

    def close(self) -> None:
        """Drop the connections."""
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


def _body(prompt: Prompt) -> dict[str, Any]:
    messages = [{"role": "user", "content": prompt.messages[0].content}]
    return {
        "model": "fixed",
        "messages": messages,
        "max_tokens": 1024,
        "seed": prompt.seed,
    }


def bare_aiohttp(flying: int) -> Bare:
    """The HTTP library below all contestants, by itself."""
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"

    async def ask(session: aiohttp.ClientSession, prompt: Prompt) -> str:
        async with session.post(url, json=_body(prompt)) as response:
            answer = json.loads(await response.read())
        return str(answer["choices"][0]["message"]["content"])

    return Bare(
        lambda: aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=flying)),
        ask,
        flying,
    )


def bare_openai(flying: int) -> Bare:
    """The OpenAI client on its fastest transport, with its own retries off."""

    async def ask(client: openai.AsyncOpenAI, prompt: Prompt) -> str | None:
        answer = await client.chat.completions.create(**_body(prompt))
        text: str | None = answer.choices[0].message.content
        return text

    def client() -> openai.AsyncOpenAI:
        limits = httpx2.Limits(max_connections=flying)
        return openai.AsyncOpenAI(
            base_url=os.environ["OPENAI_BASE_URL"],
            api_key="none",
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(trust_env=False, limits=limits),
        )

    return Bare(client, ask, flying)


def model(flying: int | None) -> OpenAIModel:
    """A model as a run without limits makes it; None lets it find its pace."""
    made = OpenAIModel("fixed", concurrency=flying)
    made.ahead = True
    return made


def engine(model: OpenAIModel, asked: list[Prompt]) -> None:
    """Ask all of `asked` through our engine, without a cache."""
    _check(all(answer.text for answer in model.complete(asked)))


def kept_engine(model: OpenAIModel, asked: list[Prompt], cache: AnswerCache) -> None:
    """Ask all of `asked` as a run does, with each answer on the disk before it counts."""
    wrapped = TextSubject(LLMRecommender(model, "person"), "fixed")
    execute(
        cache,
        "auto",
        wrapped,
        [wrapped.prompt_call(prompt, 0) for prompt in asked],
    )


def _check(is_so: bool) -> None:
    if not is_so:
        raise SystemExit("a call failed; the figures would be of something else")


def measured(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall clock, and of CPU time in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def throughput(address: str, delay: int, flying: int, calls: int, rounds: int) -> None:
    """Print the CPU time of a call and calls a second,
    for each contestant at one delay.
    """
    os.environ["OPENAI_BASE_URL"] = f"{address}/{delay}/v1"
    asked = prompts(calls)
    low, client, ours = bare_aiohttp(flying), bare_openai(flying), model(flying)
    for warm in (low.run, client.run, partial(engine, ours)):
        warm(asked[: max(WARM_UP, flying)])
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        new = model(None)
        with folder() as kept:
            cache = AnswerCache(kept)
            for name, run in (
                ("bare aiohttp", partial(low.run, asked)),
                ("bare OpenAI client", partial(client.run, asked)),
                ("engine", partial(engine, ours, asked)),
                ("engine, finding its pace", partial(engine, new, asked)),
                (
                    "engine, each answer on the disk",
                    partial(kept_engine, ours, asked, cache),
                ),
            ):
                found.setdefault(name, []).append(measured(run))
            cache.close()
        new.close()
    for contestant in (low, client, ours):
        contestant.close()
    base = [cpu for _, cpu in found["bare aiohttp"]]
    for name, times in found.items():
        wall, cpu = median(wall for wall, _ in times), median(cpu for _, cpu in times)
        ratio = median(
            ours / other for other, (_, ours) in zip(base, times, strict=True)
        )
        named = f"{name} {VERSIONS[name]}" if name in VERSIONS else name
        print(
            f"| {flying}, {delay} ms | {named} | {1e3 * cpu / calls:.2f} | {ratio:.1f} | {calls / wall:.0f} |",
            flush=True,
        )


def layers(address: str, calls: int, rounds: int) -> None:
    """Print the CPU time of one call in each layer, and
    what a replay costs beside asking.
    """
    os.environ["OPENAI_BASE_URL"] = f"{address}/0/v1"
    data = load("mini")
    items = list(data.items.values())
    request = Request(
        user="1",
        history=tuple(Rating(item, 4.0) for item in items[:20]),
        scale=Scale(1, 5),
        candidates=tuple(items[20:40]),
        k=10,
    )
    asked = model(CONCURRENCY)
    wrapped = subject(asked, "fixed", "person")
    wrapped.fit(data, 0)
    engine(asked, prompts(WARM_UP))
    answer: Answer = {"text": "1. " + "\n1. ".join(item.label for item in items[20:30])}
    some = calls // 20

    def plan() -> list[Call]:
        return [
            wrapped.call(request.replace(replicate=place), False)
            for place in range(calls)
        ]

    def one_round() -> dict[str, tuple[float, int]]:
        spent: dict[str, tuple[float, int]] = {}

        def timed(name: str, run: Callable[[], Any], count: int = calls) -> Any:
            start = time.process_time()
            done = run()
            spent[name] = (time.process_time() - start, count)
            return done

        planned = timed("plan a call: prompt and key", plan)
        timed(
            "pace and retries around a call that does nothing",
            lambda: asyncio.run(schedule(calls)),
        )
        with folder() as kept, folder() as other:
            second = AnswerCache(other)

            def write() -> None:
                for call in planned:
                    second.put(call.key, call.content, answer)

            timed("write an answer to the disk", write)
            second.close()
            timed(
                "read an answer of ten titles: parser",
                lambda: [wrapped.read(request, answer) for _ in range(some)],
                some,
            )
            cache = AnswerCache(kept)
            timed(ASKED, lambda: execute(cache, "auto", wrapped, planned))
            cache.close()
            again = AnswerCache(kept)
            timed(REPLAYED, lambda: execute(again, "replay", wrapped, planned))
            again.close()
        return spent

    one_round()
    found = [one_round() for _ in range(rounds)]
    asked.close()
    cost = {name: median(spent[name][0] for spent in found) for name in found[0]}
    for name, (_, count) in found[0].items():
        print(f"| {name} | {1e3 * cost[name] / count:.3f} |")
    print(
        f"\n{calls:,} calls: {cost[ASKED]:.1f} s of CPU time to make, {cost[REPLAYED]:.2f} s to replay: "
        f"{100 * cost[REPLAYED] / cost[ASKED]:.1f} %",
    )


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for a cache."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def execute(
    cache: AnswerCache,
    mode: Mode,
    wrapped: Subject,
    planned: list[Call],
) -> None:
    """Put all calls in a run of its own."""
    answers = Executor(cache, mode, mode).execute(wrapped, planned)
    _check(all("text" in answer for answer in answers))


async def schedule(calls: int) -> None:
    """What surrounds a call, without the call."""
    pace = Pace(CONCURRENCY, 120)

    async def nothing() -> None: ...

    async def work(count: int) -> None:
        for _ in range(count):
            await persist(nothing, pace, str)

    await asyncio.gather(*(work(calls // CONCURRENCY) for _ in range(CONCURRENCY)))


def main() -> None:
    """Run it all and print Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--calls", type=int, default=1024)
    parser.add_argument("--replay", type=int, default=5_000)
    parser.add_argument("--flying", type=int, default=CONCURRENCY)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delays", type=int, nargs="*", default=[0, 50, 1000])
    given = parser.parse_args()
    os.environ.pop("OPENAI_API_KEY", None)
    with server() as address:
        print(
            "| in flight, delay | | CPU ms/call | times bare aiohttp | calls/s by the clock |",
        )
        print("|---|---|---:|---:|---:|")
        for delay in given.delays:
            throughput(address, delay, given.flying, given.calls, given.rounds)
        print("\n| layer | CPU ms/call |\n|---|---:|")
        layers(address, given.replay, given.rounds)


if __name__ == "__main__":
    main()

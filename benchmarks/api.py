"""What calls over the network cost: our engine beside a bare loop over the same OpenAI client.

    python -m benchmarks.api [--calls 1024] [--replay 20000] [--rounds 3]

A server in a process of its own, on this machine, answers after a fixed delay. The contestants take
turns within one run, so that whatever else the machine does hits all of them; medians are printed.

* bare: `asyncio` tasks behind a semaphore of 64 call `AsyncOpenAI` on its aiohttp transport, with
  its own retries off. Each answer is parsed by the client, as its users get it.
* engine: `OpenAIModel.complete` with `concurrency=64`: our pace, retries and checks around the same
  client, in the thread with the event loop.
* finding its pace: a new one each time, without that argument. It begins with 8 calls at a time.

The number of calls is a multiple of 64, as the last wave of a delay takes as long as a full one.

The layers are measured at no delay: planning, our scheduler, the cache, the parser; then the whole
executor, which looks each call up, asks, and has each answer on the disk before it counts; and a
replay of the same calls by an executor that finds all of them in the cache.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import openai

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.executor import Executor, Mode
from pytest_recsys_mt.calls.subject import Subject, subject
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.llm.api.pacing import Pace
from pytest_recsys_mt.llm.api.retries import persist
from pytest_recsys_mt.requests import Message, Prompt, Rating, Request, Scale

CONCURRENCY = 64
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
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip() if process.stdout else ""
        _check(bool(address))
        yield address
        process.communicate()


def prompts(count: int) -> list[Prompt]:
    """Prompts of the length of real ones, about 600 tokens; no two alike."""
    return [Prompt((Message("user", f"{TEXT}. I am user {i}."),), i) for i in range(count)]


class Bare:
    """A loop over the client as its users write it, with the client left open between runs."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = self._loop.run_until_complete(self._open())

    async def _open(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            base_url=os.environ["OPENAI_BASE_URL"],
            api_key="none",
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(trust_env=False),
        )

    def run(self, asked: list[Prompt]) -> None:
        """Ask all of `asked`."""
        self._loop.run_until_complete(self._ask(asked))

    async def _ask(self, asked: list[Prompt]) -> None:
        gate = asyncio.Semaphore(CONCURRENCY)

        async def one(prompt: Prompt) -> str | None:
            async with gate:
                answer = await self._client.chat.completions.create(
                    model="fixed",
                    messages=[{"role": "user", "content": prompt.messages[0].content}],
                    max_tokens=1024,
                    seed=prompt.seed,
                )
            return answer.choices[0].message.content

        _check(all(await asyncio.gather(*map(one, asked))))

    def close(self) -> None:
        """Drop the connections."""
        self._loop.run_until_complete(self._client.close())
        self._loop.close()


def engine(model: OpenAIModel, asked: list[Prompt]) -> None:
    """Ask all of `asked` through our engine, without a cache."""
    _check(all(answer.text for answer in model.complete(asked)))


def _check(is_so: bool) -> None:
    if not is_so:
        raise SystemExit("a call failed; the figures would be of something else")


def measured(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall clock, and of CPU time in this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def throughput(address: str, delay: int, calls: int, rounds: int) -> None:
    """Print calls a second and the CPU time of a call, for each contestant at one delay."""
    os.environ["OPENAI_BASE_URL"] = f"{address}/{delay}/v1"
    asked = prompts(calls)
    bare, ours = Bare(), OpenAIModel("fixed", concurrency=CONCURRENCY)
    bare.run(asked[:WARM_UP])
    engine(ours, asked[:WARM_UP])
    found: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        new = OpenAIModel("fixed")
        for name, run in (
            ("bare loop", partial(bare.run, asked)),
            ("engine", partial(engine, ours, asked)),
            ("engine, finding its pace", partial(engine, new, asked)),
        ):
            found.setdefault(name, []).append(measured(run))
        new.close()
    bare.close()
    ours.close()
    base = median(wall for wall, _ in found["bare loop"])
    for name, times in found.items():
        wall, cpu = median(wall for wall, _ in times), median(cpu for _, cpu in times)
        ideal = f"{calls / wall / (CONCURRENCY * 1000 / delay):.2f}" if delay else "–"
        row = (f"{delay} ms", name, f"{calls / wall:.0f}", f"{base / wall:.2f}", ideal)
        print(f"| {' | '.join(row)} | {1e3 * cpu / calls:.2f} |", flush=True)


def layers(address: str, calls: int) -> None:
    """Print the CPU time of one call in each layer, and what a replay costs beside asking."""
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
    model = OpenAIModel("fixed", concurrency=CONCURRENCY)
    wrapped = subject(model, "fixed", "person")
    wrapped.fit(data, 0)
    engine(model, prompts(WARM_UP))
    planned: list[Call] = []

    def plan() -> None:
        for replicate in range(calls):
            planned.append(wrapped.call(request.replace(replicate=replicate), False))

    planning = measured(plan)
    with folder() as kept, folder() as other:
        cache = AnswerCache(kept)
        asking = measured(lambda: execute(cache, "auto", wrapped, planned))
        cache.close()
        cache = AnswerCache(kept)
        replaying = measured(lambda: execute(cache, "replay", wrapped, planned))
        cache.close()
        second = AnswerCache(other)
        answer: Answer = {"text": "1. " + "\n1. ".join(item.label for item in items[20:30])}

        def write() -> None:
            for call in planned:
                second.put(call.key, call.content, answer)

        writing = measured(write)
        second.close()
    some = calls // 20
    reading = measured(lambda: [wrapped.read(request, answer) for _ in range(some)])
    scheduling = measured(lambda: asyncio.run(schedule(calls)))
    model.close()
    for name, (_, cpu), count in (
        ("plan a call: prompt and key", planning, calls),
        ("pace and retries around a call that does nothing", scheduling, calls),
        ("write an answer to the disk", writing, calls),
        ("read an answer of ten titles: parser", reading, some),
        ("execute: look up, ask the server, write", asking, calls),
        ("execute: from the cache", replaying, calls),
    ):
        print(f"| {name} | {1e3 * cpu / count:.3f} |")
    print(
        f"\n{calls:,} calls: {asking[1]:.1f} s of CPU time to make ({asking[0]:.1f} s of wall "
        f"clock), {replaying[1]:.2f} s to replay ({replaying[0]:.2f} s of wall clock): "
        f"{100 * replaying[1] / asking[1]:.1f} %"
    )


@contextmanager
def folder() -> Iterator[Path]:
    """A folder for a cache."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def execute(cache: AnswerCache, mode: Mode, wrapped: Subject, planned: list[Call]) -> None:
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--calls", type=int, default=1024)
    parser.add_argument("--replay", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--delays", type=int, nargs="*", default=[0, 50, 1000])
    given = parser.parse_args()
    os.environ.pop("OPENAI_API_KEY", None)
    with server() as address:
        print("| delay | | calls/s | of the bare loop | of the ideal | CPU ms/call |")
        print("|---|---|---:|---:|---:|---:|")
        for delay in given.delays:
            throughput(address, delay, given.calls, given.rounds)
        print("\n| layer | CPU ms/call |\n|---|---:|")
        layers(address, given.replay)


if __name__ == "__main__":
    main()

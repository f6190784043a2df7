"""How long a suite takes on a slow endpoint if its tests ask together, and if each asks
for itself.

    python -m benchmarks.ahead [--flying 64 256] [--delay 1.0] [--users 200]

A server on this machine ranks the candidates of a prompt by a digest of their titles
and some noise, and answers after a time that is drawn from a log-normal distribution
(sigma 0.5) around `--delay` seconds. The suite `metamorphic` is run on it twice: as it
is, and under ``--maxfail=1000``, under which no body begins before its test. Verdicts
and calls must be the same. The ideal is all calls in full flight. Waiting for answers
is what is measured, so seconds are by the clock, and the machine must be at rest.
"""

import argparse
import asyncio
import hashlib
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.processes import require_rest

COMMAND = [
    sys.executable, "-m", "pytest", "--pyargs", "pytest_recsys_mt.suites.metamorphic",
    "-p", "no:cacheprovider", "-q",
]  # fmt: skip
LISTED = re.compile(r"(?m)^\s*(?:[-*]|\d+[.)])\s*(.+?)\s*$")
SIGMA = 0.5


def _answer(body: dict[str, Any]) -> str:
    text = body["messages"][-1]["content"]
    noise = random.Random(f"{body.get('seed')} {text}")
    offered = text[
        max(text.lower().find("candidate"), 0) :
    ]  # an edit may have changed the word
    found = dict.fromkeys(LISTED.findall(offered))

    def score(title: str) -> float:
        digest = hashlib.sha256(title.encode()).digest()
        return int.from_bytes(digest[:4]) / 2**32 + 0.05 * noise.gauss(0, 1)

    listed = sorted(found, key=score)[:10]
    return "\n".join(f"{place}. {title}" for place, title in enumerate(listed, 1))


async def _serve(port: "asyncio.Future[int]", delay: float) -> None:
    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        await asyncio.sleep(
            random.lognormvariate(math.log(delay), SIGMA) if delay else 0,
        )
        message = {"role": "assistant", "content": _answer(body)}
        return web.json_response({
            "id": "1", "object": "chat.completion", "created": 0, "model": "slow",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 600, "completion_tokens": 80, "total_tokens": 680},
        })  # fmt: skip

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=4096)
    await site.start()
    port.set_result(runner.addresses[0][1])
    await asyncio.Event().wait()


def start(delay: float) -> int:
    """Start the server in a thread; returns its port."""
    loop = asyncio.new_event_loop()
    port = loop.create_future()
    threading.Thread(
        target=loop.run_until_complete,
        args=(_serve(port, delay),),
        daemon=True,
    ).start()
    while not port.done():
        time.sleep(0.01)
    return int(port.result())


def _run(
    port: int,
    flying: int,
    users: int,
    *more: str,
) -> tuple[float, int, list[Any]]:
    """The seconds of a run, its calls, and its verdicts."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        began = time.perf_counter()
        subprocess.run(
            [*COMMAND, f"--recsys-model=openai:slow?concurrency={flying}", f"--recsys-users={users}",
             f"--recsys-cache={folder}/cache", f"--recsys-json={record}", *more],
            cwd=folder, check=False, stdout=subprocess.DEVNULL,
            env={**os.environ, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
                 "OPENAI_API_KEY": "none-is-needed-here"},
        )  # fmt: skip
        seconds = time.perf_counter() - began
        told = json.loads(record.read_text())
    verdicts = [(row["nodeid"], row["status"], row["users"]) for row in told["results"]]
    return seconds, told["calls"]["made"] + told["calls"]["again"], verdicts


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flying", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument(
        "--busy",
        action="store_true",
        help="measure on a busy machine too",
    )
    given = parser.parse_args()
    if not given.busy:
        require_rest()
    port = start(given.delay)
    mean = given.delay * math.exp(SIGMA**2 / 2)
    print(
        "| in flight | calls | ideal s | together s | each for itself s | ratio | verdicts |",
    )
    print("|---:|---:|---:|---:|---:|---:|---|")
    for flying in given.flying:
        together, calls, verdicts = _run(port, flying, given.users)
        alone, _, others = _run(port, flying, given.users, "--maxfail=1000")
        same = "equal" if verdicts == others else "DIFFERENT"
        print(
            f"| {flying} | {calls:,} | {calls * mean / flying:.0f} | {together:.0f} | {alone:.0f} | "
            f"{alone / together:.1f} | {same} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

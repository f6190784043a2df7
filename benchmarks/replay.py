"""What a replay costs: the suite `metamorphic`, recorded once from a server on this
machine.

    python -m benchmarks.replay [--users 400 2000] [--rounds 3] [--rows 1000000]
    [--python OTHER/python]

Users are drawn: each has rated 30 films of `mini`. Every verdict asks all of them (a
policy), about 50 calls a user. The server ranks the candidates of a prompt by a digest
of their titles and some noise. Each Python records into a cache of its own; then they
take turns. The time is the processor time of the whole process of a replay in which
every answer is found, less that of a replay with ten users, by calls. Peak memory and
the size of the folder are those of the larger replay.

With `--rows`, answers with their calls, about 2 kB each, are put into a cache, and an
executor finds all of them in another process: what the store alone takes of the disk,
the processor and memory.
"""

import argparse
import json
import multiprocessing
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from benchmarks.ahead import start
from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.call import Call, key_of
from pytest_recsys_mt.calls.executor import Executor
from pytest_recsys_mt.calls.text_subject import TextSubject
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.llm.recommender import LLMRecommender

FEW = 10
"""Users of the run that is taken off: start, imports, the data."""
RATINGS = 30

ASKED = (
    "Act as a recommender system for one user and make recommendations. User {user} likes these items: {rated}. "
    "(The lowest rating is 1, the highest is 5.) Answer with 10 recommendations\nChoose only from the "
    "following candidates, one per line, without any explanation:"
)

POLICY = """
[gate]
"""


class Run(NamedTuple):
    """One run of the suite.

    Attributes:
        calls: Distinct calls.
        cpu: Seconds of processor time.
        memory: Peak of the resident set, in MB.
        verdicts: The verdicts, as the record has them.
    """

    calls: int
    cpu: float
    memory: float
    verdicts: Sequence[tuple[object, ...]]


def write_data(folder: Path, users: int) -> None:
    """Films of `mini` and drawn users, in the format of MovieLens."""
    rng = np.random.default_rng(0)
    films = list(load("mini").items.values())
    weights = 1 / np.arange(1, len(films) + 1) ** 0.5
    movies = [f'{n},"{film.label}",Drama' for n, film in enumerate(films)]
    (folder / "movies.csv").write_text(
        "movieId,title,genres\n" + "\n".join(movies) + "\n",
    )
    rows = []
    for user in range(users):
        chosen = rng.choice(
            len(films),
            RATINGS,
            replace=False,
            p=weights / weights.sum(),
        )
        values = rng.integers(1, 6, RATINGS)
        rows += [
            f"{user},{film},{value},{at}"
            for at, (film, value) in enumerate(zip(chosen, values, strict=True))
        ]
    (folder / "ratings.csv").write_text(
        "userId,movieId,rating,timestamp\n" + "\n".join(rows) + "\n",
    )


def run(python: Path, folder: Path, users: int, url: str, *options: str) -> Run:
    """The suite on `users` users, with the cache of `python`."""
    record = folder / "record.json"
    command = [
        str(python), "-m", "pytest", "--pyargs", "pytest_recsys_mt.suites.metamorphic",
        "-p", "no:cacheprovider", "-q", "--recsys-model=openai:slow?concurrency=64",
        f"--recsys-users={users}", f"--recsys-data={folder / 'data'}",
        f"--recsys-cache={cache_of(python, folder)}", f"--recsys-json={record}",
        "--recsys-policy=recsys.toml", *options,
    ]  # fmt: skip
    environment = {
        **os.environ,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none-is-needed-here",
    }
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    _, _, used = os.wait4(process.pid, 0)
    found = json.loads(record.read_text())
    verdicts = [
        (row["nodeid"], row["status"], row["users"], row["estimate"])
        for row in found["results"]
    ]
    calls = found["calls"]
    if "--recsys-mode=replay" in options and calls["made"]:
        raise SystemExit(
            "a replay asked something; the figures would be of something else",
        )
    return Run(
        calls["made"] + calls["cached"] + calls["again"],
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1e3,
        verdicts,
    )


def cache_of(python: Path, folder: Path) -> Path:
    """The cache folder of one Python."""
    return folder / f"cache{str(python.absolute()).replace('/', '-')}"


def suite(pythons: Sequence[Path], users: int, rounds: int, url: str) -> None:
    """Print a row for each Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "recsys.toml").write_text(POLICY)
        write_data(folder / "data", users)
        for python in pythons:
            for count in (users, FEW):
                run(python, folder, count, url)
        found: dict[Path, list[tuple[float, Run]]] = {python: [] for python in pythons}
        for _ in range(rounds):
            for python in pythons:
                few = run(python, folder, FEW, url, "--recsys-mode=replay")
                whole = run(python, folder, users, url, "--recsys-mode=replay")
                per_call = (whole.cpu - few.cpu) / (whole.calls - few.calls)
                found[python].append((1e6 * per_call, whole))
        same = (
            len(
                {
                    json.dumps(one.verdicts)
                    for runs in found.values()
                    for _, one in runs
                },
            )
            == 1
        )
        for python, runs in found.items():
            size = sum(
                path.stat().st_size
                for path in cache_of(python, folder).rglob("*")
                if path.is_file()
            )
            calls = runs[0][1].calls
            print(
                f"| {python} | {users:,} | {calls:,} | {median(each for each, _ in runs):.0f} | "
                f"{median(one.cpu for _, one in runs):.1f} | {size / calls:.0f} | "
                f"{median(one.memory for _, one in runs):.0f} | {'equal' if same else 'DIFFERENT'} |",
                flush=True,
            )


def questions(count: int) -> Iterator[tuple[dict[str, Any], Answer]]:
    """Calls of the length of real ones, and their answers; no two alike."""
    rng = random.Random(0)
    films = [film.label for film in load("mini").items.values()]
    model = {"host": "http://127.0.0.1:8000/v1", "model": "slow", "provider": "openai"}
    for number in range(count):
        seen, offered = rng.choices(films, k=20), rng.choices(films, k=20)
        rated = ", ".join(f"{film} {rng.randint(1, 5)}/5" for film in seen)
        listed = "\n".join(f"{place}. {film}" for place, film in enumerate(offered, 1))
        content = f"{ASKED.format(user=number, rated=rated)}\n{listed}"
        call = {
            "k": 10, "messages": [["user", content]], "model": model, "repeat": False, "replicate": 0,
            "schema": "recsys-mt-call/1", "seed": rng.getrandbits(63),
        }  # fmt: skip
        answer: Answer = {
            "asked": 1.8e9 + number // 64, "finish_reason": "stop", "model": "slow", "run": "9" * 32,
            "system_fingerprint": None, "text": listed[: len(listed) // 2], "usage": [600, 80],
        }  # fmt: skip
        yield call, answer


def found(folder: Path) -> tuple[float, float]:
    """Seconds of processor time to find all answers in a
    cache, and the memory it took, in MB.
    """
    keys = (folder / "keys").read_text().split()
    random.Random(1).shuffle(keys)
    before = resident()
    cache = AnswerCache(folder, write=False)
    executor = Executor(cache, "replay", "replay")
    os.environ["OPENAI_API_KEY"] = "none-is-needed-here"
    subject = TextSubject(LLMRecommender(OpenAIModel("slow")), "slow")
    began = time.process_time()
    for first in range(0, len(keys), 2000):
        calls = [
            Call(key, {"replicate": 0, "model": {}}, None)
            for key in keys[first : first + 2000]
        ]
        executor.execute(subject, calls)
        executor.bill.drain()  # as at the end of each test
    spent = time.process_time() - began
    memory = (
        resident() - before
    )  # not the peak: a new process begins with that of its parent
    cache.close()
    return spent, memory


def resident() -> float:
    """The memory of this process, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def store(rows: int) -> None:
    """Print what a cache of so many answers takes."""
    with tempfile.TemporaryDirectory() as name:
        folder, keys, size, put = Path(name), [], 0, 0.0
        cache = AnswerCache(folder)
        asked = questions(rows)
        while some := list(islice(asked, 1000)):
            began = time.process_time()
            with cache.together():
                for call, answer in some:
                    keys.append(key_of(call))
                    cache.put(keys[-1], call, answer)
            put += time.process_time() - began
            size += sum(len(json.dumps(each)) for each in some)
        cache.close()
        disk = (folder / "answers" / "cache.db").stat().st_size
        (folder / "keys").write_text("\n".join(keys))
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            spent, memory = pool.submit(found, folder).result()
    print(
        f"\n{rows:,} answers of {size / rows:.0f} characters with their calls: {disk / 1e6:.0f} MB on disk "
        f"({disk / rows:.0f} bytes each), {1e6 * put / rows:.0f} µs to put one, "
        f"{1e6 * spent / rows:.0f} µs to find one, {memory:.0f} MB of memory for all",
    )


def main() -> None:
    """Print Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--users", type=int, nargs="*", default=[400, 2000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", type=Path, nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=0)
    given = parser.parse_args()
    url = f"http://127.0.0.1:{start(0.0)}/v1"
    print(
        "| Python | users | calls | µs a call | whole run s | bytes a call on disk | peak MB | verdicts |",
    )
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for users in given.users:
        suite([*given.python, Path(sys.executable)], users, given.rounds, url)
    if given.rows:
        store(given.rows)


if __name__ == "__main__":
    main()

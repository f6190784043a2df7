"""Whether default runs of sound recommenders pass: those that answer with honest noise,
and no fault.

    python -m benchmarks.sound --seeds 20

Each line is the number of runs whose gate passes, of so many seeds. The recommenders
are ``itemknn`` with Gumbel noise on its scores, in units of their deviation over the
catalogue; the same behind HTTP; and a text model of the zoo, which reads prompts and
answers with titles, with the same noise. That one understands the questions of the
metamorphic suite. With ``--kinds unseeded`` they are those of `benchmarks.zoo.noisy`,
whose noise no seed gives back.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import json
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import numpy as np

from benchmarks.zoo import noisy, text
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.datasets.dataset import Dataset
from pytest_recsys_mt.recommenders.knn import ItemKNN
from pytest_recsys_mt.recommenders.scoring import Floats
from pytest_recsys_mt.requests import Item, Rating, Request, Scale
from pytest_recsys_mt.requests.design import generator

_EXCLUDED = re.compile(r'Recommend nothing of the genre "([^"]+)"')

LEVELS = (0.0, 0.1, 0.3, 0.6, 1.0)


@dataclasses.dataclass(eq=False)
class NoisyKNN(ItemKNN):
    """`ItemKNN` whose scores have noise that is drawn
    anew for each request and replicate.
    """

    key: ClassVar[str] = "noisy"
    noise: float = 0.0

    def learn(self, dataset: Dataset, seed: int) -> None:
        """Find each item's nearest items, and take the seed of the noise."""
        self.seed = seed
        super().learn(dataset, seed)

    @property
    def deterministic(self) -> bool:  # type: ignore[override]
        """Whether it has no noise."""
        return not self.noise

    def score(self, requests: Sequence[Request]) -> Floats:
        """Weighted similarity to the history, with noise."""
        scores = super().score(requests)
        for row, request in enumerate(requests if self.noise else ()):
            said = [(rating.item.id, rating.value) for rating in request.history]
            offered = [item.id for item in request.candidates or ()]
            draw = generator(
                self.seed,
                "noise",
                request.user,
                request.k,
                f"{said} {offered}",
                request.replicate,
            )
            scores[row] += (
                draw.gumbel(size=scores.shape[1]) * self.noise * scores[row].std()
            )
        return scores


class _Shop(BaseHTTPRequestHandler):
    """Serves a recommender by the contract of docs/http-recommenders.md."""

    model: ClassVar[NoisyKNN]
    protocol_version = "HTTP/1.1"

    def _say(self, said: dict[str, Any]) -> None:
        body = json.dumps({"version": f"noise {self.model.noise:g}", **said}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:  # the name is that of http.server
        """What answers."""
        self._say({"deterministic": self.model.deterministic, "max_batch": 64})

    def do_POST(self) -> None:  # the name is that of http.server
        """One answer a request."""
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))[
            "requests"
        ]
        answers = self.model.recommend([_request(each) for each in given])
        self._say({"answers": [{"items": answer.items} for answer in answers]})

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def _request(given: dict[str, Any]) -> Request:
    def item(each: dict[str, Any]) -> Item:
        return Item(each["id"], each["title"], each["year"])

    offered = given["candidates"]
    return Request(
        given["user"],
        tuple(Rating(item(each["item"]), each["rating"]) for each in given["history"]),
        Scale(**given["scale"]),
        None if offered is None else tuple(map(item, offered)),
        given["k"],
        seen=tuple(given["seen"]),
        replicate=given["replicate"],
    )


class HeedsExclusions(text.Reader):
    """The sound reader, which also names nothing of a genre that the prompt excludes."""

    def utility(self, question: text.Question) -> Floats:
        """Of every film; the lowest for what is excluded."""
        utility = super().utility(question)
        if unwanted := _EXCLUDED.search(question.text):
            genres = (
                item.attributes.get("genres", ()) for item in self.taste.items.values()
            )
            utility = utility - 1e3 * np.array([unwanted[1] in each for each in genres])
        return utility


def sound_reader(noise: float) -> text.AsText:
    """A sound text model of so much noise."""
    return text.AsText(HeedsExclusions(noise))


def _classical(noise: float, folder: Path) -> str:
    model = folder / f"noise_{noise:g}.py"
    source = f"from benchmarks.sound import NoisyKNN\n\ndef Model():\n    return NoisyKNN(noise={noise})\n"
    model.write_text(source, encoding="utf-8")
    return f"{model}:Model"


def _text(noise: float, folder: Path) -> str:
    model = folder / f"text_{noise:g}.py"
    source = (
        "from benchmarks.sound import sound_reader\n\n"
        f"def Model():\n    return sound_reader({noise})\n"
    )
    model.write_text(source, encoding="utf-8")
    return f"{model}:Model"


def _http(noise: float, _: Path) -> str:
    model = NoisyKNN(noise=noise)
    model.fit(load("mini"), 0)
    shop = type("Shop", (_Shop,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), shop)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def _unseeded(name: str, folder: Path) -> str:
    model = folder / f"{name}.py"
    source = f"from benchmarks.zoo.noisy import noisy\n\ndef Model():\n    return noisy({name!r})\n"
    model.write_text(source, encoding="utf-8")
    return f"{model}:Model"


SEEDED = {"classical": _classical, "text": _text, "http": _http}
KINDS = (*SEEDED, "unseeded")


def run(model: str, seed: int, users: int, folder: Path) -> tuple[str, list[str]]:
    """The gate of one default run, and its rows that are not green.

    Args:
        model: Spec of the recommender.
        seed: The seed of the run.
        users: ``--recsys-users``.
        folder: For its files.
    """
    record = folder / f"{zlib.crc32(model.encode())}-{seed}.json"
    suite = "pytest_recsys_mt.suites" + (".metamorphic" if "text_" in model else "")
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", suite,
        f"--recsys-model={model}", f"--recsys-seed={seed}", f"--recsys-users={users}", f"--recsys-json={record}",
        f"--recsys-cache={folder / 'cache'}", f"--rootdir={folder}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not record.exists():
        raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
    document = json.loads(record.read_text(encoding="utf-8"))
    red = [
        f"{row['status']} {row['relation'] or row.get('metric') or row['oracle']}"
        for row in document["results"]
        if row["status"] in ("violated", "inconclusive", "error")
    ]
    return document["gate"]["status"], red


def _models(
    kinds: Sequence[str],
    noise: Sequence[float],
    folder: Path,
) -> Iterator[tuple[str, str]]:
    """What each line begins with, and the spec of its recommender."""
    seeded = [kind for kind in kinds if kind in SEEDED]
    for kind, level in itertools.product(seeded, noise):
        yield f"{kind}, noise {level:g}", SEEDED[kind](level, folder)
    if "unseeded" in kinds:
        for name in noisy.KINDS:
            yield f"unseeded, {name}", _unseeded(name, folder)


def main() -> None:
    """Print a line per cell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(SEEDED))
    parser.add_argument("--noise", nargs="+", type=float, default=LEVELS)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(given.processes) as pool,
    ):
        for label, model in _models(given.kinds, given.noise, Path(folder)):
            of = functools.partial(run, model, users=given.users, folder=Path(folder))
            found = list(pool.map(of, range(given.first, given.first + given.seeds)))
            passed = sum(gate == "passed" for gate, _ in found)
            red = Counter(row for _, rows in found for row in rows)
            print(f"{label}: {passed} of {given.seeds} pass; {dict(red)}", flush=True)


if __name__ == "__main__":
    main()

"""How long a title takes that no item of a large catalogue has, against a scan of all
names.

    python -m benchmarks.unknown_titles [--titles 60000 1000000] [--rounds 5]

The anchor is one call of `rapidfuzz.process.extract` over all names, with the least
similarity of a misspelt title: what a search without an index must do at least. Rounds
of both alternate, after a first that counts for nothing; the figures are medians of
processor time. The titles are made of one to six words, whose frequencies are those of
a language (Zipf's law).
"""

import argparse
import gc
import random
import statistics
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz, process

from benchmarks import tables
from pytest_recsys_mt.llm.reading.named import MIN_SCORE
from pytest_recsys_mt.llm.reading.spelling import normalise
from pytest_recsys_mt.llm.reading.titles import TitleIndex
from pytest_recsys_mt.requests import Item

SCANNED = 5
"""Titles of a round that the anchor gets: it is slow."""

LENGTHS = (0.12, 0.3, 0.3, 0.16, 0.08, 0.04)
"""Shares of the titles with one to six words, about those of MovieLens."""

HEAD = (
    "titles", "index s", "bytes a title", "unknown, ms", "unknown, dated, ms", "strange words, ms",
    "misspelt, ms", "scan, ms", "scan / unknown",
)  # fmt: skip


def vocabulary(number: int, rng: random.Random) -> list[str]:
    """Distinct made-up words, the shorter ones first."""
    found: dict[str, None] = {}
    while len(found) < number:
        syllables = 1 + len(str(len(found))) // 2 + rng.randrange(2)
        found[
            "".join(
                rng.choice("bcdfghlmnprstvw")
                + rng.choice("aeiou")
                + rng.choice("nrst" + 4 * " ")
                for _ in range(syllables)
            ).replace(" ", "")
        ] = None
    return list(found)


def titles(number: int, seed: int) -> list[str]:
    """Titles of words drawn by Zipf's law; a larger
    catalogue has more words (Heaps' law).
    """
    words = np.array(vocabulary(int(60 * number**0.6), random.Random(0)), dtype=object)
    rng = np.random.default_rng(seed)
    lengths = rng.choice(np.arange(1, 7), number, p=LENGTHS)
    shares = np.cumsum(1 / (np.arange(len(words)) + 2.7))
    drawn = words[np.searchsorted(shares, rng.random(int(lengths.sum())) * shares[-1])]
    ends = np.cumsum(lengths)
    return [
        " ".join(drawn[end - length : end])
        for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)
    ]


def misspelt(title: str, rng: random.Random) -> str:
    """A title with two letters of its longest word swapped."""
    word = max(title.split(), key=len)
    at = rng.randrange(1, max(2, len(word) - 2))
    return title.replace(word, word[:at] + word[at : at + 2][::-1] + word[at + 2 :], 1)


def strange(title: str) -> str:
    """A title whose longest word is in no other, nor close to one."""
    word = max(title.split(), key=len)
    return title.replace(word, f"q{word[1:]}xyq", 1)


def milliseconds(find: Callable[[str], object], texts: Sequence[str]) -> float:
    """Processor time of one call, the median over the texts."""
    taken = []
    normalise.cache_clear()
    for text in texts:
        start = time.process_time_ns()
        find(text)
        taken.append((time.process_time_ns() - start) / 1e6)
    return statistics.median(taken)


def memory() -> int:
    """Bytes of this process in memory; Linux tells it."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def measured(number: int, rounds: int, asked: int) -> tuple[object, ...]:
    """One line of the table: a catalogue of that many titles."""
    rng = random.Random(1)
    written = titles(number, 0)
    items = [
        Item(str(place), title, 1920 + place % 100)
        for place, title in enumerate(written)
    ]
    new = [title for title in titles(4 * asked, 1) if len(normalise(title)) >= 10]
    normalise.cache_clear()
    gc.collect()
    before = memory()
    start = time.process_time()
    index = TitleIndex(items)
    for text in (misspelt(title, rng) for title in written[:100]):
        index.find(f"{text} (1999)")  # what is made at first use
    built = time.process_time() - start
    size = (memory() - before) / number
    names = list(dict.fromkeys(map(normalise, written)))
    unknown = [title for title in new if index.find(title) is None][:asked]
    dated = [
        f"{title} (1977)" for title in unknown if index.find(f"{title} (1977)") is None
    ]
    slips = [
        misspelt(title, rng)
        for title in rng.sample(written, 4 * asked)
        if len(title) > 12
    ]
    slips = [title for title in slips if index.find(title) is not None][:asked]
    scan: Callable[[str], object] = lambda text: process.extract(
        normalise(text),
        names,
        scorer=fuzz.ratio,
        score_cutoff=MIN_SCORE,
        limit=8,
    )
    kinds: list[tuple[Callable[[str], object], list[str]]] = [
        (index.find, unknown), (index.find, dated), (index.find, [strange(t) for t in unknown]),
        (index.find, slips), (scan, unknown[:SCANNED]),
    ]  # fmt: skip
    taken = [
        [milliseconds(find, texts) for find, texts in kinds] for _ in range(rounds + 1)
    ][1:]
    medians = [statistics.median(column) for column in zip(*taken, strict=True)]
    return (
        f"{number:,}", f"{built:.1f}", f"{size:,.0f}", *(f"{value:.3f}" for value in medians),
        f"{medians[-1] / medians[0]:,.0f}",
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--titles", type=int, nargs="+", default=[60_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--asked",
        type=int,
        default=200,
        help="titles of each kind in a round",
    )
    options = parser.parse_args()
    lines = [
        measured(number, options.rounds, options.asked) for number in options.titles
    ]
    print(f"rapidfuzz {version('rapidfuzz')}, {options.rounds} rounds\n")
    print("\n".join(tables.table(HEAD, lines)))


if __name__ == "__main__":
    main()

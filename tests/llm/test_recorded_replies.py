"""400 recorded replies of gpt-3.5-turbo give the metrics that were logged with them."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.requests import Entry, Item, Rating, Request, Scale
from tests.support.llm_reading import TitleIndex, parse

RECORDED = Path(__file__).resolve().parents[2].parent / "shared/data/recorded"

LOGGED = {
    "RankZero": ((0.245, 0.635, 0.790, 0.985), (0.4484, 0.4983, 0.5471)),
    "RankFixed": ((0.195, 0.580, 0.760, 1.0), (0.3969, 0.4539, 0.5138)),
}


def replies(
    variant: str,
) -> Iterator[tuple[dict[str, Any], Request, tuple[Entry, ...]]]:
    """Each row with its request and the entries of its
    reply; titles have no years here.
    """
    path = RECORDED / f"gpt-3.5-turbo-{variant}.jsonl"
    if not path.is_file():
        pytest.skip("the recorded replies are not beside the repository")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    titles = dict.fromkeys(
        t for row in rows for t in row["candidates"] + row["history"]
    )
    items = {title: Item(f"{title}#0", title) for title in titles}
    index = TitleIndex(items.values())
    for row in rows:
        seen: Counter[str] = Counter()
        offered = []
        for title in row["candidates"]:  # one candidate set holds a title twice
            offered.append(Item(f"{title}#{seen[title]}", title))
            seen[title] += 1
        history = tuple(Rating(items[title], 5.0) for title in row["history"])
        request = Request(row["user"], history, Scale(), tuple(offered), k=20)
        yield row, request, parse(row["text"], request, index)


@pytest.mark.parametrize("variant", LOGGED)
def test_logged_metrics_are_reproduced(variant: str) -> None:
    ranks = []
    for row, request, entries in replies(variant):
        offered = {item.id for item in request.candidates or ()}
        ranked = list(dict.fromkeys(e.item for e in entries if e.item in offered))
        target = f"{row['target']}#0"
        ranks.append(ranked.index(target) + 1 if target in ranked else math.inf)
    recall, ndcg = LOGGED[variant]
    assert len(ranks) == 200
    for k, logged in zip((1, 5, 10, 20), recall, strict=True):
        assert sum(rank <= k for rank in ranks) / 200 == pytest.approx(logged, abs=5e-5)
    for k, logged in zip((5, 10, 20), ndcg, strict=True):
        gains = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= k)
        assert gains / 200 == pytest.approx(logged, abs=5e-5)


def test_replies_that_rank_the_history_are_told_from_hallucinations() -> None:
    kinds: Counter[str] = Counter()
    of_history = set()
    for row, _, entries in replies("RankZero"):
        kinds.update(entry.kind for entry in entries)
        if any(entry.kind == "history" for entry in entries):
            of_history.add(row["user"])
    # 3,988 numbered lines: 3,735 candidates as written or nearly so, nine of them
    # repeated.
    assert kinds["candidate"] + kinds["duplicate"] == 3735
    assert kinds["history"] + kinds["unknown"] == 253
    assert kinds["history"] >= 250
    assert len(of_history) == 37
    assert kinds["catalogue"] == 0


@pytest.mark.parametrize("user", ["29", "34", "73", "121"])
def test_titles_nested_in_others_are_not_dropped(user: str) -> None:
    for row, request, entries in replies("RankFixed"):
        if row["user"] == user:
            named = {entry.item for entry in entries}
            assert named == {item.id for item in request.candidates or ()}


def test_twin_titles_of_one_candidate_set_are_both_ranked() -> None:
    twins = 0
    for row, _, entries in replies("RankFixed"):
        double = [t for t, n in Counter(row["candidates"]).items() if n > 1]
        for title in double:
            written = sum(
                line.endswith(f". {title}") for line in row["text"].splitlines()
            )
            ranked = {
                e.item for e in entries if e.item and e.item.startswith(f"{title}#")
            }
            assert len(ranked) == min(written, 2)
            twins += 1
    assert twins == 1

"""Requests of a log are sent to recommenders, and each is counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import DataError
from pytest_recsys_mt.datasets import load
from tests.support.cli import main
from tests.support.parity import Histories, paths_of, recorded, request_of

SHOP = """
import random
from pytest_recsys_mt import Recommendation

class Shop:
    deterministic = True
    oldest = 0

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        seen = {rating.item.id for rating in request.history}
        offered = [item.id for item in request.candidates if item.id not in seen]
        best = sorted(offered, key=lambda item: (self.is_late(item), item))
        return Recommendation(tuple(best[: request.k]))

    def is_late(self, item):
        return False

class Stale(Shop):
    def is_late(self, item):
        return int(item[1:]) < 40

class Noisy(Shop):
    deterministic = False

    def answer(self, request):
        if request.user == "u0":
            raise ValueError("no such user")
        found = super().answer(request).items
        first = random.sample(found[:2], 2)
        return Recommendation((*first, *found[2:]))
"""


def row(number: int) -> dict[str, Any]:
    offered = [f"m{1 + (7 * number + 11 * place) % 350:03}" for place in range(30)]
    return {
        "request": f"r{number}",
        "user": f"u{number % 120}",
        "history": [offered[0], {"id": offered[1], "rating": 2, "time": 1_500_000_000}],
        "candidates": offered,
        "k": 10,
        "country": "de",
    }


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log of the answers of `Shop`, two requests of each of 120 users."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(SHOP)
    rows = []
    for number in range(240):
        found = row(number)
        best = sorted(found["candidates"][2:])[:10]
        rows.append({**found, "items": best})
    (tmp_path / "served.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path / "served.jsonl"


def parity(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capfd.readouterr()
    status = main(["parity", *arguments, "-p", "no:cacheprovider"])
    return status, "".join(capfd.readouterr())


def test_a_recommender_is_compared_with_a_log(
    log: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, text = parity(capfd, "shop.py:Shop", "served.jsonl", "--margin=5")
    assert status == 0, text
    assert "one request of each of 120 of 120 users, of 240 requests" in text
    assert "120 requests, 120 with the history of the log" in text
    assert "each sent once; 0 answers are missing" in text
    assert "shop.py:Shop and served.jsonl: the same lists" in text
    assert "120 requests: 120 compared" in text


def test_two_recommenders_are_sent_the_requests_of_a_log(
    log: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    arguments = ("shop.py:Shop", "shop.py:Stale", "--on=served.jsonl", "--users=100")
    status, text = parity(capfd, *arguments)
    assert status == 1
    assert "shop.py:Shop and shop.py:Stale: other lists" in text
    # A noisy one is sent each request twice, and a failure is counted.
    status, text = parity(capfd, "shop.py:Noisy", "served.jsonl")
    assert (
        "each sent twice; 2 answers are missing: 2 of ValueError: no such user" in text
    )
    assert "1 left out only B answers" in text
    assert "no log has two answers" not in text, "its noise is known"


def test_the_history_is_that_of_the_log_else_of_the_data() -> None:
    data = load("mini")
    histories = Histories(data)
    of_log = request_of({**row(3), "items": []}, histories, 5, 20)
    assert [rating.value for rating in of_log.history] == [data.scale.high, 2.0]
    assert (of_log.k, of_log.attributes) == (10, {"country": "de"})
    known = {"request": "r", "user": "u001", "items": ["m001", "m002"]}
    of_data = request_of(known, histories, 5, 3)
    assert (len(of_data.history), of_data.k, of_data.candidates) == (3, 2, None)
    unknown = request_of({**known, "user": "nobody"}, histories, 5, 3)
    assert unknown.history == ()
    counts = (histories.from_rows, histories.from_data, histories.missing)
    assert counts == (1, 1, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"candidates": 3},
        {"candidates": [None]},
        {"k": "many"},
        {"k": 0},
        {"history": "m001"},
    ],
)
def test_a_row_that_is_no_request_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="'r3' is no request"):
        request_of({**row(3), "items": [], **wrong}, Histories(load("mini")), 5, 20)


def test_what_is_not_sent_is_counted(
    log: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows = log.read_text().splitlines()
    log.write_text("\n".join([*rows[:200], *["{oops"] * 40]))
    status, text = parity(capfd, "shop.py:Shop", "served.jsonl")
    assert (status, "40 cannot be read" in text) == (2, True)
    assert "17% of the rows of served.jsonl are not read" in text
    log.write_text("\n".join(rows))
    status, text = parity(
        capfd, "itemknn", "shop.py:Shop", "--on=served.jsonl", "--users=0"
    )
    assert (status, "--users is 0" in text) == (2, True)
    unknown = [row.replace('"m', '"film') for row in rows]
    log.write_text("\n".join(unknown))
    status, text = parity(capfd, "itemknn", "bm25", "--on=served.jsonl", "--users=9")
    assert status == 1
    assert "itemknn is fitted to mini, which lacks 288 of the 288 items" in text
    (log.parent / "log.txt").write_text("{}")
    with pytest.raises(SystemExit):
        parity(capfd, "shop.py:Shop", "log.txt")
    assert "is a file, and no log or record" in capfd.readouterr().err


def test_each_user_is_drawn_once_and_rows_may_lack_an_answer(log: Path) -> None:
    found = recorded(log, paths_of(None), 50, 0, answered=True)
    users = [own[0]["user"] for own in found.rows]
    assert (len(users), len(set(users)), found.users, len(found.log.users)) == (
        50,
        50,
        120,
        240,
    )
    again = recorded(log, paths_of(None), 50, 0, answered=True)
    assert again.rows == found.rows
    assert recorded(log, paths_of(None), 50, 1, answered=True).rows != found.rows
    log.write_text("\n".join(json.dumps(row(number)) for number in range(9)))
    assert len(recorded(log, paths_of(None), 50, 0, answered=False).rows) == 9
    with pytest.raises(DataError, match="no row that can be read"):
        recorded(log, paths_of(None), 50, 0, answered=True)

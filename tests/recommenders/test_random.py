from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import permutations
from typing import Any

import pytest

from pytest_recsys_mt.requests import Request
from tests.recommenders.data import ask, fitted, requests, simulate

DATA = simulate()
RANDOM = fitted("random", DATA)
FOUR = ("i1", "i9", "i30", "i59")


def orders(asked: list[Request]) -> list[tuple[str, ...]]:
    return [answer.items for answer in RANDOM.recommend(asked)]


def chi_square(counts: Counter[Any], cells: list[Any]) -> float:
    expected = counts.total() / len(cells)
    return sum((counts[cell] - expected) ** 2 / expected for cell in cells)


@pytest.mark.parametrize("vary", ["replicate", "user", "seed"])
def test_every_order_is_equally_likely(vary: str) -> None:
    # 49.7 is the .999 quantile of chi-square with 23 degrees of freedom.
    question = ask(("i5", 3), k=4, candidates=FOUR)
    if vary == "seed":
        answers = [
            fitted("random", DATA, n).recommend([question])[0].items for n in range(360)
        ]
    else:
        asked = [
            question.replace(replicate=n)
            if vary == "replicate"
            else question.replace(user=f"u{n}")
            for n in range(1200)
        ]
        answers = orders(asked)
    assert chi_square(Counter(answers), list(permutations(FOUR))) < 49.7


def test_consecutive_replicates_are_independent() -> None:
    question = ask(("i5", 3), k=1, candidates=FOUR)
    firsts = [
        items[0]
        for items in orders([question.replace(replicate=n) for n in range(3200)])
    ]
    pairs = Counter(zip(firsts[::2], firsts[1::2], strict=True))
    # 37.7 is the .999 quantile of chi-square with 15 degrees of freedom.
    assert chi_square(pairs, [(one, other) for one in FOUR for other in FOUR]) < 37.7


def test_a_call_is_answered_alike_again_and_in_another_process() -> None:
    asked = requests(DATA)[:3]
    code = (
        "from tests.recommenders.data import *; data = simulate(); "
        "print([a.items for a in fitted('random', data).recommend(requests(data)[:3])])"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == str(orders(asked))


def test_seeds_users_and_replicates_draw_differently() -> None:
    question = ask(("i5", 3), k=20)
    answers = {
        *orders([question, question.replace(replicate=1), question.replace(user="u2")]),
        fitted("random", DATA, 1).recommend([question])[0].items,
    }
    assert len(answers) == 4


def test_more_candidates_leave_the_order_of_the_others() -> None:
    few = orders([ask(k=4, candidates=FOUR)])[0]
    many = orders([ask(k=9, candidates=("i2", *FOUR[::-1], "i40", "i41"))])[0]
    assert tuple(item for item in many if item in FOUR) == few

"""Property tests with `recsys.ask`: a planted fault shrinks
to the smallest profile that shows it.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.conftest import record_of

RECOMMENDERS = '''
import hashlib
from pytest_recsys_mt import Recommendation

asked = []


class Genres:
    """Likes what shares genres with the films of the history."""

    deterministic = True
    fingerprint = "genres"
    reads = slice(None)

    def recommend(self, requests):
        asked.extend(requests)
        return [self.answer(request) for request in requests]

    def answer(self, request):
        read = request.history[self.reads]

        def liking(item):
            genres = set(item.attributes["genres"])
            return sum(
                rating.value for rating in read if genres & set(rating.item.attributes["genres"])
            )

        ranked = sorted(request.candidates, key=lambda item: (-liking(item), item.id))
        return Recommendation(tuple(item.id for item in ranked[: request.k]))


class LastThree(Genres):
    """Ignores everything but the last three."""

    fingerprint = "last-three"
    reads = slice(-3, None)


class Moody(Genres):
    """Never answers twice alike."""

    deterministic = False
    fingerprint = "moody"

    moods = 0

    def answer(self, request):
        self.moods += 1
        mood = f"{self.moods} ".encode()
        order = lambda item: hashlib.sha256(mood + item.id.encode()).digest()
        items = sorted(request.candidates, key=order)
        return Recommendation(tuple(item.id for item in items[: request.k]))


class Down(Genres):
    fingerprint = "down"

    def answer(self, request):
        raise ConnectionError("no route to host")
'''

TEST = """
from hypothesis import given, settings
from pytest_recsys_mt.strategies import reproducible, requests

@settings(reproducible, max_examples=40)
@given(request=requests())
def test_order_is_irrelevant(recsys, request):
    forwards, backwards = recsys.ask(request, request.replace(history=request.history[::-1]))
    if forwards.items != backwards.items:
        print("SHOWN", len(request.history), len(request.candidates), request.k,
              {rating.value for rating in request.history})
    assert forwards.items == backwards.items
"""


@pytest.fixture
def check(project: pytest.Pytester, tmp_path: Path) -> Any:
    def execute(
        model: str,
        *more: str,
        test: str = TEST,
    ) -> tuple[pytest.RunResult, Any]:
        project.makepyfile(faulty=RECOMMENDERS, test_it=test)
        out = tmp_path / "record.json"
        result = project.runpytest_inprocess(
            "-p",
            "no:cacheprovider",
            f"--recsys-model=faulty:{model}",
            f"--recsys-cache={tmp_path / 'cache'}",
            f"--recsys-json={out}",
            *more,
        )
        return result, record_of(out)["calls"]

    return execute


def shown(result: pytest.RunResult) -> str:
    """The last example that failed: the one that Hypothesis reports."""
    return str(re.findall(r"^SHOWN (.*)$", result.stdout.str(), re.MULTILINE)[-1])


def test_a_faithful_recommender_passes_and_a_second_run_asks_nothing(
    check: Any,
) -> None:
    result, calls = check("Genres")
    result.assert_outcomes(passed=1)
    assert calls["made"] > 40
    again, calls_again = check("Genres")
    again.assert_outcomes(passed=1)
    assert calls_again["made"] == 0
    assert calls_again["cached"] == calls["made"]


def test_a_reader_of_the_last_three_is_shown_on_the_smallest_profile(
    check: Any,
) -> None:
    # Four films are the fewest of which three can be read. The candidates shrink too,
    # though which few remain depends on what Hypothesis has tried before.
    result, _ = check("LastThree")
    result.assert_outcomes(failed=1)
    # The oldest Hypothesis leaves one rating more.
    assert re.fullmatch(r"4 [2-4] 1 \{1\.0(, \d\.0)?\}", shown(result))
    replayed, calls = check("LastThree", "--recsys-mode=replay")
    replayed.assert_outcomes(failed=1)
    assert shown(replayed) == shown(result)
    assert calls["made"] == 0


def test_an_unseeded_recommender_has_one_outcome_an_example(check: Any) -> None:
    result, _ = check("Moody")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*[Ff]laky*")
    assert shown(result).startswith("2 2 ")


def test_a_call_that_failed_is_no_empty_answer(check: Any) -> None:
    result, calls = check("Down")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*RecommenderError: faulty:Down failed on the request of user 'anybody', replicate 0: *",
        ],
    )
    assert calls["failed"] > 0


def test_equal_requests_are_put_once(check: Any) -> None:
    test = """
    import faulty
    import pytest
    from hypothesis import find
    from pytest_recsys_mt.strategies import requests

    def test_it(recsys):
        request = find(requests(), lambda request: len(request.candidates) > 3)
        one, two = recsys.ask(request, request)
        assert one == two == recsys.ask(request)[0]
        assert recsys.ask() == []
        assert len(faulty.asked) == 1
        recsys.ask(request.replace(replicate=1))
        assert len(faulty.asked) == 2
    """
    result, calls = check("Genres", test=test)
    result.assert_outcomes(passed=1)
    assert calls["made"] == 2

"""A call that hangs is given up, and the run goes on."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.plugin.conftest import record_of
from tests.support.calls import HANGS, NoAnswerError, Patience
from tests.support.safety import traceback_of

PROJECT = {
    "shop.py": """
import threading
from pytest_recsys_mt import Completion, Recommendation


class Shop:
    deterministic = True
    hangs = ()

    def recommend(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        if request.user in self.hangs or not self.hangs:
            threading.Event().wait()
        return Recommendation(tuple(item.id for item in request.candidates[: request.k]))


class Once(Shop):
    def answer(self, request):
        self.hangs = self.hangs or (request.user,)
        return super().answer(request)


class Writer:
    deterministic = True

    def complete(self, prompts):
        while True:
            pass
""",
    "test_it.py": """
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import scale_ratings, shift_ratings

@metamorphic(scale_ratings(2), shift_ratings(1))
def test_it(source, followup):
    assert same_ranking(source, followup, margin=0.2)
""",
}


def run(folder: Path, *arguments: str) -> str:
    """What a run prints; it must end by itself."""
    for name, text in PROJECT.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--recsys-json=r.json",
    ]
    done = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "workers",
    [[], ["-n", "2"]],
    ids=["one process", "two workers"],
)
def test_a_recommender_that_always_hangs_is_asked_a_few_times_only(
    tmp_path: Path,
    workers: list[str],
) -> None:
    text = run(
        tmp_path,
        "--recsys-model=shop.py:Shop",
        "-orecsys_timeout=0.5",
        *workers,
    )
    rows = record_of(tmp_path / "r.json")["results"]
    assert [row["status"] for row in rows] == ["error", "error"]
    assert "gave no answer within 0.5 s (recsys_timeout)" in rows[0]["reason"]
    assert f"{HANGS} times in a row; no further calls are sent" in rows[0]["reason"]
    assert text.count("    threading.Event().wait()") == 1, "where it hangs, once"
    assert "20 users failed with this error" in text


def test_one_user_for_whom_it_hangs_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nrecsys_timeout = 1\n",
        encoding="utf-8",
    )
    run(tmp_path, "--recsys-model=shop.py:Once", "--recsys-users=100", "-k", "shift")
    (row,) = record_of(tmp_path / "r.json")["results"]
    assert (row["status"], row["errors"]) == ("holds", 1)
    assert row["users"] >= 19


def test_a_text_model_that_is_busy_for_ever_is_given_up_and_ended(
    tmp_path: Path,
) -> None:
    text = run(
        tmp_path, "--recsys-model=shop.py:Writer", "-orecsys_timeout=0.3", "--recsys-users=20",
        "-k", "shift",
    )  # fmt: skip
    assert 'File "shop.py"' in text
    assert ", in complete" in text


def test_a_limit_that_is_no_time_is_refused(tmp_path: Path) -> None:
    assert "recsys_timeout='0': a number above 0 is needed" in run(
        tmp_path,
        "-orecsys_timeout=0",
    )


def test_without_a_limit_calls_stay_in_the_thread_of_their_caller() -> None:
    assert Patience(None).call(threading.get_ident) == threading.get_ident()
    limited = Patience(60)
    first, second = limited.call(threading.get_ident), limited.call(threading.get_ident)
    assert first == second != threading.get_ident(), (
        "what belongs to a thread stays in one"
    )


def test_what_is_raised_in_time_is_raised_as_it_is() -> None:
    with pytest.raises(KeyError, match="gone"):
        Patience(60).call(dict[str, int]().__getitem__, "gone")


def test_an_answer_in_between_begins_the_count_anew() -> None:
    patience = Patience(0.5)
    for seconds in (600, 600, 0, 600, 600):
        if seconds:
            with pytest.raises(
                NoAnswerError,
                match=r"within 0\.5 s \(recsys_timeout\)$",
            ):
                patience.call(time.sleep, seconds)
        else:
            patience.call(time.sleep, seconds)
    for ending in (r"\)$", "3 times in a row; no further calls are sent"):
        with pytest.raises(NoAnswerError, match=ending) as caught:
            patience.call(time.sleep, 600)
        assert "test_timeout.py" in traceback_of(caught.value)

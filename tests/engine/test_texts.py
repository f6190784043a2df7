"""Prompts of a test's own: cached, counted, and refused by who reads no text."""

import pytest

from tests.plugin.conftest import TOYS, record_of

MODEL = '''
import pathlib
from pytest_recsys_mt import Completion


class Parrot:
    """Says the last word of a prompt, and notes that it was asked."""

    fingerprint = "parrot"

    def complete(self, prompts):
        with pathlib.Path("asked.log").open("a") as log:
            log.writelines(f"{prompt.seed}\\n" for prompt in prompts)
        said = [prompt.messages[-1].content.split()[-1] for prompt in prompts]
        return [
            Completion(None, error="no voice") if word == "silence" else Completion(word)
            for word in said
        ]
'''

TEST = """
import pytest
from pytest_recsys_mt import Prompt
from pytest_recsys_mt.requests import Message

def ask(text):
    return Prompt((Message("user", text),))

def test_words(recsys):
    one, two, three = recsys.texts.complete(ask("say yes"), ask("say silence"), ask("say yes"))
    assert (one.text, two.text, three.text) == ("yes", None, "yes")
    assert "no voice" in two.error
    again, = recsys.texts.complete(ask("say yes"), replicate=1)
    assert again.text == "yes"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(models=MODEL, toys=TOYS, test_own=TEST)
    pytester.syspathinsert()
    return pytester


def test_equal_prompts_are_put_once_and_kept(project: pytest.Pytester) -> None:
    arguments = ("--recsys-model=models:Parrot", "--recsys-json=record.json")
    project.runpytest_inprocess(*arguments).assert_outcomes(passed=1)
    asked = (project.path / "asked.log").read_text().split()
    assert len(asked) == 4, "yes, silence twice, and yes once more as another replicate"
    assert len(set(asked)) == 3, "each with a seed of its own"
    assert record_of(project.path / "record.json")["calls"]["failed"] == 1
    project.runpytest_inprocess(*arguments).assert_outcomes(passed=1)
    assert len((project.path / "asked.log").read_text().split()) == 6, (
        "the failed one anew, and once more"
    )


def test_a_recommender_that_reads_no_text_skips_the_test_with_a_row(
    project: pytest.Pytester,
) -> None:
    done = project.runpytest_inprocess(
        "--recsys-model=toys:Faithful",
        "--recsys-json=record.json",
        "-rs",
    )
    done.assert_outcomes(skipped=1)
    (row,) = record_of(project.path / "record.json")["results"]
    assert row["status"] == "not-applicable"
    assert "needs a text model, and toys:Faithful reads no text" in row["reason"]


TIMED = """
import time
from pytest_recsys_mt import Completion


class Slow:
    fingerprint = "slow"

    def complete(self, prompts):
        time.sleep(0.02 * len(prompts))
        said = {"three": 3.0, "never": float("nan"), "soon": "soon"}
        words = [prompt.messages[-1].content for prompt in prompts]
        return [Completion(word, seconds=said.get(word)) for word in words]
"""
TIMES = """
import pathlib
from pytest_recsys_mt import Prompt
from pytest_recsys_mt.requests import Message

def test_times(recsys):
    words = "three", "never", "soon", "one"
    said = recsys.texts.complete(*(Prompt((Message("user", word),)) for word in words))
    times = [each.seconds for each in said]
    assert times[0] == 3 and len({*times[1:]}) == 1 and 0.02 <= times[1] < 3
    with pathlib.Path("times.txt").open("a") as file:
        print(times, file=file)
"""


def test_an_answer_keeps_the_seconds_that_it_took(project: pytest.Pytester) -> None:
    project.makepyfile(models=TIMED, test_own=TIMES)
    for mode in ("auto", "replay"):
        told = ("--recsys-model=models.py:Slow", f"--recsys-mode={mode}")
        project.runpytest_inprocess(*told).assert_outcomes(passed=1)
    asked, replayed = (project.path / "times.txt").read_text().splitlines()
    assert replayed == asked

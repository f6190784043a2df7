"""An author makes the tables of a paper: its questions, two models, a stop, and what is missing and why."""

import pytest

from tests.journeys.pages import Journey, rows_of, says

MODELS = """\
import re

from pytest_recsys_mt import Completion

OPTION = re.compile(r"^(\\S+)\\) (.+)$", re.MULTILINE)


class Alphabet:
    deterministic = True
    fingerprint = "the first of the alphabet, 1"

    def complete(self, prompts):
        return [Completion(self.say(prompt.messages[-1].content)) for prompt in prompts]

    def say(self, told):
        return "Answer: " + min(OPTION.findall(told), key=lambda option: option[1])[0]


class Shy(Alphabet):
    fingerprint = "chooses nothing, 1"

    def say(self, told):
        return "It could be any of them."
"""
TOLD = (
    "pytest --pyargs pytest_recsys_mt.suites.lrworld.test_measures -k 'guessing and movielens' "
    "--recsys-model=models.py:Alphabet --recsys-model=models.py:Shy"
)
AS_THE_PAPER = "-o 'recsys_question_setting=antecedent=2\nhaving=logline' --recsys-users=60"
QUESTIONS = "--setting antecedent=2 --setting having=logline --count 60"
KINDS = ("rules", "similar_items", "similar_users", "cast", "director", "genre", "logline")


def line_of(page: str, model: str) -> list[str]:
    """The cells of a model in a table in Markdown."""
    (line,) = (each for each in page.splitlines() if each.startswith(f"| models.py:{model} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


@pytest.mark.slow
def test_an_author_makes_the_tables_of_lrworld(journey: Journey) -> None:
    journey.enter(["pytest-xdist"])
    (journey.folder / "models.py").write_text(MODELS)

    wrong = journey.run(f"{TOLD} -o recsys_question_setting=having=poster")
    assert says(wrong.stdout, "having='poster': no item of mini has all; some have")
    stopped = journey.run(f"{TOLD} {AS_THE_PAPER} --recsys-max-calls=100")
    assert "--recsys-max-calls=100 is reached" in stopped.stdout
    journey.run(f"{TOLD} {AS_THE_PAPER} --recsys-json=one.json")
    one = journey.record("one.json")
    made = 2 * len(KINDS) * 60
    assert (one["calls"]["cached"], one["calls"]["made"]) == (100, made - 100), "it goes on"

    journey.run(f"{TOLD} {AS_THE_PAPER} -n 2 --recsys-mode=replay --recsys-json=two.json")
    assert journey.record("two.json")["results"] == one["results"]
    journey.run(f"recsys-mt questions questions.jsonl {QUESTIONS}")
    journey.run(f"{TOLD} --recsys-questions=questions.jsonl --recsys-json=file.json")
    assert journey.record("file.json")["calls"]["made"] == 0, "the same questions"

    gated = f"{TOLD} --recsys-mode=replay --recsys-baseline=one.json"
    again = journey.run(f"{gated} {AS_THE_PAPER}").stdout
    assert says(again, "models.py:Alphabet against models.py:Alphabet of one.json: 7 unchanged")
    assert says(again, "no verdict on models.py:Shy could be compared")
    other = journey.run(f"{gated} --recsys-users=60").stdout
    assert says(other, "antecedent=2, having=logline in the baseline, none in this run")

    missing = journey.run("recsys-mt paper lrworld one.json --table 3").stdout
    values = {
        row["nodeid"].rpartition("-")[2][:-1]: f"{row['value']:.4f}"
        for row in rows_of(one, model="models.py:Alphabet", oracle="better_than_chance")
        if row.get("value") is not None
    }
    told = filter("–".__ne__, line_of(missing, "Alphabet"))
    assert dict(zip(KINDS, told, strict=True)) == values
    assert {*line_of(missing, "Shy")} == {"–"}
    assert "no option was read in 100.0% of the answers" in missing
    assert "embeddings are trained with PyTorch" in missing
    shares = journey.run("recsys-mt paper lrworld two.json --table 20").stdout
    assert [*filter("–".__ne__, line_of(shares, "Shy"))] == ["1.0000"] * len(KINDS)

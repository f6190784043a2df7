"""Two text models without a fingerprint in one run: each
answers, and is judged, for itself.
"""

from collections import Counter
from typing import Any

import pytest

from tests.journeys.endpoint import KEY, Endpoint
from tests.journeys.pages import Journey, rows_of, says

COMMAND = "pytest --pyargs pytest_recsys_mt.suites {options} --recsys-json=record.json"
NAMES = ("Alphabet", "Parrot")


def found(
    record: dict[str, Any],
    name: str,
) -> dict[tuple[str, str], tuple[object, ...]]:
    """What a record says of one of the models, by test and oracle."""
    return {
        (row["nodeid"].replace(name, ""), row["oracle"]): (
            row["status"], row["estimate"], row["users"], row["per_user"],
        )
        for row in rows_of(record, model=f"models.py:{name}")
    }  # fmt: skip


def ask(journey: Journey, options: str) -> tuple[dict[str, Any], Counter[str]]:
    """The record of a run, and how often each model says that it was asked."""
    log = journey.folder / "asked.txt"
    log.unlink(missing_ok=True)
    journey.run(COMMAND.format(options=options))
    return journey.record("record.json"), Counter(
        log.read_text(encoding="utf-8").split(),
    )


def once(record: dict[str, Any]) -> dict[str, Any]:
    """The calls of a record, without those that were asked again."""
    rows = [row for row in record["calls"]["by"] if row["purpose"] != "again"]
    return {**record["calls"], "again": 0, "unknown_cost": 0, "attempts": 0, "by": rows}


@pytest.mark.slow
def test_two_text_models(journey: Journey) -> None:
    journey.follow("text-models#two-text-models")
    both, workers = journey.record("both.json"), journey.record("workers.json")
    assert both["models"] == [f"models.py:{name}" for name in NAMES]
    assert workers["results"] == both["results"]
    # Two workers ask apart in time, so they ask some users again to see whether answers
    # change.
    assert once(workers) == once(both)

    alone = {
        name: ask(journey, f"-k test_candidates --recsys-model=models.py:{name}")
        for name in NAMES
    }
    for name, (record, asked) in alone.items():
        assert found(both, name) == found(record, name)
        assert asked == {name: record["calls"]["made"] + record["calls"]["again"]}
    made = sum(record["calls"]["made"] for record, _ in alone.values())
    assert both["calls"]["made"] == made

    arena, parrot = journey.record("arena.json"), journey.record("parrot.json")
    better = [row for row in arena["results"] if "is_better" in row["nodeid"]]
    assert [(row["estimate"] > 0.5, row["status"]) for row in better] == [
        (True, "inconclusive"),
    ]
    kept = {row["status"] for row in arena["results"] if "judge_keeps" in row["nodeid"]}
    assert kept == {"holds"}
    assert [row["relation"] for row in rows_of(arena, status="violated")] == [
        "off_topic",
    ]
    broken = {row["relation"] for row in rows_of(parrot, status="violated")}
    assert {"first_place", "identical_lists"} <= broken
    claims = [row for row in parrot["results"] if "the_recommender" in row["nodeid"]]
    assert {row["status"] for row in claims if row["reason"]} <= {
        "inconclusive",
        "not-applicable",
    }
    assert {row["outcome"] for row in claims} == {"failed", "skipped"}


@pytest.mark.slow  # each role has tests of its own
def test_every_role_is_asked_for_itself(journey: Journey) -> None:
    journey.make("text-models#two-text-models", "models.py")
    record, asked = ask(
        journey,
        "-k 'test_preference and not test_preferences' --recsys-model=models.py:Alphabet "
        "--recsys-against=models.py:Parrot "
        "--recsys-judge=models.py:Alphabet --recsys-users=20",
    )
    assert asked.total() == record["calls"]["made"]
    assert asked["Parrot"] == 20  # each user once; the rest is the model and the judge


@pytest.mark.slow
def test_two_text_models_in_all_suites(journey: Journey) -> None:
    journey.make("text-models#two-text-models", "models.py")
    one, other = (f"--recsys-model=models.py:{name}" for name in NAMES)
    both, asked = ask(journey, f"--recsys-users=10 {one} {other}")
    workers, _ = ask(journey, f"--recsys-users=10 {one} {other} -n 2")
    for name in NAMES:
        record, own = ask(journey, f"--recsys-users=10 --recsys-model=models.py:{name}")
        assert found(both, name) == found(workers, name) == found(record, name)
        assert own[name] == asked[name]


EMBEDDED = """\
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import not_worse
from pytest_recsys_mt.relations import demonstrations


def by_length(texts):
    return [[len(text), text.count("(19")] for text in texts]


@metamorphic(demonstrations(2), demonstrations(2, embed=by_length))
def test_examples_cost_little(source, followup):
    assert not_worse(source, followup, "ndcg@5", margin=0.3)
"""


@pytest.mark.slow
def test_examples_found_by_an_embedding(journey: Journey) -> None:
    journey.make("text-models#two-text-models", "models.py")
    with (journey.folder / "models.py").open("a") as models:
        models.write("\n\nclass Kept(Alphabet):\n    fingerprint = 'kept'\n")
    (journey.folder / "test_examples.py").write_text(EMBEDDED)
    told = "pytest test_examples.py --recsys-model=models.py:Kept --recsys-users=20"
    names = ["demonstrations(2)", "demonstrations(2, embed='by_length')"]

    stopped = journey.run(f"{told} --recsys-max-calls=30 --recsys-json=stopped.json")
    assert "--recsys-max-calls=30 is reached" in stopped.stdout
    journey.run(f"{told} --recsys-json=one.json")
    one = journey.record("one.json")
    assert sorted(row["relation"] for row in one["results"]) == names
    assert (one["calls"]["cached"], one["calls"]["made"]) == (30, 30), (
        "it goes on where it stopped"
    )
    journey.run(f"{told} -n 2 --recsys-json=two.json")
    assert journey.record("two.json")["results"] == one["results"]
    gated = journey.run(f"{told} --recsys-baseline=one.json --recsys-json=again.json")
    assert "gate: passed" in gated.stdout, gated.stdout


AUTHORED = """\
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
AS_THE_PAPER = (
    "-o 'recsys_question_setting=antecedent=2\nhaving=logline' --recsys-users=60"
)
QUESTIONS = "--setting antecedent=2 --setting having=logline --count 60"
KINDS = (
    "rules",
    "similar_items",
    "similar_users",
    "cast",
    "director",
    "genre",
    "logline",
)


def line_of(page: str, model: str) -> list[str]:
    """The cells of a model in a table in Markdown."""
    (line,) = (
        each for each in page.splitlines() if each.startswith(f"| models.py:{model} |")
    )
    return [cell.strip() for cell in line.split("|")[2:-1]]


@pytest.mark.slow
def test_an_author_makes_the_tables_of_lrworld(journey: Journey) -> None:
    journey.enter(["pytest-xdist"])
    (journey.folder / "models.py").write_text(AUTHORED)

    wrong = journey.run(f"{TOLD} -o recsys_question_setting=having=poster")
    assert says(wrong.stdout, "having='poster': no item of mini has all; some have")
    stopped = journey.run(f"{TOLD} {AS_THE_PAPER} --recsys-max-calls=100")
    assert "--recsys-max-calls=100 is reached" in stopped.stdout
    journey.run(f"{TOLD} {AS_THE_PAPER} --recsys-json=one.json")
    one = journey.record("one.json")
    made = 2 * len(KINDS) * 60
    assert (one["calls"]["cached"], one["calls"]["made"]) == (100, made - 100), (
        "it goes on"
    )

    journey.run(
        f"{TOLD} {AS_THE_PAPER} -n 2 --recsys-mode=replay --recsys-json=two.json",
    )
    assert journey.record("two.json")["results"] == one["results"]
    journey.run(f"recsys-mt questions questions.jsonl {QUESTIONS}")
    journey.run(f"{TOLD} --recsys-questions=questions.jsonl --recsys-json=file.json")
    assert journey.record("file.json")["calls"]["made"] == 0, "the same questions"

    gated = f"{TOLD} --recsys-mode=replay --recsys-baseline=one.json"
    again = journey.run(f"{gated} {AS_THE_PAPER}").stdout
    assert says(
        again,
        "models.py:Alphabet against models.py:Alphabet of one.json: 7 unchanged",
    )
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


FAMOUS = """\
from pytest_recsys_mt import Completion

FILMS = ("Toy Story (1995)", "Forrest Gump (1994)", "Pulp Fiction (1994)", "Matrix, The (1999)", "Fargo (1996)")


class Famous:
    deterministic = True
    fingerprint = "five famous films, 1"

    def complete(self, prompts):
        return [Completion(self.say(prompt.messages[-1].content)) for prompt in prompts]

    def say(self, told):
        return "\\n".join(f"{place}. {film}" for place, film in enumerate(FILMS, 1))


class Shy(Famous):
    fingerprint = "recommends nothing, 1"

    def say(self, told):
        return "I cannot say."
"""
OWN = """\
import math
from statistics import median

from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import check_popularity_metric, same_score
from pytest_recsys_mt.relations import shuffle_candidates


def log_of_medians(recommended, profile):
    return math.log(median(recommended) / median(profile))


def test_a_metric_of_our_own():
    check_popularity_metric(log_of_medians, desiderata=["zero centred"])


def test_a_constant():
    check_popularity_metric(lambda recommended, profile: 0.5)


@metamorphic(shuffle_candidates)
def test_variety_is_kept(source, followup):
    assert same_score(source, followup, "intra_list_diversity:cast@5", margin=0.3)


@metamorphic(shuffle_candidates)
def test_a_slip(source, followup):
    assert same_score(source, followup, "intra_list_diversity:actors@5", margin=0.3)
"""
FOLDS = (
    "pytest --pyargs pytest_recsys_mt.suites.popularity.test_paper -k table_2 --recsys-users=10 "
    "--recsys-model=models.py:Famous --recsys-model=models.py:Shy"
)


@pytest.mark.slow
def test_an_author_asks_few_users_about_popularity(journey: Journey) -> None:
    journey.enter(["pytest-xdist"])
    (journey.folder / "models.py").write_text(FAMOUS)
    (journey.folder / "test_own.py").write_text(OWN)

    own = journey.run(
        "pytest test_own.py --recsys-model=mostpop --recsys-users=30",
    ).stdout
    assert says(own, "2 failed, 2 passed")
    assert says(own, "<lambda> is 0.5 for")
    assert says(
        own,
        "attribute must be 'cast', 'directors', 'genres' or 'logline', got 'actors'",
    )

    stopped = journey.run(f"{FOLDS} --recsys-max-calls=30")
    assert "--recsys-max-calls=30 is reached" in stopped.stdout
    journey.run(f"{FOLDS} --recsys-json=one.json")
    one = journey.record("one.json")
    made = 2 * 5 * 10  # models, folds, users: one call each
    assert (one["calls"]["cached"], one["calls"]["made"]) == (30, made - 30), (
        "it goes on"
    )
    journey.run(f"{FOLDS} -n 2 --recsys-mode=replay --recsys-json=two.json")
    assert journey.record("two.json")["results"] == one["results"]
    gated = journey.run(
        f"{FOLDS} --recsys-mode=replay --recsys-baseline=one.json",
    ).stdout
    assert says(gated, "models.py:Famous against models.py:Famous of one.json:")

    table = journey.run("recsys-mt paper popularity two.json --table 2").stdout
    assert "* Users: 10." in table
    assert {*line_of(table, "Shy")} == {"–"}
    assert "–" not in line_of(table, "Famous")


QUIET = (
    "pytest --pyargs pytest_recsys_mt.suites.multidimensional.test_paper -k table_3 --recsys-users=40"
    " --recsys-model=openai:small"
)


@pytest.mark.slow
def test_an_author_asks_an_endpoint_that_sometimes_answers_nothing(
    journey: Journey,
    endpoint: Endpoint,
) -> None:
    """Empty answers and refusals are misses of the table, in
    the run, after a stop, and in a replay.
    """
    journey.enter(["pytest-xdist"])
    journey.environment["OPENAI_API_KEY"] = KEY
    endpoint.silent = 24
    journey.run(f"{QUIET} --recsys-max-calls=25")
    journey.run(f"{QUIET} --recsys-json=one.json")
    one = journey.record("one.json")
    assert (one["calls"]["failed"], one["calls"]["failed_at_first"] > 0) == (0, True)
    asked = endpoint.asked
    journey.run(f"{QUIET} -n 2 --recsys-mode=replay --recsys-json=two.json")
    assert journey.record("two.json")["results"] == one["results"]
    gated = journey.run(
        f"{QUIET} --recsys-mode=replay --recsys-baseline=one.json",
    ).stdout
    assert says(gated, "openai:small against openai:small of one.json:")
    assert endpoint.asked == asked

    (row,) = rows_of(one, model="openai:small")
    unread = row["details"]["unreadable"]
    assert {each["text"] for each in unread["texts"]} == {""}
    table = journey.run("recsys-mt paper multidimensional two.json --table 3").stdout
    assert says(table, "Users: 40.")
    assert says(
        table,
        f"that could not be read: {unread['answers']}; it recommends nothing",
    )
    assert (
        f"| openai:small | {row['details']['means']['hit@5']:.3f} | {row['value']:.4f} |"
        in table
    )

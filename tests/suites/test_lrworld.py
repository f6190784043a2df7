"""The LRWorld suite on made-up worlds in the official formats, and on the embedded set."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt import Completion, Prompt, Verdict
from pytest_recsys_mt.datasets import Dataset, load
from pytest_recsys_mt.oracles import (
    accuracy_gap,
    accuracy_kept,
    better_than_chance,
    constant_answer,
    same_choices,
)
from pytest_recsys_mt.suites.lrworld import (
    LASTFM,
    MEASURES,
    Measure,
    Question,
    ask,
    noisy,
    questions_for,
    rare,
    shuffled,
)
from pytest_recsys_mt.verdict.answers import Context
from tests.extras import need
from tests.lrworld.made_up import (
    COLOURS,
    ITEMS,
    ROOTS,
    WORLDS,
    amazon,
    facts,
    interactions,
)
from tests.plugin.conftest import record_of
from tests.support.report import NONE, read_answers
from tests.support.report_paper_tables import filled, tables_of
from tests.support.suites_lrworld import Replies, describe, labels, prompt

need("torch")

COUNT = 40
CONTEXT = Context()
ALL = pytest.mark.parametrize(
    "measure",
    [*MEASURES, *LASTFM],
    ids=lambda m: f"{m.dataset}-{m.name}",
)


class Scripted:
    """Answers by a function of the prompt's text and its choices."""

    scores_choices = False
    reads_images = True

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def complete(self, *prompts: Prompt, replicate: int = 0) -> list[Completion]:
        return [
            Completion(self._answer(each.messages[0].content, each.choices))
            for each in prompts
        ]


def knowing(questions: Sequence[Question]) -> Scripted:
    """Answers as is right, by the mark, or the name where names are asked for."""
    right = {
        prompt(question).messages[0].content: (*labels(question), *question.options)[
            question.answer
        ]
        for question in questions
    }
    return Scripted(lambda text, choices: right[text])


def alphabetical(text: str, choices: Sequence[str]) -> str:
    """The first option of the alphabet, wherever it stands and whatever else is shown."""
    listed = (
        text.rpartition("Exactly one of these is right.\n")[2]
        .split("\n\n")[0]
        .splitlines()
    )
    mark, _ = min(
        (line.split(") ", 1) for line in listed),
        key=lambda option: option[1],
    )
    return f"Let me see.\nAnswer: {mark}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("worlds")
    return cache(lambda name: load(WORLDS[name](folder / name)))


def asked(world: Any, dataset: str, name: str) -> tuple[Dataset, tuple[Question, ...]]:
    measure = next(m for m in MEASURES if (m.dataset, m.name) == (dataset, name))
    return world(dataset), questions_for(measure, world(dataset), COUNT, 0)


@ALL
def test_who_knows_scores_one_and_who_is_constant_exactly_the_share(
    world: Any,
    measure: Measure,
) -> None:
    questions = questions_for(measure, world(measure.dataset), 24, 0)
    assert len(questions) >= 20
    right = ask(knowing(questions), questions).choices
    assert (right.accuracy, right.missed) == (1.0, 0.0)
    assert better_than_chance(right, CONTEXT).status == "holds"
    assert constant_answer(right, CONTEXT).status == "holds"
    for place in (0, measure.options - 1):
        always = Scripted(lambda text, choices, place=place: choices[place])
        found = ask(always, questions).choices
        share = sum(question.answer == place for question in questions) / len(questions)
        assert found.accuracy == share
        verdict = constant_answer(found, CONTEXT)
        assert verdict.status == "violated"
        assert f"constant answer: always option {place + 1}," in verdict.reason
        assert verdict.details["figures"]["its_share_of_right_answers"] == share


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ("amazon", "brand"),
        ("amazon", "similar_users"),
        ("netflix", "logline"),
        ("movielens", "cast"),
    ],
)
def test_what_ignores_history_and_order_passes_the_ablations(
    world: Any,
    dataset: str,
    name: str,
) -> None:
    _, questions = asked(world, dataset, name)
    model = Scripted(alphabetical)
    source = ask(model, questions)
    strange = noisy(questions, 0)
    assert all(
        one.shown != other.shown for one, other in zip(questions, strange, strict=True)
    )
    assert [each.options for each in strange] == [each.options for each in questions]
    changes: list[Replies] = [
        ask(model, strange, label="noisy_profile"),
        *(ask(model, questions, shots=shots) for shots in range(1, 6)),
        ask(model, questions, think=True),
    ]
    for change in changes:
        verdict = accuracy_kept(source.choices, change.choices, CONTEXT, 0.1)
        assert (verdict.status, verdict.estimate) == ("holds", 0.0)
        assert verdict.details["figures"]["answered_otherwise"] == 0
    assert orders(model, questions, source).status == "holds"


def orders(model: Scripted, questions: Sequence[Question], source: Replies) -> Verdict:
    others = [ask(model, shuffled(questions, 0, number)).choices for number in range(5)]
    return same_choices(source.choices, others, CONTEXT, 0.5)


def test_an_order_keeps_the_right_option_and_decides_for_a_constant_model(
    world: Any,
) -> None:
    _, questions = asked(world, "netflix", "cast")
    for number in range(5):
        other = shuffled(questions, 0, number)
        assert [each.right for each in other] == [each.right for each in questions]
        assert shuffled(questions, 0, number) == other
    assert shuffled(questions, 0, 0) != shuffled(questions, 0, 1)
    first = Scripted(lambda text, choices: choices[0])
    verdict = orders(first, questions, ask(first, questions))
    assert verdict.status == "violated"
    assert verdict.details["figures"]["variance_percent"] > 0
    assert verdict.details["figures"]["questions_changed"] == round(
        (verdict.value or 0) * COUNT,
    )
    assert verdict.examples, "who changed"


def test_a_model_that_needs_the_history_loses_by_noise(world: Any) -> None:
    _, questions = asked(world, "amazon", "leaf")
    model = knowing(questions)
    source = ask(model, questions)
    known = {prompt(question).messages[0].content for question in questions}
    lost = Scripted(lambda text, choices: "A" if text in known else "none of these")
    followup = ask(lost, noisy(questions, 0), label="noisy_profile")
    verdict = accuracy_kept(source.choices, followup.choices, CONTEXT, 0.15)
    assert verdict.status == "inconclusive"
    assert 'such as "none of these"; ask for the mark alone' in verdict.reason
    assert verdict.details["unreadable"]["of"] == len(questions)
    changed = noisy(questions, 0)
    wrong = {prompt(q).messages[0].content: labels(q)[q.answer - 1] for q in changed}
    followup = ask(
        Scripted(lambda text, choices: wrong[text]),
        changed,
        label="noisy_profile",
    )
    verdict = accuracy_kept(source.choices, followup.choices, CONTEXT, 0.15)
    assert verdict.status == "violated"
    assert verdict.details["figures"]["relative_change"] == -1.0


def test_popularity_groups_part_right_and_wrong_answers(world: Any) -> None:
    data, questions = asked(world, "movielens", "genre")
    names = rare(questions, data)
    assert 0 < len(names) < len(questions)
    marks = {prompt(q).messages[0].content: labels(q)[q.answer] for q in questions}
    wrong = {
        prompt(q).messages[0].content: labels(q)[q.answer - 1]
        for q in questions
        if q.id in names
    }
    for said, limit, status in (
        (wrong, 0.1, "violated"),
        (dict.fromkeys(wrong, ""), 1.0, "inconclusive"),
    ):
        model = Scripted(lambda text, choices, said=said: {**marks, **said}[text])
        verdict = accuracy_gap(
            ask(model, questions).choices,
            names,
            Context(missed_limit=limit),
            0.3,
        )
        assert (verdict.status, verdict.estimate) == (status, 1.0)
    assert verdict.details["figures"]["rare_share_of_wrong"] == 1.0


def test_the_latest_image_is_shown_beside_its_description(world: Any) -> None:
    _, questions = asked(world, "netflix", "image")
    assert all(question.images for question in questions)
    shown = [prompt(question, image=True).messages[0] for question in questions]
    assert all(len(message.images) == 1 for message in shown)
    assert all(
        message.images[0].startswith("data:image/png;base64,") for message in shown
    )
    assert "A square of the shade" in shown[0].content


def test_a_multimodal_model_describes_the_images(world: Any, tmp_path: Path) -> None:
    class Sees:
        reads_images = True

        def complete(self, prompts: Sequence[Prompt]) -> list[Completion]:
            return [
                Completion(None, error="away")
                if number == 1
                else Completion(f"{len(p.messages)}\nx")
                for number, p in enumerate(prompts)
            ]

    data = world("amazon")
    path = tmp_path / "image_descriptions.jsonl"
    assert describe(Sees(), data, path, domain="product") == len(data.items) - 1
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert records[0] == {"item": "B0001", "description": "1 x"}


def test_the_set_of_2014_serves_the_same_measures(tmp_path: Path) -> None:
    data = load(amazon(tmp_path / "older", year=2014))
    for measure in MEASURES:
        if measure.dataset == "amazon" and measure.name in (
            "brand",
            "colour",
            "leaf",
            "root",
        ):
            questions = questions_for(measure, data, COUNT, 0)
            assert ask(knowing(questions), questions).choices.accuracy == 1.0


def test_a_table_of_ones_own_serves_every_measure_it_has_columns_for(
    tmp_path: Path,
) -> None:
    def write(name: str, rows: list[list[Any]]) -> None:
        with (tmp_path / name).open("w", newline="") as stream:
            csv.writer(stream).writerows(rows)

    write("shop.csv", [["user", "item", "rating", "time"], *map(list, interactions())])
    header = [
        "id",
        "title",
        "Color",
        "brand",
        "category",
        "Genre",
        "director",
        "cast",
        "logline",
    ]
    catalogue: list[list[Any]] = [[*header, "image", "image_description"]]
    for item in range(1, ITEMS + 1):
        about = facts(item)
        catalogue.append(
            [
                *(item, about["title"], COLOURS[item % 6], f"Brand {item % 7}"),
                *(
                    f"{ROOTS[item % 5]}|Middle {item % 7}|Leaf {item % 11}",
                    about["genre"],
                ),
                *(
                    about["director"],
                    about["cast"].replace(", ", "|"),
                    about["logline"],
                ),
                *("1.png", f"Shade {item}."),
            ],
        )
    write("shop.items.csv", catalogue)
    data = load(tmp_path / "shop.csv")
    assert data.items["1"].attributes["image"] == str(tmp_path / "1.png")
    for measure in MEASURES:
        questions = questions_for(measure, data, 20, 0)
        assert ask(knowing(questions), questions).choices.accuracy == 1.0


@pytest.mark.parametrize("model", ["Knowing", "Polyglot"])
def test_a_run_on_the_embedded_set(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setenv("LRWORLD_DATA", "mini")
    monkeypatch.setenv("LRWORLD_COUNT", str(COUNT))
    pytester.runpytest_inprocess(
        *("--pyargs", "pytest_recsys_mt.suites.lrworld", "-k", "better_than"),
        f"--recsys-model=tests.lrworld.scripted:{model}",
        f"--recsys-users={COUNT}",
        "--recsys-json=record.json",
    ).assert_outcomes(passed=18, skipped=48, deselected=79)
    document = record_of(pytester.path / "record.json")
    rows, (dimensions,) = document["results"], document["dimensions"].values()
    assert len(dimensions) == 9
    _, answers = read_answers(pytester.path / "record.json")
    assert all(each["chosen"] == each["right"] for each in answers)
    assert len(answers) == sum(
        row["users"] for row in rows if row["oracle"] == "better_than_chance"
    )
    assert all("answers" not in row["details"] for row in rows)
    found = [row for row in rows if row["oracle"] == "better_than_chance"]
    assert {(row["value"], row["status"]) for row in found} == {(1.0, "holds")}
    for row in found:
        assert row["details"]["published"]["rows"][0][0].endswith("(this run)")
        assert row["details"]["figures"]["answered_by"] == "generation"
        ways = row["details"]["baselines"]
        assert set(ways) == {
            "guessing",
            "popularity",
            "itemknn",
            "shortest",
            "alphabetical",
            "words",
        }
        assert ways["guessing"] == pytest.approx(row["details"]["figures"]["chance"])
    ahead = [row for row in rows if row["oracle"] == "better_than_baseline"]
    assert {row["status"] for row in ahead} == {"holds"}
    assert len(ahead) == 9
    assert all(row["details"]["figures"]["accuracy"] == 1.0 for row in ahead)
    table = filled(
        next(each for each in tables_of("lrworld") if each.name == "table-3"),
        rows,
    )
    assert table is not None
    assert table.lines == {
        f"tests.lrworld.scripted:{model}": ["1.0000"] * 9 + [NONE],
    }  # no images
    assert table.table.printed["GPT-4o-mini"][:2] == ["0.5975", "0.2614"]
    declared = {each.name: each for each in tables_of("lrworld")}["table-12-13-14"]
    places = [
        cells[5] for cells in filled(declared, rows).lines.values()
    ]  # of cast: four options
    assert sum(map(float, places)) == pytest.approx(100, abs=0.02)
    assert places[4:] == ["0.00"] * 6
    assert "0.00" not in places[:4]
    reasons = " ".join(row["reason"] for row in rows)
    for row in rows:
        (row["details"].get("figures") or {})["right_answers_by_place"] = "0 0 0 0"
    assert not filled(declared, rows).values  # nobody answered: no shares
    assert "no item has the attribute 'image" in reasons
    assert (
        "needs data in the format of netflix, and mini is in that of movielens"
        in reasons
    )


def test_a_recommender_that_reads_no_text_skips_them_all(
    pytester: pytest.Pytester,
) -> None:
    done = pytester.runpytest_inprocess(
        "--pyargs",
        "pytest_recsys_mt.suites.lrworld",
        "--recsys-json=record.json",
    )
    assert set(done.parseoutcomes()) == {"skipped"}
    rows = record_of(pytester.path / "record.json")["results"]
    assert all("itemknn reads no text" in row["reason"] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "workers",
    [(), ("-n", "2")],
    ids=["one process", "two workers"],
)
def test_a_model_is_gated_and_compared_question_by_question(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    workers: tuple[str, ...],
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    monkeypatch.setenv("LRWORLD_DATA", "mini")
    monkeypatch.setenv("LRWORLD_COUNT", str(COUNT))

    def run(model: str, name: str, *options: str) -> dict[str, Any]:
        pytester.runpytest_subprocess(
            *("--pyargs", "pytest_recsys_mt.suites.lrworld"),
            *(
                "-k",
                "better_than and movielens and (cast or director)",
                f"--recsys-users={COUNT}",
            ),
            f"--recsys-model=tests.lrworld.scripted:{model}",
            f"--recsys-json={name}.json",
            *options,
        )
        return record_of(pytester.path / f"{name}.json")

    run("Knowing", "before")
    same = run("Knowing", "same", "--recsys-baseline=before.json", *workers)
    assert same["gate"]["status"] == "passed"
    (found,) = same["gate"]["comparisons"]
    why = "constant answers, and those against the popular option, have no values"
    assert found["counts"] == {"ungated": 4, "unchanged": 2}, why
    worse = run("Forgetful", "worse", "--recsys-baseline=before.json", *workers)
    assert worse["gate"]["status"] == "failed"
    assert worse["gate"]["comparisons"][0]["counts"]["regressed"] == 2
    told = pytester.run(
        Path(sys.executable).with_name("recsys-mt"),
        "answers",
        "before.json",
        "worse.json",
    )
    assert told.ret == 0
    told.stdout.fnmatch_lines(["cast  * 40 * 1.000 *", "director  * 40 * 1.000 *"])
    board = pytester.run(
        Path(sys.executable).with_name("recsys-mt"),
        "leaderboard",
        "before.json",
        "worse.json",
    )
    board.stdout.fnmatch_lines(
        ["| tests.lrworld.scripted:Knowing (a) | [*][*]1.000[*][*]<sup>b</sup> *"],
    )

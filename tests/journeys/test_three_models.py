"""Three models in one run, each held against the first that was given."""

import pytest

from tests.journeys.pages import Journey, rows_of
from tests.journeys.test_two_text_models import once

MODELS = ["userknn", "mostpop", "bm25"]


COMPARED = ("models", "results", "gate", "digests", "dimensions")


@pytest.mark.slow
def test_three_models(journey: Journey) -> None:
    journey.follow("three-models")
    record = journey.record("models.json")
    assert record["models"] == MODELS
    pairs = [(each["model"], each["against"]) for each in record["gate"]["comparisons"]]
    assert pairs == [("mostpop", "userknn"), ("bm25", "userknn")]

    tests = {
        model: {
            row["nodeid"].replace(model, "") for row in rows_of(record, model=model)
        }
        for model in MODELS
    }
    assert tests["mostpop"] == tests["bm25"] == tests["userknn"]
    broken = rows_of(record, relation="swap_history", status="violated")
    assert {row["model"] for row in broken} == {"mostpop"}
    assert not any("answers changed" in reason for reason in record["gate"]["reasons"])
    page = (journey.folder / "models.html").read_text(encoding="utf-8")
    assert all(model in page for model in MODELS)
    paper = (journey.folder / "paper.html").read_text(encoding="utf-8")
    assert all(each in paper for each in (*MODELS, "<svg", "WOK-gpt-4"))


@pytest.mark.slow
def test_one_process_writes_what_two_workers_write(journey: Journey) -> None:
    journey.enter(["pytest-xdist"])
    given = " ".join(f"--recsys-model={model}" for model in MODELS)
    for name, workers in (("one", ""), ("two", "-n 2")):
        journey.run(
            # A search that may take five seconds, as by default, ends where the machine
            # is by then.
            f"pytest --pyargs pytest_recsys_mt.suites {workers} {given} --recsys-json={name}.json "
            f"--recsys-shrink=200 --recsys-keep=no",
        )
    one, two = journey.record("one.json"), journey.record("two.json")
    for part in COMPARED:
        assert two[part] == one[part], part
    # Which answers are asked again at the end depends on when the others came.
    assert once(two) == once(one)


@pytest.mark.slow
def test_a_table_of_five_fits_is_what_two_workers_make(journey: Journey) -> None:
    journey.enter(["pytest-xdist"])
    tables = []
    for name, workers in (("one", ""), ("two", "-n 2")):
        journey.run(
            f"pytest --pyargs pytest_recsys_mt.suites.multidimensional.test_paper -k table_3 {workers} "
            f"--recsys-model=random --recsys-model=mostpop --recsys-json={name}.json",
        )
        done = journey.run(f"recsys-mt paper multidimensional {name}.json --table 3")
        tables.append(done.stdout.replace(f"{name}.json", ""))
    assert tables[0] == tables[1]
    assert (
        "A recommender that is fitted: means of five fits with other seeds."
        in tables[0]
    )
    assert all(f"| {model} |" in tables[0] for model in ("random", "mostpop"))

"""Three models in one run, each held against the first that was given."""

from tests.journeys.pages import Journey, rows_of

MODELS = ["userknn", "mostpop", "bm25"]


def test_three_models(journey: Journey) -> None:
    journey.follow("three-models")
    record, workers = journey.record("models.json"), journey.record("workers.json")
    assert record["models"] == MODELS
    pairs = [(each["model"], each["against"]) for each in record["gate"]["comparisons"]]
    assert pairs == [("mostpop", "userknn"), ("bm25", "userknn")]
    for part in ("models", "results", "calls", "gate", "digests", "dimensions"):
        assert workers[part] == record[part], part

    tests = {
        model: sorted(row["nodeid"].replace(model, "") for row in rows_of(record, model=model))
        for model in MODELS
    }
    assert tests["mostpop"] == tests["bm25"] == tests["userknn"]
    broken = {(row["model"], row["relation"]) for row in rows_of(record, status="violated")}
    assert ("mostpop", "swap_history") in broken
    assert {model for model, _ in broken} == {"mostpop"}
    page = (journey.folder / "models.html").read_text(encoding="utf-8")
    assert all(model in page for model in MODELS)

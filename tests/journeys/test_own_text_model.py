"""A text model of one's own: from `complete(prompts)` to a verdict, and what a fingerprint keeps."""

from tests.journeys.pages import Journey


def test_own_text_model(journey: Journey) -> None:
    journey.follow("own-text-model")
    first, again, changed = (
        journey.record(f"{name}.json") for name in ("first", "again", "changed")
    )
    assert [record["results"][0]["status"] for record in (first, again, changed)] == [
        "holds", "holds", "violated",
    ]  # fmt: skip
    assert (again["calls"]["made"], again["calls"]["cached"]) == (0, first["calls"]["made"])
    assert changed["calls"]["cached"] == 0

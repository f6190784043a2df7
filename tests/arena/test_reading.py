"""An answer holds exactly one verdict an aspect, or none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_recsys_mt.suites.arena import ASPECTS, OVERALL, Aspect
from tests.support.suites_arena import read_appraisal, read_judgement

TASTE = (Aspect("taste", "It is to my taste."),)
NAMES = [*(aspect.name for aspect in ASPECTS), OVERALL]


@pytest.mark.parametrize(
    ("line", "winner"),
    [
        ("overall: A", "A"),
        ("Overall: B.", "B"),
        ("**Overall:** A wins", "A"),
        ("- **Overall**: 'tie'", "tie"),
        ("7. OVERALL: List B is better, since it has more drama.", "B"),
        ("overall: Recommender System A wins", "A"),
        ("overall: It is a tie", "tie"),
        ("overall: a tie", "tie"),
        ("overall: Tied.", "tie"),
        ("| overall: B |", None),
        ("> overall: B", "B"),
        ("overall: A wins; in accuracy, though, B wins", None),
        ("overall: A or B", None),
        ("overall: A/B", None),
        ("overall: A tie? no", None),
        ("overall: a comedy is what I like", None),
        ("overall: neither A nor B", None),
        ("Overall, I think that A wins", None),
        ("The winner overall is A", None),
        ("overall:", None),
        ("overall: Alien", None),
        ("overall: C", None),
        ("overall: A\noverall: A wins", "A"),
        ("overall: A\noverall: B", None),
        ("overall: A\noverall: hard to say", None),
    ],
)
def test_a_line_says_one_thing_or_nothing(line: str, winner: str | None) -> None:
    assert read_judgement(line, ()).overall == winner


def test_a_verdict_inside_the_reasons_is_none() -> None:
    text = """
    Taste. One might say that A wins, for it has Heat. But B wins on the whole.
    taste: B - it is shorter
    overall: tie
    """
    judgement = read_judgement(text, TASTE)
    assert (judgement.winner("taste"), judgement.overall) == ("B", "tie")
    assert judgement.reasons == {"taste": "it is shorter"}


@pytest.mark.parametrize("around", ["{}", "Here you are:\n```json\n{}\n```\nDone."])
def test_a_json_object_is_read(around: str) -> None:
    said = {"Taste": {"reason": "It has Heat {1995}.", "winner": "A"}, "overall": "tie"}
    judgement = read_judgement(around.format(json.dumps(said)), TASTE)
    assert (judgement.winner("taste"), judgement.overall) == ("A", "tie")
    assert judgement.reasons == {"taste": "It has Heat {1995}."}


@pytest.mark.parametrize(
    "text",
    [
        '{"overall": "A", "overall": "B"}',
        '{"overall": {"winner": "A", "winner": "B"}}',
        '{"overall": ["A"]}',
        '{"overall": {"winner": {"winner": "A"}}}',
        '{"overall": "C"}',
        '{"overall": 1}',
        '{"overall": null}',
        '{"winner": "A"}',
        '{"overall": {"winner": "A"',
        "[" * 5000,
        "",
    ],
)
def test_json_that_says_no_one_thing_says_nothing(text: str) -> None:
    assert read_judgement(text, ()).overall is None


@given(
    st.lists(st.sampled_from(["A", "B", "tie"]), min_size=7, max_size=7),
    st.booleans(),
)
def test_what_is_asked_for_is_read_back(winners: list[str], as_json: bool) -> None:
    said = dict(zip(NAMES, winners, strict=True))
    objects = {
        name: {"reason": "So.", "winner": winner} for name, winner in said.items()
    }
    lines = "\n".join(f"{name}: {winner}" for name, winner in said.items())
    judgement = read_judgement(json.dumps(objects) if as_json else lines, ASPECTS)
    assert {name: judgement.winner(name) for name in NAMES} == said


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert read_judgement(text, ASPECTS).overall in ("A", "B", "tie", None)
    score = read_appraisal(f"overall: {text}", ASPECTS).overall
    assert score is None or 0 <= score <= 1


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("overall: 0.7", 0.7),
        ("overall: 1", 1.0),
        ("**overall**: .5 (fine)", 0.5),
        ("overall: 0.8/1", 0.8),
        ('{"overall": 0.25}', 0.25),
        ('{"overall": {"score": 0.25, "reason": "Dull."}}', 0.25),
        ('{"overall": "0.3"}', 0.3),
        ("overall: 7", None),
        ("overall: 8/10", None),
        ("overall: 0.8.1", None),
        ("overall: 70%", None),
        ("overall: 1%", None),
        ("overall: -0.5", None),
        ('{"overall": true}', None),
        ('{"overall": 1e999}', None),
        ("overall: 0.2\noverall: 0.3", None),
    ],
)
def test_a_score_lies_between_0_and_1(text: str, score: float | None) -> None:
    assert read_appraisal(text, ()).overall == score


@pytest.mark.parametrize("number", ["9" * 400, "-1", "1e999", "NaN", "true"])
def test_no_number_beyond_the_scale_is_a_score(number: str) -> None:
    assert read_appraisal(f'{{"overall": {number}}}', ()).overall is None


@pytest.mark.timeout(5)
def test_a_verdict_of_many_fields_is_read_in_time() -> None:
    fields = json.dumps({str(at): at for at in range(8_000)})
    assert read_judgement(f'{{"overall": {fields}}}', ()).overall is None

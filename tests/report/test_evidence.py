"""What a failed test shows of a row: the change first,
then both answers, on one screen.
"""

from typing import Any

import pytest

from tests.report.records import FILMS, example, row
from tests.support.report import evidence

HISTORY = [
    {"item": f"h{n}", "title": film, "rating": n % 5 + 1.0, "timestamp": None}
    for n, film in enumerate(FILMS)
]


def asked(**changed: Any) -> dict[str, Any]:
    return {
        "user": "u1", "history": HISTORY, "scale": [1.0, 5.0], "seen": [], "k": 10,
        "candidates": [{"item": f"c{n}", "title": film} for n, film in enumerate(FILMS)],
        "instruction": "", "edits": [], "attributes": {}, "answer": FILMS[:10], "kinds": [], **changed,
    }  # fmt: skip


def doubled(history: list[dict[str, Any]]) -> dict[str, Any]:
    twice = [{**rating, "rating": 2 * rating["rating"]} for rating in history]
    return asked(history=twice, scale=[2.0, 10.0])


def said(text: str, answer: str) -> dict[str, Any]:
    return asked(prompt=[{"role": "user", "content": text}], text=answer, entries=[])


def pair(
    source: dict[str, Any],
    followup: dict[str, Any],
    user: str = "u1",
) -> dict[str, Any]:
    return example(user, asked={"source": source, "followup": followup})


SMALLEST = {
    "user": "u1",
    "effect": 0.1,
    "score": 0.9,
    "calls": 44,
    "minimal": True,
    "ended": "nothing more can be left out",
    "whole": {"history": 16, "candidates": 16},
    "source": asked(
        history=HISTORY[:1],
        candidates=asked()["candidates"][:2],
        k=2,
        answer=FILMS[:2],
    ),
    "followup": {
        **doubled(HISTORY[:1]),
        "candidates": asked()["candidates"][:2],
        "k": 2,
        "answer": FILMS[1::-1],
    },
}


def test_the_smallest_example_comes_first_with_its_whole_request() -> None:
    users = [pair(asked(), doubled(HISTORY), user) for user in ("u1", "u2", "u3")]
    lines = evidence(row(examples=users, shrunk=SMALLEST))
    assert lines[:12] == [
        "",
        "smallest example: user u1, 1 of 16 history items, 2 of 16 candidates",
        "(nothing more can be left out; 44 calls; effect 0.1000)",
        "  history     - Film A (1960): 1",
        "              + Film A (1960): 2",
        "  scale       - 1 to 5",
        "              + 2 to 10",
        "  candidates    Film A (1960)",
        "                Film B (1961)",
        "  k             2",
        "    source                             follow-up",
        "  1 Film A (1960)                      Film B (1961)                     was 2",
    ]
    assert "user u1, agreement 0.81" not in lines, "its smallest request is shown"
    assert "user u2, agreement 0.81" not in lines, "one example is enough"
    assert (
        "(2 more users, and every request in full: --recsys-html=report.html)" in lines
    )


def test_a_user_is_shown_with_the_change_before_the_lists() -> None:
    lines = evidence(
        row(examples=[pair(asked(), doubled(HISTORY))]),
        where="out/r.html",
    )
    assert lines[1:12] == [
        "user u1, agreement 0.81",
        "  history     - Film A (1960): 1",
        "              + Film A (1960): 2",
        "              - Film B (1961): 2",
        "              + Film B (1961): 4",
        "              - Film C (1962): 3",
        "              + Film C (1962): 6",
        "              … 13 more changes",
        "  scale       - 1 to 5",
        "              + 2 to 10",
        "    source                             follow-up",
    ]
    assert lines[-1] == "(every request in full: out/r.html)"


def test_a_request_that_does_not_change_is_said_to_be_the_same() -> None:
    lines = evidence(row(examples=[pair(asked(), asked())]))
    assert lines[2] == "  the same request on both sides"


def test_a_text_model_is_shown_with_what_it_read_and_wrote() -> None:
    answer = "\n".join(
        ["Here you are:", "", *(f"{n}. {film}" for n, film in enumerate(FILMS[:6]))],
    )
    before = said("Name ten films.\nBe brief.", answer)
    after = said("Na me ten films.\nBe brief.", "I cannot.")
    lines = evidence(
        row(examples=[pair(before, {**after, "edits": ["AddSpaces(0.1)"]})]),
    )
    assert lines[2:6] == [
        "  prompt      - Name ten films.",
        "              + Na·me ten films.",
        "                Be brief.",
        "                (· is a blank that differs)",
    ]
    assert "AddSpaces" not in "\n".join(lines), "the prompt says it"
    place = lines.index("  the model wrote (source):")
    assert lines[place : place + 7] == [
        "  the model wrote (source):",
        "    Here you are:",
        f"    0. {FILMS[0]}",
        f"    1. {FILMS[1]}",
        "    … 4 more lines",
        "  the model wrote (follow-up):",
        "    I cannot.",
    ]


@pytest.mark.parametrize("users", [1, 3, 5])
@pytest.mark.parametrize("shrunk", [None, SMALLEST])
@pytest.mark.parametrize("words", [3, 2000])
def test_a_failure_fits_one_screen_of_80_columns(
    users: int,
    shrunk: Any,
    words: int,
) -> None:
    text = "\n".join(f"{line} " + "word " * words for line in range(60))
    both = said(text, text), said(text.replace("o", "0"), text)
    found = evidence(
        row(
            examples=[pair(*both, f"u{n}") for n in range(9, 9 + users)],
            shrunk=shrunk,
        ),
    )
    assert max(map(len, found)) <= 80
    assert len(found) <= 60
    assert len(evidence(row(examples=[pair(asked(), doubled(HISTORY))] * users))) <= 43


def test_users_who_keep_the_promise_are_left_to_the_record() -> None:
    keeping = example("u7", keeps=True)
    assert "user u7" not in "\n".join(evidence(row(examples=[example(), keeping])))
    assert "user u7" in "\n".join(evidence(row(examples=[keeping]))), (
        "if there is nobody else"
    )


def test_rows_of_earlier_records_show_their_lists() -> None:
    lines = evidence(row())
    assert lines[1:3] == [
        "user u1, agreement 0.81",
        "    source                             follow-up",
    ]


def test_an_empty_answer_beside_another_is_said_to_be_empty() -> None:
    empty = [
        example("u1", source=["Heat (1995)"], followup=[], score=0.0),
        example("u2", source=[], followup=["Alien"], score=0.0),
    ]
    lines = evidence(row(examples=empty))
    assert lines[1:4] == [
        "user u1, agreement 0.00",
        "    source                             follow-up",
        "  1 Heat (1995)                        (nothing)",
    ]
    assert (
        lines[-1]
        == "  1 (nothing)                          Alien                             new"
    )


@pytest.mark.parametrize(
    ("oracle", "marked"),
    [
        ("at_most:history_repeats@5", True),
        ("only_candidates", True),
        ("no_repeats", False),
    ],
)
def test_what_the_user_has_already_is_marked_where_the_test_is_about_it(
    oracle: str,
    marked: bool,
) -> None:
    told = example(
        "u1",
        source=FILMS[:2],
        followup=[],
        source_kinds=["candidate", "history"],
    )
    lines = evidence(row(oracle=oracle, relation="", examples=[told]))
    shown = f"  2 {FILMS[1]}{' (already in the history)' * marked}"
    assert lines[-2:] == [f"  1 {FILMS[0]}", shown]


def test_of_two_sides_each_is_named_that_has_an_item_of_the_history() -> None:
    told = example("u1", source=FILMS[:2], followup=FILMS[:1], source_kinds=["history", "history"],
                   followup_kinds=["history"])  # fmt: skip
    lines = evidence(row(oracle="not_increased:already_seen", examples=[told]))
    assert [line for line in lines if "already" in line] == [
        "    (source and follow-up: already in the history)",
        "    (source: already in the history)",
    ]

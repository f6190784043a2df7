"""Answers in the forms that the reader knows, and what a model or an attacker may make
of them, each from one seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Self

from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.suites.arena import ASPECTS, OVERALL
from tests.llm.forms import AMBIGUOUS, FORMS, Case, K
from tests.llm.test_thinking_tags import TAGS
from tests.llm.world import collected

COLLECTED: list[str] = [case["text"] for case in collected()]

WRITTEN = [form for forms in (FORMS, AMBIGUOUS) for form in forms.values()]

NUMBERS = [
    "0", "-1", "3", "007", "2.5", "1,5", "1e999", "-1e999", "NaN", "Infinity", "inf", "1995", "²", "½", "١٢", "１", "1_000", "0x1f", "1" * 25,
    "9" * 310, "1" * 5000, f"0x{'f' * 4000}", f"-{'8' * 400}", "0." + "3" * 400, "1e-400", "10" * 160 + ".5", "1j",
]  # fmt: skip
"""Numbers beyond those of Python or of JSON, and what only looks like one."""

ODD = [
    "", " ", "\n", "\r", "\t", "\0", "\x1b[31m", "\ud800", "\udfff", "\u202e", "\u200b", "\ufeff", "\ue000", "\ue000final\n", "\U000e0041", "é", "e\u0301" * 9,
    "👨‍👩‍👧", "ﷺ", "İ", "ß", "ǅ", "\\u0000", "\\ud800", "&#0;", "&#xd800;", "&lt;", "\\", '"', "'", "`", "```", "|", "[", "]", "{", "}", "<", ">", ",", ";", ":",
    " > ", "->", "**", "__", "~~", "#", "$$", "\\boxed{", "</", "<answer>", "</answer>", "<!--", "title,rank\r\n", "null", "true", "None", "★★★", "🥇", "①",
    "a" * 3000, " " * 3000, "[" * 1500, "{" * 300, "[" + "-" * 3000 + "1]", "\n- " * 200, "Heat, " * 300, "(" * 300, "* " * 300,
]  # fmt: skip

KEYS = [
    "title", "Title", "movie", "name", "id", "movieId", "rank", "position", "score", "final_score", "rating", "year", "artist", "reason", "ranking",
    "recommendations", "scores", "candidates", "items", "final", "avoid", "arguments", "function", "tool_calls", "input", "recommended", "distance",
    "1", "2", "first", "", "٣", "²",
]  # fmt: skip

REFUSALS = [
    "I'm sorry, I can't recommend any of these.", "None of these suit.", "As an AI, I cannot help with that.", "Could you tell me more?",
    "Ich kann nichts empfehlen.", "无法推荐", "N/A", "[]", "{}", "null",
]  # fmt: skip


def answer(seed: int, request: Request) -> str:
    """An answer to a request, whole or broken."""
    rng = Random(seed)
    text = _text(rng, request)
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        text = rng.choice(CHANGES)(text, rng, request)
    return text


def case_of(rng: Random, request: Request) -> Case:
    """What a good answer names: some of the candidates, or
    of the history where none are offered.
    """
    offered = list(request.candidates or (rating.item for rating in request.history))
    while len(offered) < K:
        offered = [*offered, *offered]
    return Case(offered, rng.sample(range(len(offered)), K))


def _text(rng: Random, request: Request) -> str:
    match rng.randrange(9):
        case 0:
            return rng.choice(COLLECTED)
        case 1:
            return rng.choice(REFUSALS)
        case 2 | 3:
            return _as_data(rng, _data(rng, case_of(rng, request), depth=3))
        case 4:
            return _rows(rng, case_of(rng, request))
        case 5:
            return _judged(rng, case_of(rng, request))
        case _:
            return rng.choice(WRITTEN)(case_of(rng, request))


class Number(float):
    """A number as it stands in the text of JSON, which may be none of Python."""

    def __new__(cls, text: str) -> Self:
        return super().__new__(cls, 0)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _scalar(rng: Random, case: Case) -> Any:
    values: Sequence[Callable[[], Any]] = (
        lambda: rng.choice(case.titles),
        lambda: rng.choice(case.titles),
        lambda: rng.choice(case.ids),
        lambda: rng.choice(case.numbers),
        lambda: rng.randrange(1, 6),
        lambda: rng.random(),
        lambda: Number(rng.choice(NUMBERS)),
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice(ODD),
        lambda: rng.choice((None, True, False, [], {}, "")),
    )
    return rng.choice(values)()


def _data(rng: Random, case: Case, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.2:
        return _scalar(rng, case)

    def below() -> Any:
        return _data(rng, case, depth - 1)

    size = rng.randrange(7)
    match rng.randrange(7):
        case 0:
            return [below() for _ in range(size)]
        case 1:
            return {rng.choice(KEYS): below() for _ in range(size)}
        case 2:
            keys = rng.sample(KEYS, 3)
            return [{key: _scalar(rng, case) for key in keys} for _ in range(size)]
        case 3:
            return [
                {"title": title, rng.choice(KEYS): _scalar(rng, case)}
                for title in case.titles
            ]
        case 4:
            return {title: _scalar(rng, case) for title in case.titles}
        case 5:
            return {
                title: rng.choice((1, 0.5, Number(rng.choice(NUMBERS))))
                for title in case.titles
            }
        case _:
            return [[_scalar(rng, case), title] for title in case.titles]


def _as_data(rng: Random, value: Any) -> str:
    if rng.random() < 0.25:
        return repr(value)
    text = _json(value, repeats=rng.random() < 0.2)
    return json.dumps({"arguments": text}) if rng.random() < 0.1 else text


def _json(value: Any, *, repeats: bool) -> str:
    """A value as JSON, where numbers stand as they are; with `repeats` every member of
    an object stands there twice.
    """
    match value:
        case Number():
            return value.text
        case list():
            return f"[{', '.join(_json(each, repeats=repeats) for each in value)}]"
        case dict():
            members = [
                f"{json.dumps(key)}: {_json(each, repeats=repeats)}"
                for key, each in value.items()
            ]
            return "{" + ", ".join(members * (1 + repeats)) + "}"
        case _:
            return json.dumps(value)


def _rows(rng: Random, case: Case) -> str:
    header = ["title", *rng.sample(KEYS, 2)]
    rows = [
        [title, *(str(_scalar(rng, case)) for _ in range(2))] for title in case.titles
    ]
    mark = rng.choice((",", ";", "\t", "|", "tags"))
    if mark == "tags":
        fields = [
            "".join(
                f"<{key}>{cell}</{key}>" for key, cell in zip(header, row, strict=True)
            )
            for row in rows
        ]
        return "".join(f"<item>{each}</item>\n" for each in fields)
    lines = [mark.join(row) for row in [header, *rows]]
    return "\n".join(f"|{line}|" if mark == "|" else line for line in lines)


def _judged(rng: Random, case: Case) -> str:
    """The verdict or the scores of a judge, or the option that answers a question."""
    names = [*(aspect.name for aspect in ASPECTS), OVERALL, "answer"]
    usual = rng.choice(
        (("A", "B", "tie", "B wins", "List A is better"), ("0.5", ".25", "1", "0/1")),
    )
    values = [
        _scalar(rng, case) if rng.random() < 0.2 else rng.choice(usual)
        for _ in range(len(names))
    ]
    said = dict(zip(names, values, strict=True))
    match rng.randrange(3):
        case 0:
            return "\n".join(f"{name}: {value}" for name, value in said.items())
        case 1:
            members = {
                name: {"winner": value, "reason": "so"} for name, value in said.items()
            }
            return _json(members, repeats=rng.random() < 0.2)
        case _:
            return _json(said, repeats=rng.random() < 0.2)


# ---- what is made of an answer ----


def _cut(text: str, rng: Random, request: Request) -> str:
    begin, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    return rng.choice((text[:end], text[begin:], text[:begin] + text[end:]))


def _joined(text: str, rng: Random, request: Request) -> str:
    return text + rng.choice(("", "\n", "\n\n", " ", ",")) + _text(rng, request)


def _spliced(text: str, rng: Random, request: Request) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + _text(rng, request) + text[at:]


def _with_oddities(text: str, rng: Random, request: Request) -> str:
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice((*ODD, *NUMBERS)) + text[at:]
    return text


def _with_numbers(text: str, rng: Random, request: Request) -> str:
    places = [at for at, char in enumerate(text) if char.isdecimal()]
    for at in sorted(rng.sample(places, min(len(places), 3)), reverse=True):
        text = text[:at] + rng.choice(NUMBERS) + text[at + 1 :]
    return text


def _wrapped(text: str, rng: Random, request: Request) -> str:
    begin, end = rng.choice(
        (
            *TAGS,
            ("```json\n", "\n```"),
            ("<answer>", "</answer>"),
            ("\\boxed{", "}"),
            ("| ", " |"),
        ),
    )
    return rng.choice(
        (begin + text + end, begin + end + text, begin + text, text + end),
    )


def _nested(text: str, rng: Random, request: Request) -> str:
    for _ in range(rng.choice((1, 2, 7, 40))):
        text = rng.choice(
            (f"[{text}]", f'{{"ranking": {text}}}', f"({text})", f"- {text}"),
        )
    return text


def _quoted(text: str, rng: Random, request: Request) -> str:
    return json.dumps(rng.choice((text, [text], {"title": text}, {"ranking": text})))


def _in_one_line(text: str, rng: Random, request: Request) -> str:
    return text.replace("\n", rng.choice((" ", ", ", "\r", "\u2028", "")))


def _repeated(text: str, rng: Random, request: Request) -> str:
    return text * rng.choice((2, 3, 20)) if len(text) < 500 else text


CHANGES = [
    _cut, _joined, _spliced, _with_oddities, _with_numbers, _wrapped, _nested, _quoted, _in_one_line, _repeated,
]  # fmt: skip

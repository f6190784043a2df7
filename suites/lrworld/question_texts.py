"""The prompt of a question: the shown items, the question, the form of the answer.

The texts, in ``prompts.toml``, are in the substance of figures 7 and 13 and of table 24
of the paper, in our own words. Those of the paper itself are in ``paper_prompts.toml``;
`whole_texts` says them.
"""

import base64
import mimetypes
import string
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

from pytest_recsys_mt.llm.prompt_texts import optional, said
from pytest_recsys_mt.requests import Message, Prompt
from pytest_recsys_mt.requests.nouns import plural
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.files import MOST_DATA, content_of, failing_as
from pytest_recsys_mt.suites.lrworld.question import Question
from pytest_recsys_mt.suites.lrworld.same import form
from pytest_recsys_mt.suites.lrworld.whole_texts import (
    BETWEEN_EXAMPLES,
    joined,
    line,
    whole,
)

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DOMAINS: Final[Mapping[str, Mapping[str, str]]] = _TEXTS["domains"]
"""The words of each `Question.domain`; any other name counts as the word for an item."""


def labels(question: Question) -> tuple[str, ...]:
    """The marks of the options: numbers from 1, letters
    from A, or none if names are asked for.
    """
    if question.domain == "artist":
        return ()
    if question.scale == "knowledgeability":
        return tuple(string.ascii_uppercase[: len(question.options)])
    return tuple(str(number) for number in range(1, len(question.options) + 1))


def prompt(
    question: Question,
    *,
    examples: Sequence[Question] = (),
    think: bool = False,
    image: bool = False,
) -> Prompt:
    """The prompt of a question, in one message, after examples with their right
    answers.

    Its choices are the marks of the options with their bracket (``B)``), of which none
    begins another, or the options themselves if names are asked for. A prompt that asks
    for reasoning has no choices, as it cannot be scored.
    """
    if image and not question.images:
        raise DataError(f"question {question.id!r} has no image to show")
    marks = labels(question)
    asked = whole(
        question,
        _words(question.domain, question.measure),
        marks,
        examples=examples,
        plain_example=_example,
        think=think,
        image=image,
    )
    message = Message(
        "user",
        asked or _put_together(question, marks, examples, think),
        tuple(data_url(each) for each in question.images) if image else (),
    )
    choices = tuple(f"{mark})" for mark in marks) or question.options
    return Prompt((message,), choices=() if think else choices)


def _put_together(
    question: Question,
    marks: Sequence[str],
    examples: Sequence[Question],
    think: bool,
) -> str:
    task = _said("task", question)
    parts = [] if question.domain == "artist" else [task]
    parts += [*_examples(examples), _shown(question), _offered(question, marks)]
    parts.append(_ending(question, marks, think))
    return "\n\n".join(parts)


def examples_for(
    question: Question,
    pool: Sequence[Question],
    k: int,
    rng: Random,
) -> tuple[Question, ...]:
    """`k` questions of a pool to show before one, with their answers.

    None shows an option of the question, or the item that the asked user chose next:
    that would reveal which is right.
    """
    if not k:
        return ()
    hidden = {form(option) for option in question.options}
    hidden.add(form(str(question.evidence.get("label", question.right))))
    fit = [
        other
        for other in pool
        if other.measure == question.measure
        and other.id != question.id
        and hidden.isdisjoint(other.told)
    ]
    if len(fit) < k:
        raise DataError(
            f"{k} examples are wanted for question {question.id!r}, and {len(fit)} of the "
            f"{len(pool)} questions show none of its options; make more questions",
        )
    return tuple(rng.sample(fit, k))


def describing(domain: str, image: str) -> Prompt:
    """Asks a multimodal model to describe the image of an item (figure 3, on its
    right), for the kind ``image``.
    """
    text = optional(f"lrworld_describe.{domain}")
    if text is not None:
        return Prompt((Message("user", text.format(), (data_url(image),)),))
    text = (
        f"This is the image of a {domain}. Say in two sentences what it tells you of the {domain}, "
        f"then in one sentence what the {domain} is about or for, then guess its name, "
        f"and list what can be seen as pairs of an attribute and its value. Answer with one JSON "
        f'object with the keys "summary", "logline", "title" and "attributes", and nothing else.'
    )
    return Prompt((Message("user", text, (data_url(image),)),))


def data_url(image: str) -> str:
    """An image as a data URL; a data URL stays as it is."""
    if image.startswith("data:"):
        return image
    kind = mimetypes.guess_type(image)[0] or "image/jpeg"
    with failing_as(DataError, f"the image {image!r} cannot be read"):
        content = content_of(Path(image), MOST_DATA)
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _said(part: str, question: Question) -> str:
    return said(
        f"lrworld_{part}.{question.measure}",
        **_words(question.domain, question.measure),
    )


@lru_cache
def _words(domain: str, measure: str) -> Mapping[str, str]:
    words = DOMAINS.get(domain) or {
        **DOMAINS["item"],
        "one": domain,
        "many": plural(domain),
    }
    return {**words, "asked": _TEXTS["asked"].get(measure, "")}


def _examples(examples: Sequence[Question]) -> list[str]:
    if not examples:
        return []
    shown = BETWEEN_EXAMPLES.join(_example(each) for each in examples)
    return [
        "These examples show what right answers look like.",
        f"<examples>\n{shown}\n</examples>",
    ]


def _example(question: Question) -> str:
    return f"{_shown(question)}\n\nThe right answer was: {line(question.right)}"


def _shown(question: Question) -> str:
    history, target = question.shown.get("history"), question.shown.get("target")
    words = _words(question.domain, question.measure)
    if history is not None and question.domain == "artist":
        return f"This user has {words['did']}, oldest first: {joined(history, ', ')}."
    lead = _said("lead", question)
    if history is not None:
        return "\n".join([lead, *(f"- {line(each)}" for each in history)])
    return f"{lead}\n{line(target) if isinstance(target, str) else joined(target or (), '; ')}"


def _offered(question: Question, marks: Sequence[str]) -> str:
    if not marks:
        what = "genres" if question.measure == "genre" else "artists"
        return f"Candidates among the {what}: {joined(question.options, ', ')}."
    asked = _said("question", question)
    options = zip(marks, question.options, strict=True)
    lines = [f"{mark}) {line(option)}" for mark, option in options]
    return "\n".join([f"{asked} Exactly one of these is right.", *lines])


def _ending(question: Question, marks: Sequence[str], think: bool) -> str:
    if not marks:
        words = _words(question.domain, question.measure)
        what = "genre of the artist" if question.measure == "genre" else words["one"]
        asked = f"Predict the {what} that this user will {words['does']} next. Choose one candidate."
        if think:
            return f"{asked} Think step by step, and end with a line 'Answer: NAME'."
        return f"{asked} The answer is"
    mark = "letter" if question.scale == "knowledgeability" else "number"
    return said("answers.think" if think else "answers.mark", mark=mark)

"""Questions that one text of a file says as a whole, from the task to the form of the
answer.

``paper_prompts.toml`` has such texts, and a file of ``--recsys-prompts`` may have them.
A kind without one is put together by `question_texts`.
"""

from collections.abc import Callable, Mapping, Sequence

from pytest_recsys_mt.llm.prompt_texts import optional
from pytest_recsys_mt.suites.lrworld.question import Question

BETWEEN_EXAMPLES = "\n\n---\n\n"


def whole(
    question: Question,
    words: Mapping[str, str],
    marks: Sequence[str],
    *,
    examples: Sequence[Question],
    plain_example: Callable[[Question], str],
    think: bool,
    image: bool,
) -> str | None:
    """A question in the words of one text; None if no file gives a text for its kind.

    Args:
        question: The question.
        words: The words of its domain.
        marks: The marks of its options; none if names are asked for.
        examples: Questions to show before it, with their answers.
        plain_example: Says an example for which no file gives a text.
        think: Whether to ask for reasoning.
        image: Whether the picture of the latest item is shown.
    """
    template = _template(question, bool(examples), image)
    if template is None:
        return None
    own = {word: _word(question.domain, word, usual) for word, usual in words.items()}
    shown = BETWEEN_EXAMPLES.join(
        _example(each, own, plain_example) for each in examples
    )
    numbered = [
        f"{mark}) {line(option)}"
        for mark, option in zip(marks, question.options, strict=False)
    ]
    said = template.format_map(
        {
            **own,
            **_ways(question),
            "examples": shown,
            "options": "\n".join(numbered or map(line, question.options)),
            "options_by_commas": joined(question.options, ", "),
        },
    )
    thought = optional("lrworld_further.think") if think else None
    return f"{said} {thought}" if thought else said


def joined(texts: Sequence[str], between: str) -> str:
    """Texts on one line."""
    return between.join(line(text) for text in texts)


def line(text: str) -> str:
    """A text on one line."""
    return " ".join(str(text).split())


def _template(question: Question, with_examples: bool, image: bool) -> str | None:
    """The text of a question's kind; None if there is none."""
    if with_examples and (own := _text_of("lrworld_fewshot", question)):
        return own
    template = _text_of("lrworld_pictured", question) if image else None
    template = template or _text_of("lrworld_whole", question)
    frame = optional("lrworld_further.examples")
    if template is None or not with_examples:
        return template
    frame = frame or "<examples>\n{examples}\n</examples>"
    first, gap, rest = template.partition("\n\n")
    return f"{first}\n\n{frame}\n\n{rest}" if gap else f"{frame}\n\n{first}"


def _text_of(table: str, question: Question) -> str | None:
    of_domain = optional(f"{table}.{question.measure}_{question.domain}")
    return of_domain or optional(f"{table}.{question.measure}")


def _word(domain: str, word: str, usual: str) -> str:
    return optional(f"lrworld_{domain}.{word}") or usual


def _example(
    question: Question,
    words: Mapping[str, str],
    plain_example: Callable[[Question], str],
) -> str:
    own = _text_of("lrworld_example", question)
    if own is None:
        return plain_example(question)
    return own.format_map({**words, **_ways(question), "right": line(question.right)})


def _ways(question: Question) -> dict[str, str]:
    """What a question shows, in each way to write several items."""
    shown = question.shown.get("history", question.shown.get("target", ()))
    texts = (shown,) if isinstance(shown, str) else shown
    return {
        "semicolons": joined(texts, "; "),
        "commas": joined(texts, ", "),
        "lines": joined(texts, "\n"),
        "bullets": "\n".join(f"- {line(each)}" for each in texts),
    }

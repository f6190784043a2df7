"""The prompts for a language model that judges: one user, two lists, some statements.

The outline is that of "RecSys Arena" (https://arxiv.org/abs/2412.11068), section 2.3
and Figure 2: role, history, both lists, aspects, form of the answer. The words are our
own; ``prompts.toml`` has them. `paper_words` asks in those of the paper.
"""

from collections.abc import Sequence
from typing import Any, Literal

from pytest_recsys_mt.llm.prompt_texts import said, text
from pytest_recsys_mt.llm.prompts import strict_schema
from pytest_recsys_mt.requests import Item, Message, Prompt, Request
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.suites.arena import paper_words
from pytest_recsys_mt.suites.arena.judging import (
    OVERALL,
    Aspect,
    Comparison,
    Showing,
    genres_of,
)

Form = Literal["json", "lines"]
"""The form of an answer: a JSON object, or one line per aspect."""

Question = Comparison | Showing
"""The question to a judge: which of two lists is better, or how good one is."""

WINNERS = ("A", "B", "tie")

SCORES = tuple(f"{tenths / 10:.1f}" for tenths in range(11))
"""The scores for a model that answers by choosing."""


def whole_prompt(question: Question, profile: str, form: Form) -> Prompt:
    """The prompt for all aspects at once: for a verdict on two
    lists in each, or for scores of one list.
    """
    printed = _printed(question, profile)
    if printed is not None:
        parts = [*printed, *paper_words.question(question.aspects)]
        return Prompt((Message("user", "\n\n".join(parts)),))
    task = _task(question)
    fields = [*(aspect.name for aspect in question.aspects), OVERALL]
    lines = [f"- {aspect.name}: {aspect.statement}" for aspect in question.aspects]
    weigh = [text("judge.weigh"), *lines] if lines else [text("judge.weigh_freely")]
    if form == "lines":
        asked, schema = (
            [text(f"judge.{task}_lines"), *(f"{name}:" for name in fields)],
            None,
        )
    else:
        asked = [said(f"judge.{task}_json", fields=", ".join(fields))]
        schema = _schema(fields, task)
    parts = [*_opening(question, profile), "\n".join(weigh), "\n".join(asked)]
    return Prompt((Message("user", "\n\n".join(parts)),), schema=schema)


def choice_prompt(question: Question, profile: str, aspect: Aspect | None) -> Prompt:
    """The prompt for one aspect, or overall, answered by choosing
    among `WINNERS`, or `SCORES` for one list.
    """
    name, choices = (
        ("which", WINNERS) if _task(question) == "compare" else ("how", SCORES)
    )
    asked = text(f"judge.{name}_overall")
    if aspect is not None:
        asked = said(f"judge.{name}_statement", statement=aspect.statement)
    opening = _printed(question, profile) or _opening(question, profile)
    message = Message("user", "\n\n".join([*opening, asked]))
    return Prompt((message,), k=1, choices=choices)


def profile_prompt(request: Request) -> Prompt:
    """The prompt that asks for a description of a user, once for all comparisons."""
    parts = [text("judge.describe"), *_facts(request), _history(request)]
    return Prompt((Message("user", "\n\n".join(parts)),))


def _printed(question: Question, profile: str) -> list[str] | None:
    """What a comparison shows in the words of the paper; None if they are not in use,
    or not printed.
    """
    if isinstance(question, Showing):
        return None
    return paper_words.opening(question, profile)


def _task(question: Question) -> str:
    return "compare" if isinstance(question, Comparison) else "rate"


def _opening(question: Question, profile: str) -> list[str]:
    if isinstance(question, Showing):
        lists = [("The list", question.items)]
    else:
        one, other = (
            f", by {one_line(name)}" if name else "" for name in question.names
        )
        lists = [(f"List A{one}", question.a), (f"List B{other}", question.b)]
    request = question.request
    return [
        said("judge.role", task=text(f"judge.{_task(question)}")),
        *([f"Who you are:\n{one_line(profile)}"] if profile else _facts(request)),
        _history(request),
        *(f"{title}:\n{_listed(items)}" for title, items in lists),
    ]


def _facts(request: Request) -> list[str]:
    lines = [
        f"- {one_line(str(name))}: {_value(request.attributes[name])}"
        for name in sorted(request.attributes)
    ]
    return ["Who you are:\n" + "\n".join(lines)] if lines else []


def _value(value: Any) -> str:
    many = isinstance(value, Sequence) and not isinstance(value, str)
    return one_line(", ".join(map(str, value)) if many else str(value))


def _history(request: Request) -> str:
    scale = f"{request.scale.low:g} (worst) to {request.scale.high:g} (best)"
    lines = [
        f"{number}. {_described(rating.item)}; your rating: {rating.value:g}"
        for number, rating in enumerate(request.history, 1)
    ]
    listed = "\n".join(lines) or "(nothing yet)"
    return f"What you chose so far, the latest last, rated from {scale}:\n{listed}"


def _listed(items: Sequence[Item]) -> str:
    lines = [f"{number}. {_described(item)}" for number, item in enumerate(items, 1)]
    return "\n".join(lines) or "(nothing)"


def _described(item: Item) -> str:
    genres = genres_of(item)
    label = one_line(item.label)
    return f"{label} [{_value(genres)}]" if genres else label


def _schema(fields: Sequence[str], task: str) -> dict[str, object]:
    reason, winner = {"type": "string"}, {"type": "string", "enum": list(WINNERS)}
    compared = task == "compare"
    value = (
        strict_schema({"reason": reason, "winner": winner})
        if compared
        else {"type": "number"}
    )
    return strict_schema(dict.fromkeys(fields, value))

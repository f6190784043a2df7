"""The prompts for a language model that judges: one user, two lists, some statements.

The outline is that of "RecSys Arena" (https://arxiv.org/abs/2412.11068), section 2.3 and Figure 2:
role, history, both lists, aspects, form of the answer. The words are our own; ``prompts.toml`` has them.
"""

from collections.abc import Sequence
from typing import Any, Literal

from pytest_recsys_mt.arena.judging import OVERALL, Aspect, Comparison, Showing, genres_of
from pytest_recsys_mt.llm.prompts import strict_schema
from pytest_recsys_mt.prompt_texts import said, text
from pytest_recsys_mt.requests import Item, Message, Prompt, Request
from pytest_recsys_mt.sanitize import one_line

Form = Literal["json", "lines"]
"""The form of an answer: a JSON object, or one line per aspect."""

WINNERS = ("A", "B", "tie")

SCORES = tuple(f"{tenths / 10:.1f}" for tenths in range(11))
"""The scores for a model that answers by choosing."""


def comparison_prompt(comparison: Comparison, profile: str, form: Form) -> Prompt:
    """The prompt for all aspects at once."""
    return _whole("compare", _opening(comparison, profile), comparison.aspects, form)


def comparison_choice(comparison: Comparison, profile: str, aspect: Aspect | None) -> Prompt:
    """The prompt for one aspect, or overall, answered by choosing among `WINNERS`."""
    parts = [*_opening(comparison, profile), _question("which", aspect)]
    return Prompt((Message("user", "\n\n".join(parts)),), k=1, choices=WINNERS)


def showing_prompt(showing: Showing, profile: str, form: Form) -> Prompt:
    """The prompt that asks for scores of one list in all aspects."""
    return _whole("rate", _alone(showing, profile), showing.aspects, form)


def showing_choice(showing: Showing, profile: str, aspect: Aspect | None) -> Prompt:
    """The prompt that asks for one score of one list, answered by choosing among `SCORES`."""
    parts = [*_alone(showing, profile), _question("how", aspect)]
    return Prompt((Message("user", "\n\n".join(parts)),), k=1, choices=SCORES)


def profile_prompt(request: Request) -> Prompt:
    """The prompt that asks for a description of a user, once for all comparisons."""
    parts = [text("judge.describe"), *_facts(request), _history(request)]
    return Prompt((Message("user", "\n\n".join(parts)),))


def _question(name: str, aspect: Aspect | None) -> str:
    if aspect is None:
        return text(f"judge.{name}_overall")
    return said(f"judge.{name}_statement", statement=aspect.statement)


def _whole(task: str, opening: Sequence[str], aspects: Sequence[Aspect], form: Form) -> Prompt:
    fields = [*(aspect.name for aspect in aspects), OVERALL]
    lines = [f"- {aspect.name}: {aspect.statement}" for aspect in aspects]
    weigh = [text("judge.weigh"), *lines] if aspects else [text("judge.weigh_freely")]
    if form == "lines":
        asked, schema = [text(f"judge.{task}_lines"), *(f"{name}:" for name in fields)], None
    else:
        asked = [said(f"judge.{task}_json", fields=", ".join(fields))]
        schema = _schema(fields, task)
    parts = [*opening, "\n".join(weigh), "\n".join(asked)]
    return Prompt((Message("user", "\n\n".join(parts)),), schema=schema)


def _opening(comparison: Comparison, profile: str) -> list[str]:
    lists = (("A", comparison.a, comparison.names[0]), ("B", comparison.b, comparison.names[1]))
    return [
        said("judge.role", task=text("judge.compare")),
        *_user(comparison.request, profile),
        *(
            f"List {letter}{f', by {one_line(name)}' if name else ''}:\n{_listed(items)}"
            for letter, items, name in lists
        ),
    ]


def _alone(showing: Showing, profile: str) -> list[str]:
    return [
        said("judge.role", task=text("judge.rate")),
        *_user(showing.request, profile),
        f"The list:\n{_listed(showing.items)}",
    ]


def _user(request: Request, profile: str) -> list[str]:
    about = [f"Who you are:\n{one_line(profile)}"] if profile else _facts(request)
    return [*about, _history(request)]


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
    value = strict_schema({"reason": reason, "winner": winner}) if compared else {"type": "number"}
    return strict_schema(dict.fromkeys(fields, value))

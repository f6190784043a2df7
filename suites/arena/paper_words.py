"""The prompt for a language model that judges in the words of one file of texts.

``paper_prompts.toml`` has them, the five parts of Figure 2 of "RecSys Arena"; only a
comparison of two lists is asked in them, as nothing else is printed.
"""

from collections.abc import Sequence

from pytest_recsys_mt.llm.prompt_texts import optional
from pytest_recsys_mt.requests import Item, Request
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.suites.arena.judging import Aspect, Comparison, genres_of

KNOWN = ("age", "occupation", "gender")
"""The facts of a user that the printed sentence on the role has."""

GENDERS = {"M": "male", "F": "female"}
"""How the paper writes the values of the data."""


def in_use() -> bool:
    """Whether the file of texts in use has such a prompt."""
    return optional("judge_whole.lists") is not None


def opening(comparison: Comparison, profile: str) -> list[str] | None:
    """Who the judge is, what the user chose, and both lists; None without such texts."""
    if not in_use():
        return None
    one, other = (f", {one_line(name)}," if name else "" for name in comparison.names)
    history = [rating.item for rating in comparison.request.history]
    return [
        *_role(comparison.request, profile),
        _text("history").format(history=_listed(history)),
        _text("lists").format(
            name_a=one,
            name_b=other,
            count_a=len(comparison.a),
            count_b=len(comparison.b),
            a=_listed(comparison.a),
            b=_listed(comparison.b),
        ),
    ]


def question(aspects: Sequence[Aspect]) -> list[str]:
    """What is asked of the two lists, and the form of the answer."""
    lines = "\n".join(_statement(aspect) for aspect in aspects)
    asked = [_text("aspects").format(aspects=f"\n{lines}")] if lines else []
    return [*asked, _text("verdict")]


def _role(request: Request, profile: str) -> list[str]:
    user = one_line(request.user)
    facts = {name: request.attributes.get(name) for name in KNOWN}
    if profile:
        known = [f"Who you are:\n{one_line(profile)}"]
    elif all(facts.values()):
        gender = GENDERS.get(str(facts["gender"]), str(facts["gender"]))
        said = {name: one_line(str(value)) for name, value in facts.items()}
        return [_text("role").format_map({**said, "gender": gender, "user": user})]
    else:
        listed = [
            f"- {one_line(str(name))}: {one_line(str(value))}"
            for name, value in sorted(request.attributes.items())
        ]
        known = ["\n".join(["Who you are:", *listed])] if listed else []
    return [_text("role_of_others").format(user=user), *known]


def _statement(aspect: Aspect) -> str:
    own = f"{aspect.name[:1].upper()}{aspect.name[1:]}: {aspect.statement}"
    return optional(f"judge_aspects.{aspect.name}") or own


def _listed(items: Sequence[Item]) -> str:
    return "; ".join(map(_described, items)) or "(nothing)"


def _described(item: Item) -> str:
    genres, title = genres_of(item), one_line(item.label)
    if not genres:
        return title
    return _text("item").format(title=title, genres=one_line(", ".join(genres)))


def _text(name: str) -> str:
    found = optional(f"judge_whole.{name}")
    if found is None:
        raise RecommenderError(
            f"the file of --recsys-prompts has the text 'judge_whole.lists' and lacks 'judge_whole.{name}'; give "
            f"all of that table, as `recsys-mt prompts paper` writes it, or none",
        )
    return found

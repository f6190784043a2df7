"""Prompt templates, from the papers or from a file: text with named fields in braces
(`FIELDS`).

A line whose fields are all empty is left out. Candidates and the instruction follow at
the end if a template has no field for them.
"""

import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType

from pytest_recsys_mt.llm.prompt_texts import TEMPLATES, OwnTexts, said, text
from pytest_recsys_mt.requests import Item, Message, Prompt, Request
from pytest_recsys_mt.requests.nouns import plural
from pytest_recsys_mt.safety.errors import RecommenderError, RelationError
from pytest_recsys_mt.safety.files import content_of
from pytest_recsys_mt.safety.sanitize import one_line

FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "user": "the user's name",
        "history": "titles with ratings, `Click (2006) 1/5, ...`, oldest first",
        "watched": "titles alone, one a line",
        "chosen": "titles alone, `Click (2006), ...`, oldest first; its line is left out without any",
        "low": "the low anchor of the rating scale",
        "high": "the high anchor of the rating scale",
        "k": "how many items to answer with",
        "candidates": "numbered titles, one a line, below the line that names the field",
        "candidates_from_0": "the same, numbered from 0, for models that answer with such numbers",
        "instruction": "the request's own sentence, such as one against popular items",
        "attributes": "what is known of the user, `age: 25, occupation: writer`",
        "newest": "the last year of the catalogue",
        "item": "what an item of the data is called, `book`",
        "items": "what several are called, `books`",
        "data": "the name of the data, `ml-1m`",
    },
)
"""The fields of a template, and their contents."""


@dataclass(frozen=True)
class Template:
    """A prompt with named fields.

    Raises:
        RecommenderError: If a brace is unbalanced or a field is not one of `FIELDS`.
    """

    name: str  # that of a built-in template, or the path of a file
    text: str
    # Whether `as_json` asks for the form of the answer instead.
    lists_as_json: bool = False
    instruction: str = ""  # said in ``{instruction}``, before the request's own
    thing: str = "item"  # see `Dataset.thing`
    data: str = "data"  # see `Dataset.name`

    def __post_init__(self) -> None:
        names = self._names(self.text)
        if not names & {"history", "watched", "chosen"}:
            raise RecommenderError(
                f"prompt template {self.name!r} shows nothing of the user's history, so every user "
                f"would get the same answer; give {{history}} or {{watched}} a place in it",
            )

    def render(
        self,
        request: Request,
        newest: int | None = None,
    ) -> tuple[Message, ...]:
        """The chat that asks `request`, its edits applied to the user's message in
        their order.

        `newest` is the last year of the catalogue; without it, that of the request's
        own items.
        """
        return self.written(request, newest)[0]

    def written(
        self,
        request: Request,
        newest: int | None = None,
    ) -> tuple[tuple[Message, ...], tuple[tuple[str, ...], ...]]:
        """The chat of `render`, and the names of each candidate as shown, for answers
        that copy them.

        These are the line without its number; with and without the year, if these can
        still be recognised; and the whole line if the edits broke its number. There are
        none without edits, and if they moved lines.
        """
        ways = _values(request, newest, self.instruction)
        values = {name: ways[name]() for _, names in self._lines for name in names}
        values |= {
            "item": self.thing,
            "items": plural(self.thing),
            "data": one_line(self.data),
        }
        content = "\n".join(
            line.format_map(values)
            for line, names in self._lines
            if _says_something(names, values)
        )
        edited = _edited(content, request)
        messages = (Message("user", edited),)
        lines = edited.split("\n")
        candidates = request.candidates or ()
        if not request.edits or not candidates or len(lines) != content.count("\n") + 1:
            return messages, ()
        listed = values["candidates" if self.first else "candidates_from_0"]
        begin = content.count("\n", 0, content.index(listed)) + 1
        return messages, tuple(
            _names_shown(lines[begin + at], at + self.first, item)
            for at, item in enumerate(candidates)
        )

    @cached_property
    def first(self) -> int:
        """The number of the first candidate."""
        return 0 if "candidates_from_0" in self._names(self.text) else 1

    @cached_property
    def _lines(self) -> list[tuple[str, set[str]]]:
        template = self.text
        if not self._names(template) & {"candidates", "candidates_from_0"}:
            template += f"\n{text('answers.candidates')}"
        if "instruction" not in self._names(template):
            template += "\n{instruction}"
        if self.lists_as_json:
            template = template.replace(text("answers.lines"), "")
        words = {"item", "items", "data"}  # which no line is left out for
        return [(line, self._names(line) - words) for line in template.split("\n")]

    def _names(self, text: str) -> set[str]:
        names = set()
        try:
            for _, name, spec, conversion in string.Formatter().parse(text):
                if name is None:
                    continue
                if name not in FIELDS or spec or conversion:
                    field = name + (f"!{conversion}" if conversion else "")
                    field += f":{spec}" if spec else ""
                    raise RecommenderError(
                        f"prompt template {self.name!r} has the unknown field {{{field}}}; the "
                        f"fields are {', '.join(f'{{{valid}}}' for valid in FIELDS)}, and a brace "
                        f"of its own is written twice",
                    )
                names.add(name)
        except ValueError as error:
            raise RecommenderError(
                f"prompt template {self.name!r} cannot be read: {error}; a brace of its own is "
                f"written twice",
            ) from error
        return names


NAMES = ("person", "wok", "rank", "wok-mitigate", "wok-minimize")
"""The built-in templates. `pytest_recsys_mt.llm.prompt_texts` has their texts, in our
own words.

* ``person``: the "person pattern" of the metamorphic paper, its Table 1
* ``wok``: the prompt of "Large Language Models as Recommender Systems: A Study of Popularity Bias", its Code Listing 1
* ``rank``: our own, short; for a user without a history it does not mention one
* ``wok-mitigate``, ``wok-minimize``: the same as ``wok`` with the instruction of
  section 4.5 of that paper to match, or to avoid, what is popular
"""


def template(name: str) -> Template:
    """The built-in template of that name, or the one in
    the UTF-8 text file at that path.
    """
    if name in NAMES:
        base, _, mode = name.partition("-")
        instruction = text(f"instructions.{mode}") if mode else ""
        return _made(name, text(f"templates.{base}"), instruction=instruction)
    path = Path(name)
    if not path.is_file():
        raise RecommenderError(
            f"there is no prompt {name!r}: the built-in ones are {', '.join(NAMES)}; anything else "
            f"is the path of a text file with the fields {', '.join(f'{{{f}}}' for f in FIELDS)}",
        )
    return _of_file(name)


_made = lru_cache(maxsize=64)(Template)


@lru_cache(maxsize=64)
def _of_file(name: str) -> Template:
    try:
        content = content_of(Path(name)).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RecommenderError(
            f"prompt template {name!r} cannot be read: {error}",
        ) from error
    return Template(name, content.rstrip("\n"))


def own_templates(own: OwnTexts) -> tuple[Template, ...]:
    """The templates of a user's file; raises as `Template` does."""
    return tuple(
        Template(name, said)
        for name, said in own.texts.items()
        if name.startswith(f"{TEMPLATES}.")
    )


def render(
    name: str,
    request: Request,
    newest: int | None = None,
) -> tuple[Message, ...]:
    """The chat that asks `request` by the template `name`; see `Template.render`."""
    return template(name).render(request, newest)


def as_json(prompt: Prompt, allowed: Sequence[str] = ()) -> Prompt:
    """`prompt`, whose answer lists `prompt.k` items at most, asking for that list as
    JSON.

    With titles in `allowed`, the schema takes no others.

    The sentence stands behind the edits of the request, which are not meant for it.
    """
    *before, last = prompt.messages
    content = f"{last.content}\n{said('answers.json')}"
    title: dict[str, object] = {"type": "string"}
    if allowed:
        title["enum"] = list(allowed)
    titles = {"type": "array", "items": title, "maxItems": prompt.k}
    schema = strict_schema({"recommendations": titles})
    return replace(
        prompt,
        messages=(*before, replace(last, content=content)),
        schema=schema,
    )


def strict_schema(properties: Mapping[str, object]) -> dict[str, object]:
    """A JSON schema of an object that requires all fields, as strict endpoints demand."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _values(
    request: Request,
    newest: int | None,
    instruction: str,
) -> dict[str, Callable[[], str]]:
    high = _number(request.scale.high)
    titles = [_title(rating.item.label) for rating in request.history]

    def ratings() -> Iterator[str]:
        for title, rating in zip(titles, request.history, strict=True):
            yield f"{title} {_number(rating.value)}/{high}"

    def numbered(start: int) -> str:
        lines = enumerate(request.candidates or (), start)
        return "".join([f"\n{i}. {_title(item.label)}" for i, item in lines])

    def last() -> str:
        items = [
            *(rating.item for rating in request.history),
            *(request.candidates or ()),
        ]
        years = [item.year for item in items if item.year is not None]
        return str(max(years, default="") if newest is None else newest)

    return {
        "user": lambda: one_line(request.user),
        "history": lambda: ", ".join(ratings()) or "none",
        "watched": lambda: "\n".join(titles) or "none",
        "chosen": lambda: ", ".join(titles),
        "low": lambda: _number(request.scale.low),
        "high": lambda: high,
        "k": lambda: str(request.k),
        "candidates": lambda: numbered(1),
        "candidates_from_0": lambda: numbered(0),
        "instruction": lambda: one_line(f"{instruction} {request.instruction}".strip()),
        "attributes": lambda: ", ".join(
            f"{one_line(str(key))}: {one_line(_plain(value))}"
            for key, value in request.attributes.items()
        ),
        "newest": last,
    }


# The titles of a catalogue stand in thousands of prompts.
_title = lru_cache(maxsize=2**16)(one_line)


def _says_something(names: set[str], values: Mapping[str, str]) -> bool:
    """Whether a line with these fields is shown."""
    if "chosen" in names and not values["chosen"]:
        return False
    return not names or any(values[name] for name in names)


def _edited(content: str, request: Request) -> str:
    for edit in request.edits:
        content = edit(content)
        if not isinstance(content, str):
            raise RelationError(
                f"the prompt edit {edit!r} returned {content!r}; it must return the changed text",
            )
    return content


def _names_shown(line: str, number: int, item: Item) -> tuple[str, ...]:
    marker = _spaced(f"{number}.").match(line)
    name = line[marker.end() :] if marker else line
    names = [name]
    has_words = any(c.isalnum() and not c.isdecimal() for c in name)
    if marker and marker[0] != f"{number}." and has_words:
        names.append(line)  # "1 0. Heat" does not begin with a list marker
    year = _spaced(f"({item.year})").search(name) if item.year is not None else None
    if year:
        names += [name[: year.end()], name[: year.start()]]
    return tuple(names)


@lru_cache(maxsize=1024)
def _spaced(text: str) -> re.Pattern[str]:
    return re.compile(r"\s*".join(map(re.escape, text)))


@lru_cache(maxsize=1024)
def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " and ".join(map(str, value))
    return str(value)

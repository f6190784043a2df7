"""The meaning of the names of fields, columns and details: which
holds the title, and which orders the entries.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal

from pytest_recsys_mt.llm.reading.wording import table

Field = Literal["title", "year", "rank", "cost", "score", ""]
"""The kind of a field; a ``cost`` is a score of which the lowest is the best."""

_FIELDS: dict[Any, Any] = table("fields")
_NAMES: dict[Field, list[str]] = {
    kind: said["names"].split() for kind, said in _FIELDS.items() if "names" in said
}
_WORDS = {
    kind: {*said["words"].split()} for kind, said in _FIELDS.items() if "words" in said
}

TITLE_KEYS = _NAMES["title"]

_UNIT = re.compile(r"\([^()]*[\d%↓↑][^()]*\)|/\s*\d+|[↓↑%*.]")
_WORD = re.compile(r"#|[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@lru_cache(maxsize=4096)
def field_name(key: object) -> str:
    """A name as it is compared: ``itemId``, ``Item ID`` as
    ``item_id``; without a range or a unit.
    """
    name = _UNIT.sub(" ", _CAMEL.sub("_", str(key)))
    return re.sub(r"\s+", "_", name.strip(" _:：")).casefold()


@lru_cache(maxsize=4096)
def field_of(name: str) -> Field:
    """The kind of the field of a name, which is one that `field_name` gave."""
    for kind in ("title", "year", "rank"):
        if name in _NAMES[kind]:
            return kind
    words = {*_WORD.findall(name)}
    if words & _WORDS["other"]:
        return ""
    if words & _WORDS["rank"]:
        return (
            "cost"
            if words & _WORDS["mean"]
            else "score"
            if "score" in words
            else "rank"
        )
    return (
        "cost" if words & _WORDS["cost"] else "score" if words & _WORDS["score"] else ""
    )


@lru_cache(maxsize=4096)
def is_of_others(name: str) -> bool:
    """Whether a field holds a value that is not the answer's, such as ``old_rank``."""
    return not _WORDS["other"].isdisjoint(_WORD.findall(name))


def named(names: Iterable[str], *kinds: Field) -> list[str]:
    """Those of some kinds, the one that counts first."""

    def place(name: str) -> tuple[bool, int]:
        usual = [*_NAMES["title"], *_NAMES["year"], *_NAMES["rank"], *_NAMES["score"]]
        last = not _WORDS["last"].isdisjoint(_WORD.findall(name))
        return not last, usual.index(name) if name in usual else len(usual)

    return sorted((name for name in names if field_of(name) in kinds), key=place)


_RANK = re.compile(r"(\d{1,4})(?:st|nd|rd|th)?(?:\s*(?:/|of)\s*\d{1,4})?")


def with_maker(title: str, fields: Mapping[str, Any]) -> str:
    """A title with its artist or author, as a text names both."""
    maker = next(
        (
            fields[key]
            for key in ("artist", "author", "singer", "band")
            if key in fields
        ),
        "",
    )
    return f"{title} by {maker}" if isinstance(maker, str) and maker else ""


def year_of(fields: Mapping[str, Any]) -> int | None:
    """The year in the fields of an entry."""
    for key in named(fields, "year"):
        if re.fullmatch(r"(?:18|19|20)\d\d", str(fields[key]).strip()):
            return int(str(fields[key]))
    return None


def rank_of(fields: Mapping[str, Any]) -> int | None:
    """The rank in the fields of an entry: ``3``, ``#3``, ``3rd``, ``3/20``."""
    for key in named(fields, "rank"):
        found = _RANK.fullmatch(str(fields[key]).strip("*#.) "))
        return int(found[1]) if found else None
    return None


def score_of(fields: Mapping[str, Any]) -> float | None:
    """The score in the fields of an entry; the best is the highest."""
    for key in named(fields, "score", "cost"):
        value = measured(fields[key])
        if value is not None:
            return -value if field_of(key) == "cost" else value
    return None


def measured(value: object) -> float | None:
    """A score as a number: 0.9, "9.5", "95%", "9/10", "4.5 stars"."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e300 else None
    found = re.fullmatch(
        r"\s*(-?\d{1,9}(?:[.,]\d{1,9})?)\s*(?:%|(?:/|out of)\s*\d{1,4}|stars?|points?|★)?\s*",
        str(value),
    )
    return None if found is None else float(found[1].replace(",", "."))

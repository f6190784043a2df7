"""The package's texts for a language model, by name, and those of a user instead.

The texts stand in ``prompts.toml``, and ``--recsys-prompts`` names a file of the same
form. They hold for a whole process, as one run has one set of them: a relation adds an
instruction wherever it is applied.
"""

import difflib
import hashlib
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from pytest_recsys_mt.safety.files import content_of, expanded, toml_of

SHIPPED = Path(__file__).with_name("prompts.toml")
"""The file with the texts of the package."""

TEMPLATES = "templates"
"""The table of templates, whose fields are checked where they are rendered."""


QUESTIONS = "lrworld_"
"""The beginning of the names of the tables of questions' texts."""
OF_QUESTIONS = {"one", "many", "does", "did", "together", "asked"}
"""The fields that such a text may have."""


@dataclass(frozen=True)
class OwnTexts:
    """The texts of a user's file.

    Attributes:
        file: Name of the file, without its folder.
        sha256: Of its bytes.
        texts: By name, ``templates.wok``.
        path: The file as it was named; two copies of a file are equal.
    """

    file: str
    sha256: str
    texts: Mapping[str, str] = field(hash=False)
    path: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.path

    @property
    def recorded(self) -> dict[str, object]:
        """Their entry in a record, which is equal for the same texts."""
        return {"sha256": self.sha256, "texts": dict(self.texts)}


_used: list[Mapping[str, str]] = [{}]
"""Those of a process, and of each run that began in it
and did not end: a test may run pytest.
"""


def use(own: OwnTexts | None) -> None:
    """Use the texts of a file until `leave`; None stands for the package's alone."""
    _used.append(own.texts if own is not None else {})


def leave() -> None:
    """Use again the texts from before the last `use`."""
    _used.pop()


@cache
def shipped() -> Mapping[str, str]:
    """The texts of the package, by name."""
    return _flat(tomllib.loads(SHIPPED.read_text(encoding="utf-8")))


def text(name: str) -> str:
    """The text of that name, with its fields in braces."""
    return _used[-1].get(name) or shipped()[name]


def said(name: str, **values: str) -> str:
    """The text of that name with the values of its fields."""
    return text(name).format_map(values)


def read(path: str) -> OwnTexts:
    """The texts of a file.

    Args:
        path: A TOML file in the form of ``prompts.toml``.

    Raises:
        ValueError: If it cannot be read, or has a name that there is not, an empty
            text, or other fields than the text that it replaces. The message says what
            is valid.
    """
    file = expanded(path)
    try:
        content = content_of(file)
    except OSError as error:
        raise ValueError(
            f"it cannot be read ({error.strerror}); name a TOML file as `recsys-mt prompts` writes one",
        ) from error
    try:
        given = _flat(toml_of(content))
    except ValueError as error:  # from TOML or UTF-8
        raise ValueError(f"it is not TOML: {error}") from error
    if not given:
        raise ValueError(
            "it has no text; `recsys-mt prompts` writes all that there are",
        )
    for name, value in given.items():
        _check(name, value)
    return OwnTexts(file.name, hashlib.sha256(content).hexdigest(), given, path)


def _check(name: str, value: object) -> None:
    known = shipped()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1, 0)[0]
        table = f"{near.partition('.')[0]}."
        names = ", ".join(each for each in known if each.startswith(table))
        further = (
            "; --recsys-prompt=FILE takes a further one"
            if table == f"{TEMPLATES}."
            else ""
        )
        raise ValueError(
            f"there is no text {name!r}; did you mean {near!r}? The names there are {names}{further}",
        )
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name!r} must be a text, got {value!r}")
    if name.partition(".")[0] == TEMPLATES:
        return
    needed, found = _fields(known[name]), _fields(value)
    may = name.startswith(QUESTIONS) and found <= OF_QUESTIONS
    if found != needed and not may:
        if name.startswith(QUESTIONS):
            needed = OF_QUESTIONS
        said = ", ".join(f"{{{each}}}" for each in sorted(needed)) or "none"
        has = ", ".join(f"{{{each}}}" for each in sorted(found)) or "none"
        raise ValueError(
            f"{name!r} {'may have' if needed is OF_QUESTIONS else 'needs'} the fields {said}, and has {has}; a brace of "
            f"its own is written twice",
        )


def _fields(value: str) -> set[str]:
    try:
        return {
            name
            for _, name, _, _ in string.Formatter().parse(value)
            if name is not None
        }
    except ValueError as error:
        raise ValueError(
            f"{value!r} cannot be read: {error}; a brace of its own is written twice",
        ) from error


def _flat(tables: Mapping[str, object]) -> dict[str, str]:
    found: dict[str, str] = {}
    for table, texts in tables.items():
        if not isinstance(texts, Mapping):
            raise ValueError(  # noqa: TRY004 (the file is wrong, not an argument)
                f"{table!r} stands in no table; the tables are those of `recsys-mt prompts`",
            )
        found.update({f"{table}.{name}": each for name, each in texts.items()})
    return found

"""The package's texts for a language model, by name, and those of a user instead.

The texts stand in ``prompts.toml``, and ``--recsys-prompts`` names a file of the same
form, or the word ``paper``: then the files of the suites hold, which quote the papers
that they repeat. They hold for a whole process, as one run has one set of them: a
relation adds an instruction wherever it is applied.
"""

import difflib
import hashlib
import json
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
OF_QUESTIONS = {"one", "many", "does", "did", "doing", "together", "asked"}
"""The fields that such a text may have."""

PAPER = "paper"
"""The value of ``--recsys-prompts`` that stands for the words of the papers."""


@dataclass(frozen=True)
class OwnTexts:
    """The texts of a user's file, or of the papers.

    Attributes:
        file: Name of the file, without its folder; `PAPER` for the papers.
        sha256: Of its bytes; of the papers, of their texts.
        texts: By name, ``templates.wok``.
        path: The file as it was named; two copies of a file are equal.
        suites: The suites whose papers they quote; none for a user's file.
        note: What a reader of the run must know of the choice; empty if nothing.
    """

    file: str
    sha256: str
    texts: Mapping[str, str] = field(hash=False)
    path: str = field(default="", compare=False)
    suites: tuple[str, ...] = ()
    note: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.path

    @property
    def recorded(self) -> dict[str, object]:
        """Their entry in a record, which is equal for the same texts."""
        entry: dict[str, object] = {"sha256": self.sha256, "texts": dict(self.texts)}
        if self.suites:
            entry["papers_of"] = list(self.suites)
        return entry


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


def optional(name: str) -> str | None:
    """The text of that name, which only a file has; None if the one in use lacks it."""
    return _used[-1].get(name)


def said(name: str, **values: str) -> str:
    """The text of that name with the values of its fields."""
    return text(name).format_map(values)


def read(path: str, papers: Mapping[str, Path] | None = None) -> OwnTexts:
    """The texts of a file, or of the papers.

    Args:
        path: A TOML file in the form of ``prompts.toml``, or `PAPER`.
        papers: The files that quote papers, by suite. A user's file may replace their
            texts, too.

    Raises:
        ValueError: If it cannot be read, or has a name that there is not, an empty
            text, or other fields than the text that it replaces. The message says what
            is valid.
    """
    quoted = _of_papers(papers or {})
    file = expanded(path)
    if path == PAPER and papers:
        return OwnTexts(
            PAPER,
            hashlib.sha256(json.dumps(quoted, sort_keys=True).encode()).hexdigest(),
            quoted,
            PAPER,
            tuple(sorted(papers)),
            _note(file),
        )
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
    known = {**quoted, **shipped()}
    for name, value in given.items():
        _check(name, value, known)
    return OwnTexts(file.name, hashlib.sha256(content).hexdigest(), given, path)


def _note(file: Path) -> str:
    """Which is taken where a file has the name of the word."""
    if not file.exists():
        return ""
    return (
        f"--recsys-prompts={PAPER}: the words of the papers, not the file {PAPER!r} in this folder; "
        f"--recsys-prompts=./{PAPER} names the file"
    )


def _of_papers(papers: Mapping[str, Path]) -> dict[str, str]:
    """The texts of the files of all suites.

    Raises:
        ValueError: If a file is no such file, or two have a text of the same name.
    """
    found: dict[str, str] = {}
    for suite, path in sorted(papers.items()):
        try:
            own = _flat(toml_of(content_of(path)))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"the words of the paper of the suite {suite!r} cannot be read from {str(path)!r}: {error}",
            ) from error
        both = sorted(found.keys() & own.keys())
        if both:
            raise ValueError(
                f"{both[0]!r} is a text of two papers, in {str(path)!r} and another suite's file; "
                f"uninstall the package of one of these suites",
            )
        found |= own
    return found


def as_toml(texts: Mapping[str, str]) -> str:
    """Texts as a file that `read` reads."""
    tables: dict[str, list[str]] = {}
    for name, value in texts.items():
        table, _, key = name.partition(".")
        quoted = json.dumps(value, ensure_ascii=False)[1:-1]
        lines = quoted.replace("\\n", "\n")
        said = f'"""\\\n{lines}"""' if lines != quoted else f'"{quoted}"'
        bare = key if key.replace("_", "").isalnum() else json.dumps(key)
        tables.setdefault(table, []).append(f"{bare} = {said}")
    return "\n".join(
        "\n".join([f"[{table}]", *lines, ""]) for table, lines in tables.items()
    )


def _check(name: str, value: object, known: Mapping[str, str]) -> None:
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
    words = OF_QUESTIONS if name.startswith(QUESTIONS) else set()
    if found - words == needed - words:
        return
    has = _listed(found)
    if words and needed <= words:
        wants = f"may have the fields {_listed(words)}"
    else:
        wants = f"needs the fields {_listed(needed - words)}"
        wants += f", may have {_listed(words)}" if words else ""
    raise ValueError(
        f"{name!r} {wants}, and has {has}; a brace of its own is written twice",
    )


def _listed(fields: set[str]) -> str:
    return ", ".join(f"{{{each}}}" for each in sorted(fields)) or "none"


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

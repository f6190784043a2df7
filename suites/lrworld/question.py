"""The questions of the benchmark, the needs of each kind, and their files.

Kinds and measures are those of "The Mental World of Large Language Models in
Recommendation: A Benchmark on Association, Personalization, and Knowledgeability" (Hu,
table 1 and figure 4): 31 measures, each a kind of question on one of three datasets;
and the two kinds of its tables 7 and 8 on Last.fm.
"""

import dataclasses
import hashlib
import json
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.files import (
    MOST_DATA,
    content_of,
    failing_as,
    look_alike,
    written_or,
)
from pytest_recsys_mt.suites.lrworld.same import form

ScaleName = Literal["association", "personalization", "knowledgeability"]

SCHEMA: Final = "lrworld-questions/1"
"""Schema of the files that `save` writes."""


@dataclass(frozen=True)
class Question:
    """One question of the benchmark.

    A prompt shows ``target``, a text, or for ``rules`` the texts of the antecedent; or
    ``history``, texts, oldest first. The evidence says to a reader why the answer is
    right: the score of the right option and the greatest of a wrong one, or the item
    behind the right option. Both are plain JSON, whose lists become tuples.

    Raises:
        DataError: If the answer is not one of the options, or two options are alike.
    """

    id: str  # unique within one call of `generate`: ``cast-0001``
    measure: str  # the kind of question, a key of `KINDS`
    scale: ScaleName
    factor: str
    domain: str  # word for the items: ``movie``, ``product``, ``artist``, ``item``
    shown: Mapping[str, Any] = field(hash=False)
    options: tuple[str, ...]  # no two alike
    answer: int  # place of the right option, from 0
    images: tuple[
        str,
        ...,
    ] = ()  # the picture of the latest item of the history: paths, data URLs
    # Interactions of the item behind it; None for a user.
    popularity: float | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("shown", "evidence", "options", "images"):
            object.__setattr__(self, name, _settled(getattr(self, name)))
        if not 0 <= self.answer < len(self.options):
            raise DataError(
                f"question {self.id!r}: answer {self.answer!r} is not a place among its "
                f"{len(self.options)} options; places count from 0",
            )
        if len(set(self.options)) < len(self.options):
            raise DataError(
                f"question {self.id!r} has two equal options, so that no answer is right: "
                f"{self.options!r}",
            )

    @property
    def right(self) -> str:
        """The text of the right option."""
        return self.options[self.answer]

    @cached_property
    def told(self) -> frozenset[str]:
        """The texts that it shows as an example, in the form of `same`:
        items, whole histories, and its right answer.
        """
        target = self.shown.get("target", ())
        items = (
            *self.shown.get("history", ()),
            *((target,) if isinstance(target, str) else target),
        )
        return frozenset(
            form(str(text)) for text in (*items, " ".join(items), self.right)
        )


@dataclass(frozen=True)
class Kind:
    """A kind of question."""

    name: str
    scale: ScaleName
    factor: str
    options: int  # number of options of a question
    needs: tuple[str, ...] = ()  # attributes of items that the data must have
    shows: str = "label"  # in a history: ``label``, or an attribute


@dataclass(frozen=True)
class Measure:
    """One of the 31 measures, or of the two on Last.fm:
    a kind of question on a dataset.
    """

    dataset: str
    domain: str  # the word for its items
    kind: Kind

    @property
    def name(self) -> str:
        """The name of the kind, as in `Question.measure`; unique in one dataset."""
        return self.kind.name

    @property
    def scale(self) -> ScaleName:
        """Scale of the kind."""
        return self.kind.scale

    @property
    def factor(self) -> str:
        """Factor of the kind."""
        return self.kind.factor

    @property
    def options(self) -> int:
        """Number of options of a question."""
        return self.kind.options

    @property
    def needs(self) -> tuple[str, ...]:
        """Attributes that items must have."""
        return self.kind.needs


def _kinds() -> dict[str, Kind]:
    own: tuple[tuple[str, ScaleName, str], ...] = (
        ("rules", "association", "association rules mining"),
        ("similar_items", "personalization", "memory-based item-item similarity"),
        ("similar_users", "personalization", "memory-based user-user similarity"),
        (
            "item_to_users",
            "personalization",
            "neural item embedding retrieving its matched users",
        ),
        (
            "user_to_items",
            "personalization",
            "neural user embedding retrieving her matched items",
        ),
    )
    known = (
        ("cast", "<entity, relation, entity>", "cast"),
        ("director", "<entity, relation, entity>", "directors"),
        ("brand", "<entity, relation, entity>", "brand"),
        ("genre", "<entity, attribute>", "genres"),
        ("colour", "<entity, attribute>", "colour"),
        ("leaf", "<entity, (hierarchical) taxonomy>", "categories"),
        ("intermediate", "<entity, (hierarchical) taxonomy>", "categories"),
        ("root", "<entity, (hierarchical) taxonomy>", "categories"),
        ("logline", "text knowledge reasoning", "logline"),
        ("image", "multimodal knowledge", "image_description"),
    )
    kinds = [Kind(name, scale, factor, 10) for name, scale, factor in own]
    for name, factor, needs in known:
        shows = needs if name in ("logline", "image") else "label"
        kinds.append(Kind(name, "knowledgeability", factor, 4, (needs,), shows))
    kinds.append(Kind("next_item", "personalization", "next item", 20))
    return {kind.name: kind for kind in kinds}


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(_kinds())
"""The kinds of question by name.

Attributes of items that they read: ``cast``, ``directors`` and ``genres`` (names, a
tuple), ``brand`` and ``colour`` (a text, or a tuple of texts), ``categories`` (a path,
the root first, the leaf last), ``logline`` (a sentence), ``image`` (a path or a data
URL) and ``image_description`` (a multimodal model's description of the image; a
product's own ``description`` is not read).

``next_item`` has the 20 candidates of LLaRA's benchmark on Last.fm.
"""

_SHARED: Final = (
    "rules",
    "similar_items",
    "similar_users",
    "item_to_users",
    "user_to_items",
)
_FILMS: Final = ("cast", "director", "genre", "logline", "image")
_PRODUCTS: Final = ("brand", "colour", "leaf", "intermediate", "root", "image")

MEASURES: Final[tuple[Measure, ...]] = tuple(
    Measure(dataset, domain, KINDS[name])
    for dataset, domain, names in (
        ("movielens", "movie", _SHARED + _FILMS),
        ("netflix", "movie", _SHARED + _FILMS),
        ("amazon", "product", _SHARED + _PRODUCTS),
    )
    for name in names
)
"""The 31 measures, in the order of the paper's tables."""

LASTFM: Final[tuple[Measure, ...]] = tuple(
    Measure("lastfm", "artist", KINDS[name]) for name in ("next_item", "genre")
)
"""The two measures of tables 7 and 8."""


def save(
    questions: Collection[Question],
    path: Path | str,
    *,
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write questions as lines of JSON, completely or not at all, in place of an
    existing file.

    The first line holds ``schema``, ``digest`` (SHA-256 of the rest), ``seed`` and
    ``settings``, plain JSON; each further line holds one question. Equal questions give
    equal files.

    Raises:
        DataError: If the file cannot be written.
    """
    lines = [_canonical(dataclasses.asdict(question)) for question in questions]
    about: dict[str, Any] = {
        "schema": SCHEMA,
        "seed": seed,
        "settings": dict(settings or {}),
    }
    head = _canonical({**about, "digest": _digest(about, lines)})
    write_lines((head, *lines), path)


def write_lines(lines: Iterable[str], path: Path | str) -> None:
    """Write lines completely or not at all; `DataError` if the file cannot be written."""
    with written_or(DataError, Path(path)) as stream:
        stream.writelines(f"{line}\n" for line in lines)


def load(path: Path | str) -> tuple[Question, ...]:
    """The questions of a file that `save` wrote; raises `DataError` if there is no such
    file, or it has another format or was changed.
    """
    return read_file(Path(path))[1]


def header(path: Path | str) -> Mapping[str, Any]:
    """The first line of a file that `save` wrote: schema,
    digest, seed and settings; raises as `load`.
    """
    return read_file(Path(path))[0]


def digest_of(questions: Collection[Question]) -> str:
    """SHA-256 of the questions, in hexadecimal, without
    their explanations, such as the evidence.
    """
    asked = [
        [each.id, each.measure, each.domain, each.shown, each.options, each.answer]
        for each in questions
    ]
    return hashlib.sha256(_canonical(asked).encode()).hexdigest()


def read_file(path: Path) -> tuple[dict[str, Any], tuple[Question, ...]]:
    """The first line of a file that `save` wrote, and its questions; raises as `load`."""
    remedy = (
        f"{look_alike(path)}recsys-mt questions {shlex.quote(str(path))} writes one"
    )
    with failing_as(DataError, f"{str(path)!r} cannot be read", remedy):
        content = content_of(path, MOST_DATA)
    try:
        head, *lines = content.decode("utf-8").split("\n")
        about = json.loads(head)
        digest, schema = about.pop("digest"), about["schema"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path}:1: not the first line of a file of questions ({error}); write one with "
            f"recsys-mt questions",
        ) from error
    if schema != SCHEMA:
        raise DataError(
            f"{path}:1: schema {schema!r} is not {SCHEMA!r}; make the file anew "
            f"with recsys-mt questions, or install the version that wrote it",
        )
    if lines and not lines[-1]:
        del lines[-1]
    found = _digest(about, lines)
    if found != digest:
        raise DataError(
            f"{path}: the questions have the SHA-256 {found}, but the first line says {digest!r}: "
            f"the file was cut short or changed; generate it anew from the seed {about['seed']!r}",
        )
    questions = []
    for number, line in enumerate(lines, 2):
        try:
            fields = json.loads(line)
            if fields["scale"] not in get_args(ScaleName):
                raise DataError(
                    f"scale {fields['scale']!r} is not one of {get_args(ScaleName)!r}",
                )
            for name in ("id", "measure", "domain", "factor"):
                if not isinstance(fields[name], str):
                    raise DataError(f"{name} {fields[name]!r} is no text")
            questions.append(Question(**fields))
        except (ValueError, TypeError, KeyError, DataError, RecursionError) as error:
            raise DataError(f"{path}:{number}: not a question: {error}") from error
    return {**about, "digest": digest}, tuple(questions)


def _digest(about: Mapping[str, Any], lines: Collection[str]) -> str:
    total = hashlib.sha256(_canonical(about).encode())
    for line in lines:
        total.update(f"\n{line}".encode())
    return total.hexdigest()


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _settled(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _settled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_settled(item) for item in value)
    return value

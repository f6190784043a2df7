"""The optional attributes and methods of an object that answers, next to its one
method: the whole protocol, with its one reader.

A recommender needs `recommend`, a text model `complete`, a judge `judge`. Everything
here is optional, so that users' objects stay plain, and is read by `declares`,
`method_of`, `identity_of`, `fingerprint_of`, `ignored_by`, `promises_of`,
`latest_read_by`, `stages_of` and `notes_of` alone. Besides, an object may have a ``name`` for
reports, and an object made from a spec a ``max_wait`` and an ``ahead``, which the run
sets; `engine.made_recommenders` reads them.
"""

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, get_args

from pytest_recsys_mt.requests import Aspect, Promised
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.redaction import without_keys

Flag = Literal[
    "deterministic", "seeded", "reads_text", "live", "scores_choices", "takes_schema", "lists_as_json",
    "lists_offered", "reads_images", "apart", "any_length",
]  # fmt: skip
"""Attributes that are true or false.

* ``deterministic``: equal questions always get equal answers.
* ``seeded``: a question that is sent again with the same seed gets the same answer.
  The seed of a prompt is `Prompt.seed`; a request has none of its own, and an object
  that draws takes one from `Request.user` and `Request.replicate`.
* ``reads_text``: of a recommender: it uses a request's instruction and the edits of its
prompt.
* ``live``: of a recommender: it can answer any request; recorded answers cannot.
* ``scores_choices``, ``takes_schema``, ``reads_images``: of a text model: it scores
  `Prompt.choices`, can be forced to answer in `Prompt.schema`, sees `Message.images`.
* ``lists_as_json``: of a text model: its prompts ask for recommendations as JSON, with
a schema.
* ``lists_offered``: the same, and the schema allows the offered titles alone.
* ``apart``: of a judge: it judges each aspect by itself.
* ``any_length``: of a stage of a recommender: its lists are longer than asked for.
"""

Method = Literal[
    "fit", "same_question", "recommend_each", "complete_each", "prompt_tokens", "body", "also",
    "wind_down", "in_flight", "rate", "require_key", "close",
]  # fmt: skip
"""Methods in addition to the one that answers.

* ``fit(dataset, seed)``: of a recommender: called once before the first request.
* ``same_question(one, other)``: of a recommender: whether two requests look the same to
it.
* ``recommend_each(requests)``, ``complete_each(prompts)``: answers with their
  positions, as they arrive; those that arrived together in one list.
* ``prompt_tokens(prompt)``, ``body(prompt)``: of a text model: the length of a prompt,
  and the request that an endpoint gets.
* ``also(prompts)``: of a text model: answers these prompts too in the ``complete_each``
  that is being read, which numbers them on; returns whether it can.
* ``wind_down()``: of a text model: sends nothing more of the current batch; returns
whether it can.
* ``in_flight()``: of a text model: the positions of the prompts that may have been paid
  for, although ``complete_each`` yielded no answer.
* ``rate(showings)``: of a judge: scores of single lists.
* ``require_key()``: raises a `RecommenderError` if the server wants a key and the
environment has none.
* ``close()``: called when the run ends.
"""


def declares(asked: object, flag: Flag) -> bool:
    """The declarations of an object; `live` is true by default, all else false."""
    return bool(getattr(asked, flag, flag == "live"))


def promises_of(asked: object) -> frozenset[Promised]:
    """The attribute ``promises``: a `Promised`, or several."""
    return _words(
        asked,
        "promises",
        get_args(Promised),
        "what a recommender may promise is",
    )


def ignored_by(asked: object) -> frozenset[Aspect]:
    """The attribute ``ignores``: a part of a request
    (`Aspect`) that it does not read, or several.
    """
    return _words(asked, "ignores", get_args(Aspect), "the parts of a request are")


def latest_read_by(asked: object) -> int | None:
    """The attribute ``reads_latest``: how many of a history's latest items it reads at
    most; None without a limit.

    Raises:
        RecommenderError: If it is no whole number from 1.
    """
    latest = getattr(asked, "reads_latest", None)
    if latest is None or (type(latest) is int and latest >= 1):
        return latest
    raise RecommenderError(
        f"{type(asked).__name__}.reads_latest is {latest!r}; it says how many of a history's latest items are read at "
        f"most, a whole number from 1: write reads_latest = 50, or leave it out if all are read",
    )


def stages_of(asked: object) -> tuple[str, ...]:
    """The attribute ``stages``: the methods that show the stages of a recommender, in
    the order in which it takes them.

    Raises:
        RecommenderError: If it is no list of names of its methods.
    """
    stages = getattr(asked, "stages", ())
    is_list = isinstance(stages, Sequence) and not isinstance(stages, str)
    names: list[Any] = list(stages) if is_list else [stages]
    for name in names:
        if not isinstance(name, str) or not callable(getattr(asked, name, None)):
            raise RecommenderError(
                f"{type(asked).__name__}.stages holds {name!r}, which is no method of it; write the names of its "
                f'methods, as in stages = ("retrieve", "rank")',
            )
    return tuple(names)


def check_declared(asked: object) -> None:
    """Check the declarations of an object that are plain attributes; the value of a
    property is known once it is fitted.

    Raises:
        RecommenderError: If a value is not allowed, or contradicts
            another one.
    """
    stated = {}
    for name, read in _READERS.items():
        if not _is_computed(asked, name):
            stated[name] = read(asked)
    for flag in ("deterministic", "seeded"):
        value = None if _is_computed(asked, flag) else getattr(asked, flag, None)
        # Not bool alone: numpy has truth values of its own.
        if isinstance(value, str) or (value is not None and value not in (True, False)):
            raise RecommenderError(
                f"{type(asked).__name__}.{flag} is {value!r}; write {flag} = True, or leave it out",
            )
    _check_for_contradictions(type(asked).__name__, stated)


def _is_computed(asked: object, name: str) -> bool:
    return isinstance(inspect.getattr_static(asked, name, None), property)


_READ_BY: Mapping[str, Collection[str]] = {
    "ratings": ("ratings", "history"),
    "recency": ("history",),
    "order": ("history",),
    "titles": ("titles",),
}
"""The parts that a recommender must read to keep a promise."""


def _check_for_contradictions(model: str, stated: Mapping[str, Any]) -> None:
    ignored = stated.get("ignores", frozenset())
    for promised in sorted(stated.get("promises", ())):
        for aspect in _READ_BY.get(promised, ()):
            if aspect in ignored:
                raise RecommenderError(
                    f"{model}.promises holds {promised!r}, but {model}.ignores says that it does not read "
                    f"{aspect!r}; leave one of the two out",
                )
    if "history" in ignored and stated.get("reads_latest") is not None:
        raise RecommenderError(
            f"{model}.reads_latest is {stated['reads_latest']!r}, but {model}.ignores says that it does not read "
            f"'history'; leave one of the two out",
        )


_DECLARED = (
    "deterministic", "seeded", "reads_text", "promises", "ignores", "reads_latest", "fingerprint", "identity",
    "stages",
)  # fmt: skip
"""The attributes that users write; a name near to one of these may be a
typing error.
"""

_NEAR = 0.85
"""How alike, for difflib, such a name is: ``promise`` is to ``promises`` (0.93),
``seed`` is not to ``seeded`` (0.8).
"""


def misspelt(asked: object) -> list[str]:
    """Attributes of an object that nothing reads and whose names
    are near to those that are read, in sentences.
    """
    own = {
        name: value
        for kind in type(asked).__mro__[:-1]
        for name, value in vars(kind).items()
    }
    own.update(getattr(asked, "__dict__", {}))
    sentences = []
    for name, value in sorted(own.items()):
        if name.startswith("_") or callable(value) or name in _DECLARED:
            continue
        for meant in difflib.get_close_matches(name, _DECLARED, n=1, cutoff=_NEAR):
            sentences.append(
                f"{type(asked).__name__} has an attribute {name!r}, which nothing reads; did you mean {meant!r}?",
            )
    return sentences


def _words(
    asked: object,
    attribute: str,
    known: Sequence[str],
    which: str,
) -> frozenset[Any]:
    said = getattr(asked, attribute, ())
    words = (
        [said]
        if isinstance(said, str) or not isinstance(said, Collection)
        else list(said)
    )
    for word in words:
        if word not in known:
            raise RecommenderError(
                f"{type(asked).__name__}.{attribute} holds {word!r}; {which} {', '.join(map(repr, known))}: "
                f"write {attribute} = {tuple(known[:1])!r}",
            )
    return frozenset(words)


def method_of(asked: object, name: Method) -> Callable[..., Any] | None:
    """A method that an object may have."""
    method: Callable[..., Any] | None = getattr(asked, name, None)
    return method


def identity_of(asked: object) -> Mapping[str, object] | None:
    """The attribute ``identity``: all that its answers depend on, for the cache key. A
    key stands there by the name of its variable, as the cache may be exported.
    """
    identity = getattr(asked, "identity", None)
    return without_keys(identity) if isinstance(identity, Mapping) else None


def fingerprint_of(asked: object) -> Any:
    """The attribute ``fingerprint``: it changes with all that an answer depends on;
    None without one.

    It holds no key, as the `identity_of` an object does not.
    """
    return without_keys(getattr(asked, "fingerprint", None))


def identity_in_key(asked: object, name: str, fixture: str) -> dict[str, Any]:
    """The facts that the answers of `asked` depend on, as far as known, so that no two
    share an answer.

    Args:
        asked: A recommender, or the text model of one.
        name: Its name in reports.
        fixture: The fixture that gave it; empty for a spec.
    """
    identity = identity_of(asked)
    if identity is not None:  # omits parts of its spec that do not affect answers
        return dict(identity)
    own = {"fixture": fixture} if fixture else {}
    return {"recommender": name, "fingerprint": fingerprint_of(asked), **own}


def notes_of(asked: object) -> list[str]:
    """The attribute ``notes``: sentences on requests that were
    sent otherwise than the user said.
    """
    notes = getattr(asked, "notes", None)
    return (
        [note for note in notes if isinstance(note, str)]
        if isinstance(notes, list)
        else []
    )


_READERS: Mapping[str, Callable[[object], object]] = {
    "promises": promises_of,
    "ignores": ignored_by,
    "reads_latest": latest_read_by,
    "stages": stages_of,
}
"""The attributes with a limited set of values, and the reader of each."""

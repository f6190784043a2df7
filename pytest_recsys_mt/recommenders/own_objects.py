"""Recommenders that users' own objects are: ``package.module:name`` and
``path/to/file.py:name``.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pytest_recsys_mt.recommenders import stages
from pytest_recsys_mt.requests import Recommender, TextModel, specs
from pytest_recsys_mt.safety.errors import RecommenderError

VERBS: Mapping[str, str] = {
    "recommend": "recommend(requests)",
    "complete": "complete(prompts)",
}
"""The methods of the protocols, with their arguments."""

RECOMMENDS = ("recommend", "complete")
"""An object with any of these methods recommends."""

DESCRIBES = ("complete",)
"""An object with this method describes users."""


def from_object(
    found: Any,
    given: Mapping[str, str],
    spec: str,
    verbs: Sequence[str] = RECOMMENDS,
) -> Recommender | TextModel:
    """The recommender that an object is, or that a class or factory makes of the
    `given` arguments; or the stage of it that these name (see `stages`).

    It must have one of the methods `verbs`: names, with their arguments where the error
    is to show other ones than `VERBS`.
    """
    stage = given.get(stages.PARAMETER)
    if stage is not None and not _has_parameter(found, stages.PARAMETER):
        others = {
            name: text for name, text in given.items() if name != stages.PARAMETER
        }
        whole = from_object(found, others, spec, verbs)
        return stages.stage_of(whole, stage, spec)
    if isinstance(found, type) or (callable(found) and not does(found, verbs)):
        built = specs.build(found, given, spec)
    elif given:
        raise RecommenderError(
            f"{spec!r} names an object that is built already, so it takes no parameters "
            f"({', '.join(map(repr, given))}); name its class or a factory",
        )
    else:
        built = found
    if not does(built, verbs):
        kind = type(built).__qualname__
        if len(verbs) == 1:
            raise RecommenderError(
                f"{spec!r} gives a {kind} without {_in_full(verbs[0])!r}",
            )
        named = " nor ".join(map(_in_full, verbs))
        raise RecommenderError(
            f"{spec!r} gives an object of class {kind}; it has neither {named}: add one of them",
        )
    return cast("Recommender | TextModel", built)


def _has_parameter(found: Any, name: str) -> bool:
    """Whether a class or factory takes an argument of this name itself."""
    try:
        return name in inspect.signature(found).parameters
    except (TypeError, ValueError):
        return False


def name_of(verb: str) -> str:
    """The name of a method that may stand with its arguments."""
    return verb.partition("(")[0]


def _in_full(verb: str) -> str:
    return VERBS.get(verb, verb)


def does(found: Any, verbs: Sequence[str]) -> bool:
    """Whether an object has one of the methods `verbs`."""
    return any(callable(getattr(found, name_of(verb), None)) for verb in verbs)

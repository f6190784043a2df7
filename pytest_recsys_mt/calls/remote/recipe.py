"""The data that a run sends to an actor: how to make the recommender, and the calls.

Neither contains the API key. An actor reads it from the environment of its own machine.
"""

import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_recsys_mt.calls.call import Call
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.calls.text_subject import TextSubject
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.sanitize import one_line

OURS = __name__.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make one recommender.

    Attributes:
        name: Its name in reports and in the record.
        make: Returns the recommender, not fitted.
        prompt: The template for text models.
        seed: That of its fit.
        fixture: The fixture that gave it; empty for a spec.
        timeout: Most seconds for one call of a method; None for no limit.
    """

    name: str
    make: Callable[[], object]
    prompt: str
    seed: int
    fixture: str = ""
    timeout: float | None = None


def itself(recommender: object) -> object:
    """The recommender of a fixture, which is sent as it is."""
    return recommender


def pack_recipe(recipe: Recipe, recommender: object) -> bytes:
    """`recipe` as bytes."""
    try:
        return _pack(recipe, [recommender])
    except Exception as error:
        raise RecommenderError(
            f"{recipe.name} cannot be sent to Ray's actors: pickling the recommender raised "
            f"{type(error).__name__}: {one_line(str(error))[:200]}; name it by a spec, as in "
            f"--recsys-model=package.module:factory, so that each actor makes its own, or open "
            f"connections and locks only when they are first used",
        ) from error


def pack_calls(calls: Sequence[Call]) -> bytes:
    """`calls` as bytes, with the test's own prompt edits."""
    requests = [call.request for call in calls if call.request is not None]
    edits = [edit for request in requests for edit in request.edits]
    try:
        return _pack(list(calls), edits)
    except Exception as error:
        raise RecommenderError(
            f"a request cannot be sent to Ray's actors: {type(error).__name__}: "
            f"{one_line(str(error))[:200]}; its attributes and edits must be plain data",
        ) from error


def unpack(packed: bytes) -> Any:
    """Unpack bytes; only the run's own actors call this,
    on bytes that only its driver wrote.
    """
    from ray import cloudpickle

    return cloudpickle.loads(packed)


def same_call(known: Subject, wanted: Call) -> Call:
    """The call that `known` makes of the question of `wanted`."""
    if wanted.request is not None:
        return known.call(wanted.request, bool(wanted.content["repeat"]))
    if not isinstance(known, TextSubject) or wanted.prompt is None:
        raise RecommenderError(f"{known.name} reads no prompts there")
    return known.prompt_call(wanted.prompt, int(wanted.content["replicate"]))


def difference(here: Call, there: Call) -> str:
    """How the models of two calls differ; if they do not, that the questions differ."""
    model_here = here.content["model"]
    model_there = there.content["model"]
    differences: list[str] = []
    for name in sorted({*model_here, *model_there}):
        value_here = model_here.get(name)
        value_there = model_there.get(name)
        if value_here != value_there:
            differences.append(
                f"{name} is {value_there!r} there and {value_here!r} here",
            )
    return one_line("; ".join(differences))[:400] or "the question differs"


def _pack(value: object, carrying: Sequence[object]) -> bytes:
    """Pickle; classes of modules that are not installed
    (test files, conftest) go by value.
    """
    from ray import cloudpickle

    module_names = {type(carried).__module__ for carried in carrying}
    modules = [sys.modules[name] for name in sorted(module_names) if _is_loose(name)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        packed: bytes = cloudpickle.dumps(value)  # pyright: ignore[reportPrivateImportUsage]
        return packed
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _is_loose(name: str) -> bool:
    """Whether a module is a file of the user's that is not
    installed, so that an actor may not find it.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or name.partition(".")[0] == OURS:
        return False
    folders = Path(file).resolve().parents
    for kind in ("stdlib", "purelib", "platlib"):
        installed = Path(sysconfig.get_path(kind)).resolve()
        if installed in folders:
            return False
    return True

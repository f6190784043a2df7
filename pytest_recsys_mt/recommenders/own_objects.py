"""Users' own recommenders: ``package.module:name`` and ``path/to/file.py:name``."""

import difflib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from pytest_recsys_mt.recommenders import stages
from pytest_recsys_mt.requests import Recommender, TextModel, specs
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.files import expanded
from pytest_recsys_mt.safety.raised import with_traceback

_FILE_MODULE = "_recsys_mt_file_"

VERBS: Mapping[str, str] = {
    "recommend": "recommend(requests)",
    "complete": "complete(prompts)",
}
"""The methods of the protocols, with their arguments."""

RECOMMENDS = ("recommend", "complete")
"""An object with any of these methods recommends."""

DESCRIBES = ("complete",)
"""An object with this method describes users."""


def in_file(path: str, name: str, spec: str, verbs: Sequence[str] = ()) -> Any:
    """The object `name` in a Python file.

    The file runs as a module named after its whole path, so two files with one name do
    not clash. It stays in `sys.modules`, so dataclasses and pickling work. It runs once
    per process.

    Raises:
        RecommenderError: If there is no such file or name, or the file raises.
    """
    file = expanded(path)
    if not os.path.isfile(file):
        raise RecommenderError(
            f"{spec!r}: there is no file {str(file)!r} (looked in {str(Path.cwd())!r}){_nearby(file)}",
        )
    file = file.resolve()
    digest = blake2b(
        str(file).encode("utf-8", "surrogateescape"),
        digest_size=6,
    ).hexdigest()
    alias = f"{_FILE_MODULE}{digest}_{file.stem}"
    if alias not in sys.modules:
        _execute(file, alias, spec)
    return _attribute(sys.modules[alias], name, str(file), spec, verbs)


def in_module(module: str, name: str, spec: str, verbs: Sequence[str] = ()) -> Any:
    """The object `name` in an importable module;
    raises `RecommenderError` as `in_file`.
    """
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        text = f"{spec!r}: importing {module!r} raised"
        raise RecommenderError(with_traceback(text, error)) from error
    return _attribute(loaded, name, module, spec, verbs)


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
    if isinstance(found, type) or (callable(found) and not _does(found, verbs)):
        built = specs.build(found, given, spec)
    elif given:
        raise RecommenderError(
            f"{spec!r} names an object that is built already, so it takes no parameters "
            f"({', '.join(map(repr, given))}); name its class or a factory",
        )
    else:
        built = found
    if not _does(built, verbs):
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


def qualified_name(loaded: Any) -> str:
    """Module and class of an object,
    ``shop.models:Ranker``; for a file ``shop.py:Ranker``.
    """
    kind = type(loaded)
    module = kind.__module__
    if module.startswith(_FILE_MODULE):
        module = module.removeprefix(_FILE_MODULE).partition("_")[2] + ".py"
    return f"{module}:{kind.__qualname__}"


def name_of(verb: str) -> str:
    """The name of a method that may stand with its arguments."""
    return verb.partition("(")[0]


def _in_full(verb: str) -> str:
    return VERBS.get(verb, verb)


def _does(found: Any, verbs: Sequence[str]) -> bool:
    return any(callable(getattr(found, name_of(verb), None)) for verb in verbs)


def _execute(file: Path, alias: str, spec: str) -> None:
    blueprint = importlib.util.spec_from_file_location(alias, file)
    if blueprint is None or blueprint.loader is None:
        raise RecommenderError(f"{spec!r}: {str(file)!r} is not a Python file")
    module = importlib.util.module_from_spec(blueprint)
    sys.modules[alias] = module
    folder = str(file.resolve().parent)
    if (
        folder not in sys.path
    ):  # as for a script, so that it can import the files next to it
        sys.path.append(folder)
    try:
        blueprint.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[alias]
        text = f"{spec!r}: running {str(file)!r} raised"
        raise RecommenderError(with_traceback(text, error)) from error


def _attribute(
    module: ModuleType,
    name: str,
    where: str,
    spec: str,
    verbs: Sequence[str],
) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [key for key in vars(module) if not key.startswith("_")]
            able = [key for key in public if _does(getattr(module, key), verbs)]
            hint = difflib.get_close_matches(name, public) or able
            raise RecommenderError(
                f"{spec!r}: {where!r} has no {name!r}"
                + (f"; did you mean {' or '.join(map(repr, hint))}?" if hint else ""),
            )
        found = getattr(found, part)
    return found


def _nearby(file: Path) -> str:
    if not file.parent.is_dir():
        return f"; the folder {str(file.parent.absolute())!r} does not exist either"
    near = difflib.get_close_matches(
        file.name,
        [path.name for path in file.parent.glob("*.py")],
    )
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""

"""Users' own code: the objects in ``path/to/file.py:name`` and ``package.module:name``."""

import difflib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.safety.files import expanded
from pytest_recsys_mt.safety.raised import with_traceback

_FILE_MODULE = "_recsys_mt_file_"

Suits = Callable[[Any], bool]
"""Whether an object can be what a spec stands for; errors propose those."""


def _no_object(_: Any) -> bool:
    return False


def split(target: str) -> tuple[str, str] | None:
    """The file or module of an object, and its name; None if a spec without its
    parameters names none: ``shop.py:load`` and ``shop.models:Ranker`` do.
    """
    where, colon, name = target.rpartition(":")
    if not colon or not is_dotted(name):
        return None
    if PurePath(where).suffix == ".py":
        return where, name
    if is_dotted(where) and is_importable(where.partition(".")[0]):
        return where, name
    return None


def find(where: str, name: str, spec: str, suits: Suits = _no_object) -> Any:
    """The object `name` in a Python file or an importable module.

    Args:
        where: The file or the module, as `split` gives it.
        name: The name in it, which may have dots.
        spec: Stands in errors.
        suits: Chooses what an error proposes where there is no such name.

    Raises:
        RecommenderError: If there is no such file, module or name, or its code raises.
    """
    if PurePath(where).suffix == ".py":
        return in_file(where, name, spec, suits)
    return in_module(where, name, spec, suits)


def in_file(path: str, name: str, spec: str, suits: Suits = _no_object) -> Any:
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
    return _attribute(sys.modules[alias], name, str(file), spec, suits)


def in_module(module: str, name: str, spec: str, suits: Suits = _no_object) -> Any:
    """The object `name` in an importable module;
    raises `RecommenderError` as `in_file`.
    """
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        text = f"{spec!r}: importing {module!r} raised"
        raise RecommenderError(with_traceback(text, error)) from error
    return _attribute(loaded, name, module, spec, suits)


def qualified_name(loaded: Any) -> str:
    """Module and class of an object,
    ``shop.models:Ranker``; for a file ``shop.py:Ranker``.
    """
    kind = type(loaded)
    module = kind.__module__
    if module.startswith(_FILE_MODULE):
        module = module.removeprefix(_FILE_MODULE).partition("_")[2] + ".py"
    return f"{module}:{kind.__qualname__}"


def is_dotted(name: str) -> bool:
    """Whether a text is names with dots between them."""
    return all(part.isidentifier() for part in name.split("."))


def is_importable(package: str) -> bool:
    """Whether a package can be imported, if need be from the current folder, which then
    is looked in.
    """
    if package in sys.modules or importlib.util.find_spec(package) is not None:
        return True
    here = Path.cwd()
    if not ((here / f"{package}.py").is_file() or (here / package).is_dir()):
        return False
    sys.path.append(str(here))
    importlib.invalidate_caches()
    return importlib.util.find_spec(package) is not None


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
    suits: Suits,
) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [key for key in vars(module) if not key.startswith("_")]
            able = [key for key in public if suits(getattr(module, key))]
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

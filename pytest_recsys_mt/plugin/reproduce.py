"""The command that reproduces a verdict."""

import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.extensions.options import Option
from pytest_recsys_mt.plugin.collection import model_ids
from pytest_recsys_mt.plugin.items import fixtures_of, parameters_of
from pytest_recsys_mt.plugin.resolving import changed
from pytest_recsys_mt.safety.redaction import holds_secret
from pytest_recsys_mt.safety.sanitize import slug

FIRST = ("model", "data", "seed", "users")
"""Options that every command contains; the mode comes last."""

_TAKE_A_VALUE = frozenset(
    {
        "-c",
        "--config-file",
        "--rootdir",
        "--confcutdir",
        "--import-mode",
        "-p",
        "-o",
        "--override-ini",
    },
)
"""Options of pytest whose value may be a word of its own."""

_FINDING = re.compile(
    r"-c|--config-file=|--rootdir=|--confcutdir=|--import-mode=|-p(?!=?no:)|"
    r"(?:-o|--override-ini)=?(?:pythonpath|python_\w+|testpaths)=",
)
"""Options of pytest that decide in which file a test is
found, and how the file is imported.
"""


def command(
    item: pytest.Item,
    settings: Settings,
    replayable: bool,
    shrink: int = 0,
) -> str:
    """The shell command that runs one test of this run with the same requests.

    Run it in the folder in which this run began. It contains no workers, no files to
    write and no keys.

    Args:
        item: The test.
        settings: The settings of this run.
        replayable: Whether the cache holds all answers, so that the command needs to
            send nothing.
        shrink: How many calls the command spends on smallest examples; 0 for as many as
            this run.

    Returns:
        The command; empty if a spec contains a text that looks like a key.
    """
    config = item.config
    changed_options = changed(config)
    models = _models(item, settings)
    if any(holds_secret(spec) for spec in [*models, *_other_specs(changed_options)]):
        return ""
    words = [*_program(config), *_finding(config), *_address(item, settings)]
    words += [f"--recsys-model={model}" for model in models]
    words.append(f"--recsys-data={settings.data}")
    words.append(f"--recsys-seed={settings.seed}")
    words.append(f"--recsys-users={settings.design.users}")
    for option, value in changed_options.items():
        is_set_otherwise = option.name in FIRST or option.name == "mode"
        is_replaced = shrink != 0 and option.name == "shrink"
        if not is_set_otherwise and not is_replaced:
            words += _option_words(option, value)
    if settings.baseline is not None:
        # A run with a baseline sends the requests of all users at once; so must this
        # command.
        words.append("--recsys-keep=baseline")
    if shrink:
        words.append(f"--recsys-shrink={shrink}")
    mode = "replay" if replayable else "auto"
    words.append(f"--recsys-mode={mode}")
    return shlex.join(words)


def _other_specs(options: Mapping[Option, Any]) -> list[str]:
    """The specs of recommenders that options give, other than those under test."""
    return [
        str(value)
        for option, value in options.items()
        if option.metavar == "SPEC" and option.name != "model"
    ]


def _option_words(option: Option, value: Any) -> list[str]:
    """The words that give an option its value."""
    values = value if isinstance(value, tuple) else (value,)
    texts = [str(each) for each in values]
    if option.settled:
        # An ini key takes the values of a repeatable option as arguments of a shell.
        text = shlex.join(texts) if option.repeatable else ",".join(texts)
        return ["-o", f"{option.dest}={text}"]
    if option.flag:
        return [option.switch] if value else []
    if option.repeatable:
        return [f"{option.switch}={text}" for text in texts]
    return [f"{option.switch}={','.join(texts)}"]


def _models(item: pytest.Item, settings: Settings) -> Sequence[str]:
    """The specs of the recommenders that a test is run with."""
    model = parameters_of(item).get("recsys_model")
    if model is not None:
        return [str(model)]
    if "recsys_recommenders" in fixtures_of(item):
        return settings.models
    return ()


def _program(config: pytest.Config) -> Sequence[str]:
    arguments = getattr(config, "workerinput", {}).get("mainargv", sys.argv)
    if Path(arguments[0]).name == "__main__.py":
        return ["python", "-m", "pytest"]
    return ["pytest"]


def _finding(config: pytest.Config) -> Iterator[str]:
    """The words of this run's command that decide where tests
    are found and how they are imported.
    """
    words = [str(argument) for argument in config.invocation_params.args]
    for word, following in pairwise([*words, ""]):
        if word not in _TAKE_A_VALUE:
            if _FINDING.match(word):
                yield word
        elif _FINDING.match(f"{word}={following}"):
            yield word
            yield following


def _address(item: pytest.Item, settings: Settings) -> Sequence[str]:
    """The words that select a test: its id, by a module's
    name if the run named its tests so.
    """
    config = item.config
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    names = [*classes, _name_alone(item, settings)]
    if config.option.pyargs:
        for argument in config.args:
            package, _, _ = argument.partition("::")
            module = _module(package, item.path)
            if module:
                return ["--pyargs", "::".join([module, *names])]
    path = os.path.relpath(item.path, config.invocation_params.dir)
    return ["::".join([Path(path).as_posix(), *names])]


def _name_alone(item: pytest.Item, settings: Settings) -> str:
    """The name that a test has if its recommender is the only one.

    Models of one slug have numbers in the ids of a run with all of them (`model_ids`).
    """
    model = str(parameters_of(item).get("recsys_model", ""))
    if model not in settings.models:
        return item.name
    id_among_all = model_ids(settings.models)[settings.models.index(model)]
    return item.name.replace(id_among_all, slug(model), 1)


def _module(package: str, path: Path) -> str:
    """The dotted name of the module at a path, if it is a
    package's own file or lies in it; else empty.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ""
    if spec is None:
        return ""
    path = path.resolve()
    for location in spec.submodule_search_locations or ():
        folder = Path(location).resolve()
        if path.is_relative_to(folder):
            inside = path.relative_to(folder).with_suffix("")
            return ".".join([package, *inside.parts])
    is_its_file = spec.origin is not None and Path(spec.origin).resolve() == path
    return package if is_its_file else ""

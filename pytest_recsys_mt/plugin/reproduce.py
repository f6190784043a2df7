"""The command that reproduces a verdict."""

import importlib.util
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from pytest_recsys_mt.engine.settings import Settings
from pytest_recsys_mt.metamorphic import slug
from pytest_recsys_mt.plugin.collection import model_ids
from pytest_recsys_mt.plugin.items import fixtures_of, parameters_of
from pytest_recsys_mt.plugin.resolving import changed
from pytest_recsys_mt.safety.redaction import holds_secret

FIRST = ("model", "data", "seed", "users")
"""Options that every command contains; the mode comes last."""

_TAKE_A_VALUE = (
    "-c", "--config-file", "--rootdir", "--confcutdir", "--import-mode", "-p", "-o", "--override-ini",
)  # fmt: skip

_FINDING = re.compile(
    r"-c|--config-file=|--rootdir=|--confcutdir=|--import-mode=|-p(?!=?no:)|"
    r"(?:-o|--override-ini)=?(?:pythonpath|python_\w+|testpaths)="
)
"""Options of pytest that decide in which file a test is found, and how the file is imported."""


def command(item: pytest.Item, settings: Settings, replayable: bool, shrink: int = 0) -> str:
    """The shell command that runs one test of this run and asks its recommender the same.

    Run it in the folder in which this run began. It contains no workers, no files to write and no
    keys. If a spec contains what looks like a key, there is no command. A command to `shrink` spends
    so many calls on smallest examples.
    """
    config = item.config
    options = {option.name: (option, value) for option, value in changed(config).items()}
    models = _models(item, settings)
    specs = [
        *models,
        *(
            str(value)
            for name, (option, value) in options.items()
            if option.metavar == "SPEC" and name != "model"
        ),
    ]
    if any(map(holds_secret, specs)):
        return ""
    words = [*_program(config), *_finding(config), *_address(item, settings)]
    words += [f"--recsys-model={model}" for model in models]
    words += [f"--recsys-{name}={value}" for name, value in (
        ("data", settings.data), ("seed", settings.seed), ("users", settings.design.users),
    )]  # fmt: skip
    for name, (option, value) in options.items():
        if name in FIRST or name == "mode" or (shrink and name == "shrink"):
            continue
        listed = tuple(map(str, value if isinstance(value, tuple) else (value,)))
        if option.settled:
            words += [
                "-o",
                f"{option.dest}={(shlex.join if option.repeatable else ','.join)(listed)}",
            ]
        elif option.flag:
            words += [option.switch] if value else []
        else:
            values = listed if option.repeatable else (",".join(listed),)
            words += [f"{option.switch}={each}" for each in values]
    # As many users are asked as for the comparison.
    words += ["--recsys-keep=baseline"] if settings.baseline is not None else []
    words += [f"--recsys-shrink={shrink}"] if shrink else []
    return shlex.join([*words, f"--recsys-mode={'replay' if replayable else 'auto'}"])


def _models(item: pytest.Item, settings: Settings) -> Sequence[str]:
    own = parameters_of(item).get("recsys_model")
    if own is not None:
        return [str(own)]
    return settings.models if "recsys_league" in fixtures_of(item) else ()


def _program(config: pytest.Config) -> Sequence[str]:
    given = getattr(config, "workerinput", {}).get("mainargv", sys.argv)
    return ["python", "-m", "pytest"] if Path(given[0]).name == "__main__.py" else ["pytest"]


def _finding(config: pytest.Config) -> Iterator[str]:
    words = list(map(str, config.invocation_params.args))
    for word, following in pairwise([*words, ""]):
        if word in _TAKE_A_VALUE:
            yield from (word, following) if _FINDING.match(f"{word}={following}") else ()
        elif _FINDING.match(word):
            yield word


def _address(item: pytest.Item, settings: Settings) -> Sequence[str]:
    config, name = item.config, item.name
    own = str(parameters_of(item).get("recsys_model", ""))
    if own in settings.models:
        among = model_ids(settings.models)[settings.models.index(own)]
        name = name.replace(among, slug(own), 1)
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    names = [*classes, name]
    if config.option.pyargs:
        for package in (word.partition("::")[0] for word in config.args):
            module = _module(package, item.path)
            if module:
                return ["--pyargs", "::".join([module, *names])]
    path = os.path.relpath(item.path, config.invocation_params.dir)
    return ["::".join([Path(path).as_posix(), *names])]


def _module(package: str, path: Path) -> str:
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ""
    path = path.resolve()
    if found is None:
        return ""
    for folder in map(Path, found.submodule_search_locations or ()):
        if path.is_relative_to(folder.resolve()):
            inside = path.relative_to(folder.resolve()).with_suffix("")
            return ".".join([package, *inside.parts])
    return package if found.origin is not None and Path(found.origin).resolve() == path else ""

"""Writes the first files of a project: ``recsys-mt init``."""

from __future__ import annotations

import configparser
import contextlib
import os
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_recsys_mt.datasets import NAMES, unknown
from pytest_recsys_mt.errors import DataError, RecommenderError
from pytest_recsys_mt.files import written_whole
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.registry import TRAINED
from pytest_recsys_mt.redaction import carries_key, shown
from pytest_recsys_mt.requests import Recommender
from pytest_recsys_mt.starter import texts

__all__ = ["CHOICES", "Start", "begin"]

CHOICES = (*texts.CI, "none")
"""The systems of continuous integration that a file is written for."""

OUTPUTS = "--junitxml=junit.xml --recsys-json=recsys.json"

SECTIONS = {"pytest.ini": "", ".pytest.ini": "", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
"""Ini files that pytest reads, in each the section that makes it pytest's; empty where the file alone does."""

PAID = {"recsys_users": "60", "recsys_max_calls": "500"}
"""What a project begins with whose recommender may cost money by the call."""


@dataclass(frozen=True)
class Start:
    """What was written.

    Attributes:
        files: The files, relative to the folder.
        settings: What pytest's own configuration still needs, if the project has one already.
        configuration: The file of that configuration; empty without one.
        command: The command that runs the tests.
        variable: The environment variable with the key of the recommender's server; empty for other recommenders.
    """

    files: tuple[str, ...]
    settings: Mapping[str, str]
    configuration: str
    command: str
    variable: str


def begin(spec: str, data: str, ci: str, folder: Path) -> Start:
    """Write the first files of a project; all of them, or none.

    Args:
        spec: The recommender under test, as after ``--recsys-model``, seen from `folder`.
        data: The dataset, as after ``--recsys-data``.
        ci: One of `CHOICES`.
        folder: Where the files go; it is made if it is missing.

    Raises:
        RecommenderError: If the recommender cannot be found.
        DataError: If the dataset cannot, if a file exists already, or if one cannot be written.
    """
    _require_folder(folder)
    with contextlib.chdir(folder):  # as the run will be
        reads_text = _reads_text(spec)
        if data not in NAMES and not Path(data).expanduser().exists():
            raise DataError(f"--data={data!r}: {unknown(data)}")
        configuration = next(
            filter(
                _configures_pytest, (*SECTIONS, "pytest.toml", ".pytest.toml", "pyproject.toml")
            ),
            "",
        )
    variable = "OPENAI_API_KEY" if _is_chat_model(spec) else ""
    settings = (
        {"recsys_model": spec, "recsys_data": data} if data != "mini" else {"recsys_model": spec}
    )
    settings |= PAID if reads_text else {}
    command = "pytest" if not configuration else _command(settings)
    files = {
        "conftest.py": texts.CONFTEST,
        "recsys.toml": texts.POLICY,
        "test_recsys.py": _first_test(spec, reads_text),
    }
    if not configuration:
        lines = "\n".join(f"{name} = {_in_ini(name, value)}" for name, value in settings.items())
        files["pytest.ini"] = texts.INI.format(lines=lines)
    if ci != "none":
        where, text = texts.CI[ci]
        secret = texts.SECRETS[ci].format(name=variable) if variable else ""
        run = f"{command} {OUTPUTS}"
        if ci == "jenkins":
            run = run.replace("\\", "\\\\").replace("'", "\\'")
        elif configuration:
            run = ">-\n" + " " * 10 + run
        files[where] = text.format(package=_package(spec), command=run, environment=secret)
    _write(folder, files)
    return Start(tuple(files), settings if configuration else {}, configuration, command, variable)


def _reads_text(spec: str) -> bool:
    """Whether the recommender is asked with a prompt; making it checks that a run can.

    Raises:
        RecommenderError: If it cannot be found, or if the spec holds what a file must not.
    """
    if carries_key(spec):
        raise RecommenderError(
            f"{shown(spec)!r}: an address carries no user name and no key; where the server wants one, it "
            f"belongs in the environment (RECSYS_HTTP_AUTHORIZATION)"
        )
    if not spec.isprintable():
        raise RecommenderError(
            f"{spec!r} holds characters that cannot be typed; write it in one line"
        )
    return not isinstance(resolve(spec), Recommender)


def _is_chat_model(spec: str) -> bool:
    from pytest_recsys_mt.llm.api.openai_model import OpenAIModel

    return isinstance(resolve(spec), OpenAIModel)


def _first_test(spec: str, reads_text: bool) -> str:
    relation, call, name, promise = (
        ("paraphrase_task", "paraphrase_task", "wording_is_irrelevant", "The same task in other words gives the same list.")
        if reads_text
        else ("scale_ratings", "scale_ratings(2)", "rating_scale_is_irrelevant", "Stars from 2 to 10 say the same as stars from 1 to 5.")
    )  # fmt: skip
    margin = "0.15" if reads_text else "0.05"
    model = spec.replace("\\", "/").replace('"', "'")
    return texts.TEST.format(
        model=model, relation=relation, call=call, name=name, promise=promise, margin=margin
    )


def _package(spec: str) -> str:
    """What is installed: the package, with the extra that the recommender needs."""
    name = spec.partition("?")[0]
    extra = "train" if name in TRAINED else "hf" if spec.startswith("hf:") else ""
    return f'"pytest-recsys-mt[{extra}]"' if extra else "pytest-recsys-mt"


def _command(settings: Mapping[str, str]) -> str:
    """The command with all settings as options."""
    given = (f"--{name.replace('_', '-')}={value}" for name, value in settings.items())
    return shlex.join(["pytest", *given])


def _in_ini(name: str, value: str) -> str:
    """A value as an ini file has it: pytest splits lists of arguments as a shell does."""
    return shlex.quote(value) if name == "recsys_model" else value


def _configures_pytest(name: str) -> bool:
    """Whether a file of the current folder holds pytest's configuration, which another one would hide."""
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    if name in ("pytest.toml", ".pytest.toml"):
        return True
    if name == "pyproject.toml":
        with contextlib.suppress(tomllib.TOMLDecodeError):
            return "pytest" in tomllib.loads(text).get("tool", {})
        return False
    parser = configparser.RawConfigParser(strict=False)
    with contextlib.suppress(configparser.Error):
        parser.read_string(text)
    return not SECTIONS[name] or parser.has_section(SECTIONS[name])


def _require_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return
        reason = "it cannot be written to"
    except OSError as error:
        reason = str(error.strerror)
    raise DataError(f"the folder {str(folder)!r}: {reason}; name another one")


def _write(folder: Path, files: Mapping[str, str]) -> None:
    there = [name for name in files if os.path.lexists(folder / name)]
    if there:
        raise DataError(
            f"{', '.join(there)} {'exists' if len(there) == 1 else 'exist'} in {str(folder)!r} already, and nothing is "
            f"overwritten; move {'it' if len(there) == 1 else 'them'} away, or name another folder: recsys-mt init MODEL FOLDER"
        )
    done: list[Path] = []
    path = folder
    try:
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(path, 0o644) as stream:
                stream.write(text)
            done.append(path)
    except OSError as error:
        for path in done:
            path.unlink(missing_ok=True)
        raise DataError(f"{str(path)!r} cannot be written: {error.strerror}") from error

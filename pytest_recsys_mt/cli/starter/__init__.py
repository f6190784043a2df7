"""Writes the first files of a project: ``recsys-mt init``."""

import contextlib
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path

from pytest_recsys_mt.cli.starter.configuration import (
    Configuration,
    existing,
    ini_lines,
)
from pytest_recsys_mt.datasets import named, place, place_of_code, unknown
from pytest_recsys_mt.recommenders import resolve
from pytest_recsys_mt.recommenders.registry import TRAINED
from pytest_recsys_mt.requests import Recommender
from pytest_recsys_mt.safety.errors import DataError, RecommenderError
from pytest_recsys_mt.safety.files import content_of, expanded, toml_of, written_whole
from pytest_recsys_mt.safety.redaction import carries_key, shown

__all__ = ["Start", "begin"]

OUTPUTS = "--junitxml=junit.xml --recsys-json=recsys.json"

PAID = {"recsys_users": "60", "recsys_max_calls": "500"}
"""The settings of a new project whose recommender may cost money by the call."""


CI = {
    "github": ".github/workflows/recsys.yml",
    "gitlab": ".gitlab-ci.yml",
    "jenkins": "Jenkinsfile",
}
"""The file of each system; its template has the system's name."""

SECRETS = {
    "github": "        env:\n          {name}: ${{{{ secrets.{name} }}}}\n",
    "gitlab": "  # Settings > CI/CD > Variables gives the job {name}.\n",
    "jenkins": "  environment {{ {name} = credentials('{name}') }}\n",
}
"""How the job of each system gets a key."""

OWN = {
    "github": "      # - run: pip install -r requirements.txt  # what your recommender needs\n",
    "gitlab": "    # - pip install -r requirements.txt  # what your recommender needs\n",
    "jenkins": "        // sh '.venv/bin/pip install -r requirements.txt'  // what your recommender needs\n",
}
"""The line of each system for the packages of a recommender,
where the project does not say so yet.
"""


def template(name: str) -> str:
    """The text of a file, with braces around the fields that `str.format` fills in."""
    return (Path(__file__).parent / "templates" / f"{name}.txt").read_text(
        encoding="utf-8",
    )


@dataclass(frozen=True)
class Start:
    """The files that were written, and the settings of the project."""

    files: tuple[str, ...]
    spec: str
    data: str
    configuration: Configuration | None
    needed: Mapping[str, str]  # the settings that it does not have
    command: str
    variable: str  # of the environment, with the key of the recommender's server; empty for others


def begin(spec: str, data: str, ci: str, folder: Path) -> Start:
    """Write the first files of a project; all of them, or none.

    A file of the recommender or the data is looked for in `folder`, as a run that is
    started there does, and then in the current folder.
    """
    from pytest_recsys_mt.llm.api.openai_model import OpenAIModel

    _refuse_unsafe(spec, data, folder)
    with contextlib.ExitStack() as undo:
        _make(folder, undo)
        spec = _model_seen_from(folder, spec)
        if not named(data)[0]:
            data = _data_seen_from(folder, data)
        with contextlib.chdir(folder):  # as the run will be
            found = resolve(spec)
            if (
                not named(data)[0]
                and place(data)[0] is None
                and not place_of_code(data)
            ):
                raise DataError(f"--data={data!r}: {unknown(data)}")
            configuration = existing()
            own = _own_requirements()
        reads_text = not isinstance(found, Recommender)
        variable = "OPENAI_API_KEY" if isinstance(found, OpenAIModel) else ""
        settings = {"recsys_model": spec}
        settings |= {"recsys_data": data} if data != "mini" else {}
        settings |= PAID if reads_text else {}
        needed = configuration.lacks(settings) if configuration else {}
        given = (
            f"--{name.replace('_', '-')}={value}" for name, value in needed.items()
        )
        command = shlex.join(["pytest", *given])
        files = {
            "recsys.toml": template("policy"),
            "test_recsys.py": _first_test(spec, reads_text),
        }
        # It only shows how to make a recommender by a fixture.
        if not (folder / "conftest.py").exists():
            files["conftest.py"] = template("conftest")
        if not configuration:
            files["pytest.ini"] = template("ini").format(
                lines="\n".join(ini_lines(settings)),
            )
        if ci != "none":
            run = _as_step(ci, f"{command} {OUTPUTS}", folded=configuration is not None)
            files[CI[ci]] = template(ci).format(
                package=" ".join((*own, _package(spec))),
                own="" if own else OWN[ci],
                command=run,
                environment=SECRETS[ci].format(name=variable) if variable else "",
            )
        hidden = configuration.file if configuration and configuration.models else ""
        _write(folder, files, undo, hidden)
        undo.pop_all()
    return Start(tuple(files), spec, data, configuration, needed, command, variable)


def _refuse_unsafe(spec: str, data: str, folder: Path) -> None:
    """Raise an error for texts that must not stand in the files of a project."""
    if carries_key(spec):
        raise RecommenderError(
            f"{shown(spec)!r}: an address carries no user name and no key; where the server wants one, it "
            f"belongs in the environment (RECSYS_HTTP_AUTHORIZATION)",
        )
    for text in (spec, data, str(folder)):
        if not text.isprintable():
            raise DataError(
                f"{text!r} holds characters that cannot be typed; write it in one line",
            )
        if "${{" in text:
            raise DataError(
                f"{text!r} holds '${{{{': GitHub would expand it in a workflow, secrets too; name something without it",
            )


def _as_step(ci: str, command: str, *, folded: bool) -> str:
    """The command as a CI system's file writes it; in YAML
    on a line of its own if `folded`.
    """
    if ci == "jenkins":
        return command.replace("\\", "\\\\").replace("'", "\\'")
    return ">-\n" + " " * 10 + command if folded else command


def _model_seen_from(folder: Path, spec: str) -> str:
    target, mark, parameters = spec.partition("?")
    where, colon, name = target.rpartition(":")
    if where.endswith(".py"):
        return f"{_seen_from(folder, where)}:{name}{mark}{parameters}"
    file = Path(f"{(where if colon else target).replace('.', '/')}.py")
    if not file.is_file() or (folder / file).is_file():
        return spec
    if not colon:
        resolve(spec)  # refuses a name that may mean this file
        return spec
    with contextlib.chdir(folder), contextlib.suppress(RecommenderError):
        resolve(spec)
        return spec
    raise RecommenderError(
        f"{spec!r}: the module {where!r} lies in the current folder, and a run that is started in {str(folder)!r} does "
        f"not find it there; install it, or name its file: recsys-mt init "
        f"{shlex.quote(f'{file}:{name}{mark}{parameters}')} {shlex.quote(str(folder))}",
    )


def _data_seen_from(folder: Path, data: str) -> str:
    """A path of data, or of code that gives them, as a run in the folder names it."""
    target, mark, options = data.partition("?")
    code = place_of_code(target)
    if code is None:
        return _seen_from(folder, target) + mark + options
    where, name = code
    where = _seen_from(folder, where) if where.endswith(".py") else where
    return f"{where}:{name}{mark}{options}"


def _seen_from(folder: Path, name: str) -> str:
    path = expanded(name)
    if path.is_absolute() or (folder / path).exists() or not path.exists():
        return name
    return Path(
        os.path.relpath(path.parent.resolve() / path.name, folder.resolve()),
    ).as_posix()


def _own_requirements() -> list[str]:
    own = ["-r requirements.txt"] if Path("requirements.txt").is_file() else []
    with contextlib.suppress(OSError, ValueError):
        if {"project", "build-system"} & toml_of(
            content_of(Path("pyproject.toml")),
        ).keys():
            own.append(".")
    return own


def _first_test(spec: str, reads_text: bool) -> str:
    oracle, relation, call, name, promise, margin = (
        ("same_ranking", "paraphrase_task", "paraphrase_task", "wording_is_irrelevant", "The same task in other words gives the same list.", "0.15")
        if reads_text
        else ("unmoved", "scale_ratings", "scale_ratings(2)", "rating_scale_is_irrelevant", "Stars from 2 to 10 say the same as stars from 1 to 5.", "0.05")
    )  # fmt: skip
    model = spec.replace("\\", "/").replace('"', "'")
    return template("test").format(
        model=model,
        oracle=oracle,
        relation=relation,
        call=call,
        name=name,
        promise=promise,
        margin=margin,
    )


def repository() -> str:
    """The address that the package is installed from until there is a release, as
    `pyproject.toml` has it.
    """
    urls = metadata("pytest-recsys-mt").get_all("Project-URL") or []
    return next(
        str(url).partition(", ")[2] for url in urls if url.startswith("Repository, ")
    )


def _package(spec: str) -> str:
    name = spec.partition("?")[0]
    extra = "train" if name in TRAINED else "hf" if spec.startswith("hf:") else ""
    return f'"pytest-recsys-mt{f"[{extra}]" if extra else ""} @ git+{repository()}"'


def _make(folder: Path, undo: contextlib.ExitStack) -> None:
    try:
        for path in reversed((folder, *folder.parents)):
            if not path.is_dir():
                path.mkdir()
                undo.callback(_remove, path)
        if os.access(folder, os.W_OK):
            return
        reason = "it cannot be written to"
    except OSError as error:
        reason = str(error.strerror)
    raise DataError(f"the folder {str(folder)!r}: {reason}; name another one")


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _write(
    folder: Path,
    files: Mapping[str, str],
    undo: contextlib.ExitStack,
    configuration: str,
) -> None:
    there = [name for name in files if os.path.lexists(folder / name)]
    if there:
        there += [configuration] if configuration else []
        raise DataError(
            f"{', '.join(there)} {'exists' if len(there) == 1 else 'exist'} in {str(folder)!r} already, and nothing is "
            f"overwritten; move {'it' if len(there) == 1 else 'them'} away, or name another folder: recsys-mt init MODEL FOLDER",
        )
    links = {
        str(inner)
        for name in files
        for inner in [*Path(name).parents][:-1]
        if (folder / inner).is_symlink()
    }
    if links:
        raise DataError(
            f"{', '.join(sorted(links))} in {str(folder)!r} is a link, and what is written there would go elsewhere; "
            f"name the folder where it leads, or write no CI file: --ci none",
        )
    path = folder
    try:
        for name, text in files.items():
            path = folder / name
            _make(path.parent, undo)
            with written_whole(path, 0o644) as stream:
                stream.write(text)
            undo.callback(path.unlink, missing_ok=True)
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error.strerror}") from error

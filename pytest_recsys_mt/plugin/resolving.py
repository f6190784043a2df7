"""Every option and its ini key, as pytest gets them, and the settings of a run from their values."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_recsys_mt.engine.options import Option
from pytest_recsys_mt.engine.settings import OPTIONS, QUICK, Settings, filled
from pytest_recsys_mt.errors import PolicyError
from pytest_recsys_mt.gate.policy import FILE, Policy, load
from pytest_recsys_mt.safety.files import cache_folder, expanded
from pytest_recsys_mt.safety.redaction import carries_key, gives_key, redact, shortened, shown
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.wording import typed

_LONG = 100
"""Most characters of a command in an account."""


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its ini key."""
    group = parser.getgroup("recsys-mt", "metamorphic tests of recommender systems")
    for option in OPTIONS:
        how: dict[str, Any] = {"action": "store_true", "default": False}
        if not option.flag:
            action = "append" if option.repeatable else "store"
            how = {"action": action, "default": None, "metavar": option.metavar}
            if option.bare is not None:
                how |= {"nargs": "?", "const": option.bare}
        told = argparse.SUPPRESS if option.settled else option.help
        group.addoption(option.switch, dest=option.dest, help=told, **how)
        if option.in_ini:
            kind: Literal["args", "string"] = "args" if option.repeatable else "string"
            parser.addini(option.dest, option.help, type=kind, default=None)


def settings_of(config: pytest.Config) -> Settings:
    """The settings of this run.

    An error names the value that is not allowed, where it stands, the allowed values and the nearest match.
    """
    every_price, values = True, {option.name: _value(config, option) for option in OPTIONS}
    for option in OPTIONS:
        if option.settled and config.getoption(option.dest, None) not in (None, False):
            config.issue_config_time_warning(
                pytest.PytestDeprecationWarning(
                    f"{option.switch} ends with the next version; set {option.dest} in the ini file, or give "
                    f"{typed(option.name)}=VALUE"
                ),
                stacklevel=2,
            )
    if values["effort"] == "quick":
        given = {option.name for option in OPTIONS if _is_given(config, option)}
        values |= {name: value for name, value in QUICK.items() if name not in given}
        every_price = "max-usd" in given
    try:
        fields = filled(lambda option: values[option.name])
    except ValueError as error:
        raise pytest.UsageError(f"recsys-mt: {error}") from None
    models: tuple[str, ...] = values["model"]
    if values["batch"] is not None and not values["plan"]:
        raise pytest.UsageError(
            f"recsys_batch={values['batch']!r} writes the planned calls to a file; add --recsys-plan"
        )
    if values["fault"] is not None and (values["plan"] or values["executor"] == "ray"):
        raise pytest.UsageError(
            f"recsys_fault={values['fault']!r} plants a fault in a run of this process: leave out "
            f"--recsys-plan (recsys-mt mutate --plan plans such runs) and recsys_executor=ray"
        )
    if values["questions"] is not None and values["question-setting"]:
        raise pytest.UsageError(
            f"recsys_question_setting={values['question-setting'][0]!r} says how questions are made, and "
            f"--recsys-questions={values['questions']!r} asks those that are made; leave one of them out"
        )
    twice = sorted({model for model in models if models.count(model) > 1})
    if twice:
        raise pytest.UsageError(f"--recsys-model names {twice[0]!r} twice; name each model once")
    policy = _policy(config, values["policy"])
    fields |= {
        "data": _data(config, values),
        "limits": replace(fields["limits"], every_price=every_price),
        "cache": expanded(values["cache"] or cache_folder()).absolute(),
        "inconclusive": (policy and policy.inconclusive) or values["inconclusive"],
        "policy": policy,
    }
    fields["models_given"] = config.getoption("recsys_model", None) is not None
    return Settings(**fields, command=_command(config))


def _command(config: pytest.Config) -> str:
    """How the run is called, in a short line without keys."""
    program, *arguments = getattr(config, "workerinput", {}).get("mainargv", sys.argv)
    name = Path(program).name
    called = ["python", "-m", "pytest"] if name == "__main__.py" else [name]
    return shortened(one_line(shlex.join([*called, *arguments])), _LONG)


def _data(config: pytest.Config, values: dict[str, Any]) -> str:
    named = config.getoption("recsys_data", None) or config.getini("recsys_data")
    models: tuple[str, ...] = values["model"]
    recorded = [spec for spec in models if spec.startswith("recorded:")]
    if named is None and recorded:
        return recorded[0].removeprefix("recorded:").partition("?")[0]
    return str(values["data"])


def _policy(config: pytest.Config, named: str | None) -> Policy | None:
    path = config.rootpath / FILE if named is None else expanded(named)
    if named is None and not path.is_file():
        return None
    try:
        policy = load(path)
    except PolicyError as error:
        raise pytest.UsageError(f"--recsys-policy: {error}") from error
    said = config.getoption("recsys_inconclusive", None)
    if policy.inconclusive is not None and said not in (None, policy.inconclusive):
        raise pytest.UsageError(
            f"--recsys-inconclusive={said} contradicts {str(path)!r}, which says "
            f"{policy.inconclusive!r}; leave one of them out"
        )
    return policy


def changed(config: pytest.Config) -> dict[Option, Any]:
    """The options that the command line or the ini file gives, with their values.

    Leaves out options for other actions than testing, and options for output files.
    """
    given = (each for each in OPTIONS if each.reproduced and _is_given(config, each))
    return {option: _value(config, option) for option in given}


def _is_given(config: pytest.Config, option: Option) -> bool:
    given = config.getoption(option.dest, None)
    return given not in (None, False) or (option.in_ini and bool(config.getini(option.dest)))


def _value(config: pytest.Config, option: Option) -> Any:
    if option.flag and (config.getoption(option.dest, False) or not option.in_ini):
        return bool(config.getoption(option.dest, False))
    given = None if option.flag else config.getoption(option.dest, None)
    where = option.switch
    if given is None and option.in_ini:
        given = config.getini(option.dest)
        where = option.dest if option.settled else f"ini option {option.dest}"
        if option.repeatable and not given:
            given = None
    if given is None:
        return option.default
    texts: Sequence[str] = given if option.repeatable else [given]
    read = []
    for text in texts:
        if carries_key(str(text)):
            raise pytest.UsageError(
                f"{where}={shown(str(text))!r}: an address carries no user name and no key; where the "
                f"server wants one, it belongs in the environment (RECSYS_HTTP_AUTHORIZATION)"
            )
        if option.metavar == "SPEC" and (redact(str(text)) != str(text) or gives_key(str(text))):
            raise pytest.UsageError(
                f"{where}={shown(str(text))!r} holds a key, and a spec is shown in reports; put the key into a variable "
                f"of the environment, and let the recommender read it there"
            )
        try:
            read.append(option.read(str(text)))
        except ValueError as error:
            raise pytest.UsageError(f"{where}={text!r}: {error}") from None
    return tuple(read) if option.repeatable else read[0]

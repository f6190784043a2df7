"""Every option and its ini key, as pytest gets them, and
the settings of a run from their values.
"""

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_recsys_mt.engine.settings import (
    QUICK,
    Settings,
    every_option,
    faults_of_suite_options,
    filled,
    suite_options,
)
from pytest_recsys_mt.extensions.options import Option, SuiteOption, switched
from pytest_recsys_mt.gate.policy import FILE, Policy, load
from pytest_recsys_mt.safety.errors import PolicyError
from pytest_recsys_mt.safety.files import cache_folder, expanded
from pytest_recsys_mt.safety.redaction import (
    carries_key,
    gives_key,
    redact,
    shortened,
    shown,
)
from pytest_recsys_mt.safety.sanitize import one_line
from pytest_recsys_mt.verdict.wording import typed

_LONG = 100
"""Most characters of a command in an account."""


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its ini key."""
    group = parser.getgroup("recsys-mt", "metamorphic tests of recommender systems")
    for option in every_option():
        # The switch of a settled option still works for one version, but is no longer
        # shown.
        help_text = argparse.SUPPRESS if option.settled else option.help
        arguments = _switch_arguments(option)
        group.addoption(option.switch, dest=option.dest, help=help_text, **arguments)
        if option.in_ini:
            kind: Literal["args", "string"] = "args" if option.repeatable else "string"
            parser.addini(option.dest, option.help, type=kind, default=None)


def _switch_arguments(option: Option) -> dict[str, Any]:
    """The arguments of argparse that say how a switch takes its value."""
    if option.flag:
        return {"action": "store_true", "default": False}
    arguments: dict[str, Any] = {
        "action": "append" if option.repeatable else "store",
        "default": None,
        "metavar": option.metavar,
    }
    if option.bare is not None:
        arguments["nargs"] = "?"
        arguments["const"] = option.bare
    return arguments


def settings_of(config: pytest.Config) -> Settings:
    """The settings of this run.

    Args:
        config: The configuration of the pytest run.

    Raises:
        pytest.UsageError: A value is not allowed, or contradicts another one. The error
            names the value, where it stands, the allowed values and the nearest match.
    """
    values = {option.name: _value(config, option) for option in every_option()}
    for fault in faults_of_suite_options():
        config.issue_config_time_warning(
            pytest.PytestConfigWarning(fault),
            stacklevel=2,
        )
    _warn_of_settled_switches(config)
    every_price = True
    if values["effort"] == "quick":
        given = {option.name for option in every_option() if _is_given(config, option)}
        for name, value in QUICK.items():
            if name not in given:
                values[name] = value
        # The limit on the cost that "quick" sets needs no price of every model.
        every_price = "max-usd" in given
    try:
        fields = filled(lambda option: values[option.name])
    except ValueError as error:
        raise pytest.UsageError(f"recsys-mt: {error}") from None
    _refuse_contradictions(values)
    policy = _policy(config, values["policy"])
    policy_on_inconclusive = None if policy is None else policy.inconclusive
    fields["data"] = _data(config, values)
    fields["limits"] = replace(fields["limits"], every_price=every_price)
    fields["cache"] = expanded(values["cache"] or cache_folder()).absolute()
    fields["inconclusive"] = policy_on_inconclusive or values["inconclusive"]
    fields["policy"] = policy
    fields["models_given"] = config.getoption("recsys_model", None) is not None
    return Settings(**fields, command=_command(config))


def _warn_of_settled_switches(config: pytest.Config) -> None:
    """Warn of switches that the next version removes."""
    for option in every_option():
        if not option.settled or config.getoption(option.dest, None) in (None, False):
            continue
        config.issue_config_time_warning(
            pytest.PytestDeprecationWarning(
                f"{option.switch} ends with the next version; set {option.dest} in the ini file, or give "
                f"{typed(option.name)}=VALUE",
            ),
            stacklevel=2,
        )


def _refuse_contradictions(values: dict[str, Any]) -> None:
    """Raise a usage error if one option makes no sense together with another one.

    Args:
        values: The values of all options, by the option's name.
    """
    if values["batch"] is not None and not values["plan"]:
        raise pytest.UsageError(
            f"recsys_batch={values['batch']!r} writes the planned calls to a file; add --recsys-plan",
        )
    for option in suite_options():
        _refuse_contradictions_of(option, values)
    given = [option for option in suite_options() if values[option.name]]
    _refuse_several(
        [option for option in given if option.wraps],
        values,
        "wraps the recommender under test",
    )
    _refuse_several(
        [option for option in given if option.is_data],
        values,
        "brings the data of the run",
    )
    models: tuple[str, ...] = values["model"]
    if values["pin"] and len(models) > 1:
        raise pytest.UsageError(
            "--recsys-pin writes the lists of one recommender: name one --recsys-model",
        )
    repeated = sorted({model for model in models if models.count(model) > 1})
    if repeated:
        raise pytest.UsageError(
            f"--recsys-model names {repeated[0]!r} twice; name each model once",
        )


def _refuse_contradictions_of(option: SuiteOption, values: dict[str, Any]) -> None:
    """The same for an option of a suite."""
    if not values[option.name]:
        return
    for other, why in option.without.items():
        if values[other]:
            raise pytest.UsageError(f"{_as_given(option, values)} {why}")
    if option.wraps and values["executor"] == "ray":
        raise pytest.UsageError(
            f"{_as_given(option, values)} changes the recommender in this process: leave out recsys_executor=ray",
        )


def _refuse_several(
    options: Sequence[SuiteOption],
    values: dict[str, Any],
    what: str,
) -> None:
    """Raise a usage error if two options are given of which only one can be used."""
    if len(options) > 1:
        first, second = (_as_given(option, values) for option in options[:2])
        raise pytest.UsageError(
            f"{first} and {second} are given, and each {what}; leave one of them out",
        )


def _as_given(option: Option, values: dict[str, Any]) -> str:
    """An option with its first value, as the user types it."""
    value = values[option.name]
    return f"{typed(option.name)}={value[0] if option.repeatable else value!r}"


def _command(config: pytest.Config) -> str:
    """How the run is called, in a short line without keys."""
    program, *arguments = getattr(config, "workerinput", {}).get("mainargv", sys.argv)
    name = Path(program).name
    called = ["python", "-m", "pytest"] if name == "__main__.py" else [name]
    return shortened(one_line(shlex.join([*called, *arguments])), _LONG)


def _data(config: pytest.Config, values: dict[str, Any]) -> str:
    """The dataset: the given one, else that of the recorded
    answers that are tested, else the default.
    """
    given = config.getoption("recsys_data", None) or config.getini("recsys_data")
    models: tuple[str, ...] = values["model"]
    recorded = [spec for spec in models if spec.startswith("recorded:")]
    if given is None and recorded:
        file, _, _ = recorded[0].removeprefix("recorded:").partition("?")
        return file
    return str(values["data"])


def _policy(config: pytest.Config, given: str | None) -> Policy | None:
    """The policy in the given file, else in the file of
    the usual name, if there is one.
    """
    path = config.rootpath / FILE if given is None else expanded(given)
    if given is None and not path.is_file():
        return None
    try:
        policy = load(path)
    except PolicyError as error:
        raise pytest.UsageError(f"--recsys-policy: {error}") from error
    inconclusive = config.getoption("recsys_inconclusive", None)
    if policy.inconclusive is not None and inconclusive not in (
        None,
        policy.inconclusive,
    ):
        raise pytest.UsageError(
            f"--recsys-inconclusive={inconclusive} contradicts {str(path)!r}, which says "
            f"{policy.inconclusive!r}; leave one of them out",
        )
    return policy


def changed(config: pytest.Config) -> dict[Option, Any]:
    """The options that the command line or the ini file gives, with their values.

    Leaves out options for other actions than testing, and options for output files.
    """
    return {
        option: _value(config, option)
        for option in every_option()
        if option.reproduced and _is_given(config, option)
    }


def _is_given(config: pytest.Config, option: Option) -> bool:
    on_command_line = config.getoption(option.dest, None) not in (None, False)
    return on_command_line or (option.in_ini and bool(config.getini(option.dest)))


def _value(config: pytest.Config, option: Option) -> Any:
    """The value of an option: from the command line, else
    from the ini file, else the default.
    """
    if option.flag:
        is_switched_on = bool(config.getoption(option.dest, False))
        if is_switched_on or not option.in_ini:
            return is_switched_on
    given, place = _given_text(config, option)
    if given is None:
        return bool(option.default) if option.flag else option.default
    if option.repeatable:
        return tuple(_read(option, text, place) for text in given)
    return _read(option, given, place)


def _given_text(config: pytest.Config, option: Option) -> tuple[Any, str]:
    """The text of an option, or the texts of a repeatable one; and where it stands, as
    errors name it.

    The text is None if the option is not given.
    """
    # The value of a flag is no text: `_value` has read it.
    from_command_line = None if option.flag else config.getoption(option.dest, None)
    if from_command_line is not None or not option.in_ini:
        return from_command_line, option.switch
    place = option.dest if option.settled else f"ini option {option.dest}"
    from_ini = config.getini(option.dest)
    if option.repeatable and not from_ini:
        return None, place  # pytest gives an empty list for a missing key of this type
    return from_ini, place


def _read(option: Option, given: object, place: str) -> Any:
    """The value that a text gives an option; a usage error
    if it is not allowed or holds a key.
    """
    text = str(given)
    if carries_key(text):
        raise pytest.UsageError(
            f"{place}={shown(text)!r}: an address carries no user name and no key; where the "
            f"server wants one, it belongs in the environment (RECSYS_HTTP_AUTHORIZATION)",
        )
    if option.metavar == "SPEC" and (redact(text) != text or gives_key(text)):
        raise pytest.UsageError(
            f"{place}={shown(text)!r} holds a key, and a spec is shown in reports; put the key into a variable "
            f"of the environment, and let the recommender read it there",
        )
    try:
        return switched(text) if option.flag else option.read(text)
    except ValueError as error:
        raise pytest.UsageError(f"{place}={given!r}: {error}") from None

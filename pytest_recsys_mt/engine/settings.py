# ruff: noqa: RUF009 (`option` and `setting` return fields)
"""The settings of a run, as one frozen object, and the options that fill it.

An option of the core is declared here and nowhere else: its switch, its key in the ini
file, its default, its reader, its help, and the field of `Settings` that it fills.
Suites declare their own; see `suite_options`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_recsys_mt.calls.limits import Limits, lower
from pytest_recsys_mt.engine.options import choice, flag, option, recorded, setting
from pytest_recsys_mt.engine.request_settings import RequestSettings
from pytest_recsys_mt.engine.suite_options import made_by, options_found
from pytest_recsys_mt.extensions.options import (
    Option,
    SuiteOption,
    above_zero,
    seconds,
    several_of,
    share,
    whole_number,
)
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.requests.design import Design
from pytest_recsys_mt.safety.errors import RecommenderError, meant
from pytest_recsys_mt.safety.files import expanded

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.cache import Mode


ACCEPTED = Path("accepted")
"""In place of the file of a baseline: the kept run that was accepted as one."""


def _path(text: str | None) -> Path | None:
    return None if text is None else expanded(text)


# One test is neither compared with all nor written in their place; see `reproduce`.
_written = partial(option, in_ini=False, reproduced=False, asks_report=True, make=_path)


Effort = Literal["quick", "standard", "thorough"]
"""The effort of a run: a first look, the usual tests,
or those too that make many calls.
"""

COLUMNS = (
    "name", "test", "suite", "model", "oracle", "verdict", "measured", "estimate", "bounds", "limit", "floor",
    "agreement", "users", "p", "p_holm", "looks", "attempts", "reason",
)  # fmt: skip
"""Columns of the table of verdicts on the terminal; `report.table` makes them."""

QUICK = {"users": 70, "max-calls": 1500, "max-usd": 2.0}
"""The values of options with ``--recsys-effort=quick``, unless they are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(RequestSettings):
    """The options of the command line and the ini file, resolved."""

    mode: Mode = choice(
        "auto: take an answer from the cache, "
        "else ask; replay: never ask; refresh: always ask (default: auto)",
        "auto|replay|refresh",
        default="auto",
        recorded=True,
    )
    executor: Literal["local", "ray"] = choice(
        "where calls are sent: local: in this process; ray: on the Ray cluster that RAY_ADDRESS or "
        "this machine names (default: local)",
        "local|ray",
        default="local",
    )
    cache: Path = option("folder of the answers (default: in the user's cache)", "DIR")
    inconclusive: Literal["fail", "skip"] = choice(
        "what an inconclusive verdict does to its test (default: fail)",
        "fail|skip",
        default="fail",
        recorded=True,
    )
    effort: Effort = choice(
        f"quick: a first look at the relations that matter most, with {QUICK['users']} users, at most "
        f"{QUICK['max-calls']} calls and, where prices are known, {QUICK['max-usd']:g} USD unless told otherwise; thorough: run also tests that make many calls, "
        f"such as the papers' own protocols; a file named on the command line always runs (default: "
        f"standard)",
        "|".join(get_args(Effort)),
        default="standard",
    )
    max_wait: float = option(
        "maximum seconds to wait for a busy or unreachable endpoint; if it asks for more, its calls "
        "fail at once (default: 120)",
        "SECONDS",
        default=120.0,
        read=seconds,
    )
    timeout: float | None = option(
        "seconds that one call of your own recommend() or complete() may take before it fails; for "
        "endpoints see timeout= in their specs (default: no limit)",
        "S",
        read=above_zero,
    )
    shrink: int | None = option(
        "calls to spend on the smallest example of each violated relation; 0: none (default: 200, and at "
        "most 5 seconds a test, for a recommender in this process; else none)",
        "CALLS",
        read=whole_number(0),
    )
    controls: int | None = option(
        "calls for each control: a relation that must change the answer, asked to see whether a promise that "
        "holds is kept only because the recommender does not read what was changed; 0: none (default: "
        "as many as it takes for a recommender in this process; else only answers that are known already)",
        "CALLS",
        read=whole_number(0),
    )
    baseline: Path | None = _written(
        "record of an earlier run to compare this one with; the run fails if it is worse (default, without a value: the "
        "kept run that recsys-mt runs accept named)",
        "FILE",
        bare=str(ACCEPTED),
    )
    keep: str = choice(
        "whether this run is kept in .recsys/runs of the root folder, for recsys-mt runs; baseline: ask all users, so "
        "that it can be accepted as one (default: yes)",
        "yes|no|baseline",
        default="yes",
        reproduced=False,
    )
    policy: Policy | None = option(
        "TOML file with the rules of the release gate (default: recsys.toml, if there is one)",
        "FILE",
        asks_report=True,
    )
    json: Path | None = _written(
        "write the record of this run to this file (JSON)",
        "PATH",
    )
    html: Path | None = _written(
        "write an HTML report to this file: one file without dependencies",
        "PATH",
    )
    log: tuple[str, ...] = option(
        "log the verdicts, the curves and the files of this run with the library of a tracker of experiments: mlflow, "
        "wandb (default: none)",
        "NAMES",
        default=(),
        read=several_of("mlflow", "wandb"),
        reproduced=False,
    )
    columns: tuple[str, ...] = option(
        f"show a table of all verdicts with these columns, and commas between them: {', '.join(COLUMNS)} "
        f"(default: no table; with -v name,verdict,measured,limit,users)",
        "NAMES",
        default=(),
        read=several_of(*COLUMNS),
        reproduced=False,
    )
    list: bool = flag(
        "list the relations with what they promise, and stop",
        in_ini=False,
        reproduced=False,
    )
    plan: bool = flag(
        "report how many calls the selected tests make, and what they cost, and stop",
        in_ini=False,
        reproduced=False,
    )
    pin: bool = flag(
        "write the lists of the files that pinned() reads anew from the current answers, and say what changed; such a "
        "test does not pass",
        in_ini=False,
        reproduced=False,
    )
    batch: Path | None = option(
        "with --recsys-plan: write the calls to make as a JSONL file for OpenAI's Batch API",
        "FILE",
        reproduced=False,
        make=_path,
    )
    limits: Limits = setting(
        Option(
            "max-calls",
            "maximum number of calls (default: no limit)",
            "N",
            read=whole_number(1),
        ),
        Option(
            "max-tokens",
            "maximum number of tokens, prompts and answers together (default: no limit)",
            "N",
            read=whole_number(1),
        ),
        Option(
            "max-usd",
            "maximum cost of this run in USD (default: no limit)",
            "X",
            read=above_zero,
        ),
        make=Limits,
    )
    daily: Limits = setting(
        Option("calls-a-day", "as max-calls, of all runs on the folder of answers since 00:00 UTC", "N", read=whole_number(1)),
        Option("tokens-a-day", "as max-tokens, of all runs on the folder of answers since 00:00 UTC", "N", read=whole_number(1)),
        Option("usd-a-day", "as max-usd, of all runs on the folder of answers since 00:00 UTC", "X", read=above_zero),
        make=Limits,
    )  # fmt: skip
    prices: tuple[Path, ...] = option(
        "TOML file with prices of models, in USD per million tokens, or LiteLLM's model_prices_and_context_window.json; "
        "repeat the option to give several, of which a later one counts",
        "FILE",
        default=(),
        repeatable=True,
        make=lambda texts: tuple(map(expanded, texts)),
    )
    error_limit: float = recorded(
        "largest share of users whose calls may fail before a verdict is an error (default: 0.05)",
        default=0.05,
        read=share(0, 1, closed=True),
    )
    missed_limit: float = recorded(
        "largest share of answers of which nothing can be read before a verdict is inconclusive (default: 0.1)",
        "SHARE",
        default=0.1,
        read=share(0, 1, closed=True),
    )

    ahead: bool = flag(
        "run the bodies of all tests ahead, so that all of them ask together; else only those of the suites, and of tests "
        "marked recsys_ahead (default: false)",
        reproduced=False,
    )

    # By the command line, rather than the ini file or the default.
    models_given: bool = False
    # The values that the options of suites made, by name.
    of_suites: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""  # how the run is called, in a short line
    # How many tests may find a violation; known once they are collected.
    family: int = 1

    @property
    def every_limit(self) -> Limits:
        """The limits of the run and of the day, the lower of each."""
        return lower(self.limits, self.daily)

    @property
    def data_named(self) -> str:
        """The data that the record names: those that an
        option of a suite brings, if one does.
        """
        brought = self.brought_data
        return self.data if brought is None else str(brought.dataset)

    @property
    def brought_data(self) -> Any:
        """The data, with their name and digest, that an option of a suite made in place
        of those of the run; else None.
        """
        values = (
            self.of_suites.get(each.name) for each in suite_options() if each.is_data
        )
        return next((value for value in values if value is not None), None)

    @property
    def wrapper(self) -> Any:
        """The value of an option that wraps the recommender under test; else None. See
        `SuiteOption.wraps`.
        """
        values = (
            self.of_suites.get(each.name) for each in suite_options() if each.wraps
        )
        return next((value for value in values if value is not None), None)

    def option(self, name: str) -> Any:
        """The value of the option ``--recsys-NAME``, of the core or of a suite.

        Raises:
            RecommenderError: If there is none, or it fills a field together with
                others.
        """
        if name in self.of_suites:
            return self.of_suites[name]
        if name in FIELDS:
            return getattr(self, FIELDS[name])
        names = sorted({*FIELDS, *self.of_suites})
        raise RecommenderError(
            f"option({name!r}): there is no such option{meant(name, names)}; the options are "
            f"{', '.join(names)}",
        )

    @property
    def is_recorded(self) -> bool:
        """Whether a record is kept or written, which names by digests its data."""
        return self.keep != "no" or bool(self.json or self.html) or self.ask_everybody

    @property
    def ask_everybody(self) -> bool:
        """Whether every verdict uses all users at once, so that it can be compared with
        another run's, or planned.
        """
        is_compared = self.baseline is not None or self.policy is not None
        return is_compared or self.plan or self.keep == "baseline"


def _options_of(field: Field[Any]) -> tuple[Option, ...]:
    name = field.name.replace("_", "-")
    options: tuple[Option, ...] = field.metadata.get("options", ())
    return tuple(each if each.name else replace(each, name=name) for each in options)


OPTIONS = tuple(each for field in fields(Settings) for each in _options_of(field))
"""Every option of the core, in the order of ``--help``."""

FIELDS = {
    options[0].name: field.name
    for field in fields(Settings)
    if len(options := _options_of(field)) == 1
}
"""The field of each option that fills one alone, by the name of the option."""

RECORDED = tuple(
    field.name for field in fields(Settings) if field.metadata.get("recorded")
)
"""The fields that the record names, in addition to the values of suites' options."""


def suite_options() -> tuple[SuiteOption, ...]:
    """The options of the suites of installed packages, each name once."""
    return _suite_options()[0]


def faults_of_suite_options() -> tuple[str, ...]:
    """Why some of these options cannot be given, one
    sentence each, which names the package.
    """
    return _suite_options()[1]


# Once in a process: a package that a test adds to the path has missed pytest's command
# line.
@cache
def _suite_options() -> tuple[tuple[SuiteOption, ...], tuple[str, ...]]:
    # A record has these settings too (`report.facts.settings_of`), so an option of such
    # a name would overwrite one.
    recorded = {*RECORDED, *(each.name for each in fields(Design)), "past"}
    taken = {
        *(option.name for option in OPTIONS),
        *(name.replace("_", "-") for name in recorded),
    }
    return options_found(taken)


def every_option() -> tuple[Option, ...]:
    """Every option, in the order of ``--help``: those of
    the core, then those of suites.
    """
    return (*OPTIONS, *suite_options())


def filled(value: Callable[[Option], Any]) -> dict[str, Any]:
    """The fields of `Settings` that options fill; a
    `ValueError` if two values contradict each other.
    """
    made: dict[str, Any] = {
        field.name: field.metadata["make"](*map(value, _options_of(field)))
        for field in fields(Settings)
        if field.metadata
    }
    made["of_suites"] = {
        each.name: made_by(each, value(each)) for each in suite_options()
    }
    return made

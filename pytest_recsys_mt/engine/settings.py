# ruff: noqa: RUF009 (`option` and `setting` return fields)
"""The settings of a run, as one frozen object, and the options that fill it.

An option is declared here and nowhere else: its switch, its key in the ini file, its default, its reader, its help, and
the field of `Settings` that it fills.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from pytest_recsys_mt.calls.limits import Limits
from pytest_recsys_mt.datasets.loading import Repeats
from pytest_recsys_mt.design import PROMPT, Design
from pytest_recsys_mt.engine.options import (
    Option,
    above_zero,
    flag,
    names,
    one_of,
    option,
    seconds,
    setting,
    several_of,
    share,
    whole_number,
)
from pytest_recsys_mt.errors import DataError, FaultError
from pytest_recsys_mt.gate.policy import Policy
from pytest_recsys_mt.prompt_texts import OwnTexts
from pytest_recsys_mt.prompt_texts import read as read_texts
from pytest_recsys_mt.safety.files import expanded

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.cache import Mode
    from pytest_recsys_mt.lrworld.question_file import QuestionFile


ACCEPTED = Path("accepted")
"""In place of the file of a baseline: the kept run that was accepted as one."""


def _path(text: str | None) -> Path | None:
    return None if text is None else expanded(text)


def _fault(text: str | None) -> str | None:
    if text is None:
        return None
    from pytest_recsys_mt.faults import dose

    try:
        return dose(text).spec
    except FaultError as error:
        raise ValueError(f"recsys_fault: {error}") from None


def _question_file(text: str | None) -> QuestionFile | None:
    if text is None:
        return None
    from pytest_recsys_mt.lrworld.question_file import QuestionFile

    try:
        return QuestionFile.read(expanded(text))
    except DataError as error:
        raise ValueError(f"--recsys-questions: {error}") from None


def _question_settings(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not texts:
        return ()
    from pytest_recsys_mt.lrworld.generator_settings import Settings as Made

    try:
        return Made.of(texts).changed
    except DataError as error:
        raise ValueError(f"recsys_question_setting: {error}") from None


Effort = Literal["quick", "standard", "thorough"]
"""How much a run asks: a first look, the usual tests, or those too that make many calls."""

COLUMNS = (
    "name", "test", "suite", "model", "oracle", "verdict", "measured", "estimate", "bounds", "limit", "floor",
    "agreement", "users", "p", "p_holm", "looks", "attempts", "reason",
)  # fmt: skip
"""Columns of the table of verdicts on the terminal; `report.table` makes them."""

QUICK = {"users": 70, "max-calls": 1500, "max-usd": 2.0}
"""What options are with ``--recsys-effort=quick``, unless they are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of the command line and the ini file, resolved."""

    models: tuple[str, ...] = option(
        "recommender to test; repeat the option to test several (default: itemknn)",
        "SPEC",
        default=("itemknn",),
        repeatable=True,
        name="model",
    )
    against: str | None = option(
        "recommender that suites/arena and suites/multidimensional compare the tested one with "
        "(default in suites/arena: mostpop)",
        "SPEC",
        in_ini=False,
        recorded=True,
    )
    judge: str | None = option(
        "judge in suites/arena: a language model, or your own judge",
        "SPEC",
        in_ini=False,
        recorded=True,
    )
    profiler: str | None = option(
        "language model that describes users from their histories (default: the one under test)",
        "SPEC",
        recorded=True,
    )
    recall: tuple[str, ...] = option(
        "recommender whose top list a re-ranking task takes candidates from; blanks stand "
        "between several (default: itemknn, userknn, bm25, mostpop)",
        "SPEC",
        default=("itemknn", "userknn", "bm25", "mostpop"),
        repeatable=True,
    )
    sampler: str | None = option(
        "recommender that checks the sample: users are drawn again until a Kolmogorov-Smirnov test "
        "finds no difference between its accuracy on them and on all users (default: the first sample)",
        "SPEC",
    )
    core: int = option(
        "minimum number of interactions of each user and each item; users and items with fewer are "
        "removed (default: 0, all stay)",
        "N",
        default=0,
        read=whole_number(0),
    )
    data: str = option(
        "dataset: a name, or the path of a table or of a folder (default: mini)",
        "NAME|PATH",
        default="mini",
    )
    repeats: Repeats = option(
        "what becomes of rows that repeat a user and an item; latest: the latest is kept; count: "
        "their number is the rating, in data without ratings; refuse: they are an error (default: latest)",
        "latest|count|refuse",
        default="latest",
        read=one_of(*get_args(Repeats)),
        recorded=True,
    )
    design: Design = setting(
        Option(
            "users",
            "users to sample; a verdict may stop before it has asked all of them (default: 200)",
            "N",
            default=200,
            read=whole_number(2),
        ),
        Option(
            "history",
            "history items in a request (default: 20)",
            "M",
            default=20,
            read=whole_number(1),
        ),
        Option(
            "candidates",
            "candidates in a request, the held-out item among them; 0 is the whole catalogue (default: 20)",
            "N",
            default=20,
            read=whole_number(0),
        ),
        Option("k", "items in an answer (default: 10)", "K", default=10, read=whole_number(1)),
        Option(
            "replicates",
            "calls for each user's source, and as many for the follow-up, if the recommender is not "
            "deterministic (default: 2)",
            "R",
            default=2,
            read=whole_number(1),
        ),
        make=Design,
    )
    seed: int = option(
        "seed of all random draws (default: 0)", "S", default=0, read=whole_number(0)
    )
    alpha: float = option(
        "error rate of each claim (default: 0.05)",
        "A",
        default=0.05,
        read=share(0, 0.5),
        recorded=True,
    )
    slices: tuple[str, ...] = option(
        "groups of users that every verdict on users judges beside all users: activity, genre, ratings, taste, "
        "or attributes of users, and commas between them (default: none)",
        "NAMES",
        default=(),
        read=names,
        recorded=True,
    )
    unit: str | None = option(
        "an attribute of users, such as household: of those who share its value one is asked, since answers to them "
        "are not independent (default: users are)",
        "NAME",
        recorded=True,
    )
    prompt: str | None = option(
        f"prompt template for language models (default: the suite's, else {PROMPT})",
        "NAME",
        recorded=True,
    )
    prompts: OwnTexts | None = option(
        "TOML file with prompts and instructions in your own words, as `recsys-mt prompts` writes one (default: "
        "the package's)",
        "FILE",
        read=read_texts,
        recorded=True,
    )
    questions: QuestionFile | None = option(
        "file of questions that suites/lrworld asks in place of making them; recsys-mt questions writes one",
        "FILE",
        in_ini=False,
        recorded=True,
        make=_question_file,
    )
    question_setting: tuple[str, ...] = option(
        "how suites/lrworld makes its questions, such as support=0.02, with blanks between several",
        "NAME=VALUE",
        default=(),
        repeatable=True,
        recorded=True,
        make=_question_settings,
    )
    exact: bool = flag(
        "local models (hf:) answer each prompt alone, in float32 on one thread, so that no answer "
        "depends on its neighbours; slow",
        recorded=True,
    )
    mode: Mode = option(
        "auto: take an answer from the cache, "
        "else ask; replay: never ask; refresh: always ask (default: auto)",
        "MODE",
        default="auto",
        read=one_of("auto", "replay", "refresh"),
        recorded=True,
    )
    executor: Literal["local", "ray"] = option(
        "where calls are sent: local: in this process; ray: on the Ray cluster that RAY_ADDRESS or "
        "this machine names (default: local)",
        "local|ray",
        default="local",
        read=one_of("local", "ray"),
    )
    cache: Path = option("folder of the answers (default: in the user's cache)", "DIR")
    inconclusive: Literal["fail", "skip"] = option(
        "what an inconclusive verdict does to its test (default: fail)",
        "fail|skip",
        default="fail",
        read=one_of("fail", "skip"),
        recorded=True,
    )
    effort: Effort = option(
        f"quick: a first look at the relations that matter most, with {QUICK['users']} users, at most "
        f"{QUICK['max-calls']} calls and, where prices are known, {QUICK['max-usd']:g} USD unless told otherwise; thorough: run also tests that make many calls, "
        f"such as the papers' own protocols; a file named on the command line always runs (default: "
        f"standard)",
        "quick|standard|thorough",
        default="standard",
        read=one_of(*get_args(Effort)),
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
    baseline: Path | None = option(
        "record of an earlier run to compare this one with; the run fails if it is worse (default, without a value: the "
        "kept run that recsys-mt runs accept named)",
        "FILE",
        bare=str(ACCEPTED),
        in_ini=False,
        reproduced=False,  # one test is not compared with all; see `reproduce`
        asks_report=True,
        make=_path,
    )
    keep: str = option(
        "whether this run is kept in .recsys/runs of the root folder, for recsys-mt runs; baseline: ask all users, so "
        "that it can be accepted as one (default: yes)",
        "yes|no|baseline",
        default="yes",
        read=one_of("yes", "no", "baseline"),
        reproduced=False,
    )
    policy: Policy | None = option(
        "TOML file with the rules of the release gate (default: recsys.toml, if there is one)",
        "FILE",
        asks_report=True,
    )
    json: Path | None = option(
        "write the record of this run to this file (JSON)",
        "PATH",
        in_ini=False,
        reproduced=False,
        asks_report=True,
        make=_path,
    )
    html: Path | None = option(
        "write an HTML report to this file: one file without dependencies",
        "PATH",
        in_ini=False,
        reproduced=False,
        asks_report=True,
        make=_path,
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
        "list the relations with what they promise, and stop", in_ini=False, reproduced=False
    )
    plan: bool = flag(
        "report how many calls the selected tests make, and what they cost, and stop",
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
            "max-calls", "maximum number of calls (default: no limit)", "N", read=whole_number(1)
        ),
        Option(
            "max-tokens",
            "maximum number of tokens, prompts and answers together (default: no limit)",
            "N",
            read=whole_number(1),
        ),
        Option(
            "max-usd", "maximum cost of this run in USD (default: no limit)", "X", read=above_zero
        ),
        make=Limits,
    )
    prices: tuple[Path, ...] = option(
        "TOML file with prices of models, in USD per million tokens, or LiteLLM's model_prices_and_context_window.json; "
        "repeat the option to give several, of which a later one counts",
        "FILE",
        default=(),
        repeatable=True,
        make=lambda texts: tuple(map(expanded, texts)),
    )
    error_limit: float = option(
        "largest share of users whose calls may fail before a verdict is an error (default: 0.05)",
        default=0.05,
        read=share(0, 1, closed=True),
        recorded=True,
    )
    missed_limit: float = option(
        "largest share of answers of which nothing can be read before a verdict is inconclusive (default: 0.1)",
        "SHARE",
        default=0.1,
        read=share(0, 1, closed=True),
        recorded=True,
    )

    fault: str | None = option(
        "fault to plant in the recommender under test, which the tests should then find; recsys-mt mutate "
        "plants them one by one",
        "NAME[:STRENGTH]",
        recorded=True,
        make=_fault,
    )

    models_given: bool = False  # by the command line, rather than the ini file or the default
    family: int = 1  # how many tests may find a violation; known once they are collected

    @property
    def data_named(self) -> str:
        """The data that the record names: those of a file of questions, if one is asked."""
        return self.data if self.questions is None else self.questions.dataset

    @property
    def is_recorded(self) -> bool:
        """Whether a record is kept or written, which says by digests what it is about."""
        return self.keep != "no" or bool(self.json or self.html) or self.ask_everybody

    @property
    def ask_everybody(self) -> bool:
        """Whether every verdict asks all users at once, so that it can be compared with another run's, or planned."""
        asked = self.baseline is not None or self.policy is not None or self.plan
        return asked or self.keep == "baseline"


def _options_of(field: Field[Any]) -> tuple[Option, ...]:
    name = field.name.replace("_", "-")
    options: tuple[Option, ...] = field.metadata.get("options", ())
    return tuple(each if each.name else replace(each, name=name) for each in options)


OPTIONS = tuple(each for field in fields(Settings) for each in _options_of(field))
"""Every option, in the order of ``--help``."""

RECORDED = tuple(field.name for field in fields(Settings) if field.metadata.get("recorded"))
"""The fields that the record names."""


def filled(value: Callable[[Option], Any]) -> dict[str, Any]:
    """What the options put into the fields of `Settings`; a `ValueError` if two values contradict each other."""
    return {
        field.name: field.metadata["make"](*map(value, _options_of(field)))
        for field in fields(Settings)
        if field.metadata
    }

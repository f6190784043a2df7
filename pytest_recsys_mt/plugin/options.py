"""Every option: its switch, its ini key, its default, and its allowed values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from pytest_recsys_mt.design import PROMPT


@dataclass(frozen=True, slots=True)
class Option:
    """One option: ``--recsys-NAME`` and the ini key ``recsys_NAME``."""

    name: str
    default: Any
    read: Callable[[str], Any]
    help: str
    metavar: str | None = None
    on_command_line: bool = True
    in_ini: bool = True
    repeatable: bool = False
    flag: bool = False

    @property
    def dest(self) -> str:
        """The attribute of `config.option`, and the ini key."""
        return f"recsys_{self.name.replace('-', '_')}"

    @property
    def switch(self) -> str:
        """The option as the user types it."""
        return f"--recsys-{self.name}"


def whole_number(least: int) -> Callable[[str], int]:
    """A reader of whole numbers from `least` up."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"a whole number from {least} is needed") from None
        if value < least:
            raise ValueError(f"a whole number from {least} is needed")
        return value

    return read


def share(low: float, high: float, *, closed: bool = False) -> Callable[[str], float]:
    """A reader of numbers between `low` and `high`; with `closed`, the ends are allowed."""
    kind = (
        f"a number from {low:g} to {high:g}" if closed else f"a number between {low:g} and {high:g}"
    )

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise ValueError(f"{kind} is needed") from None
        if not (low <= value <= high if closed else low < value < high):
            raise ValueError(f"{kind} is needed")
        return value

    return read


def one_of(*choices: str) -> Callable[[str], str]:
    """A reader of one of some words."""

    def read(text: str) -> str:
        if text not in choices:
            import difflib  # needed only after a typing error

            near = difflib.get_close_matches(text, choices, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"it is one of {', '.join(choices)}{hint}")
        return text

    return read


def switched(text: str) -> bool:
    """A reader of a flag in the ini file."""
    values = {"1": True, "true": True, "on": True, "yes": True}
    values |= {"0": False, "false": False, "off": False, "no": False}
    if text.casefold() not in values:
        raise ValueError("it is one of true, false")
    return values[text.casefold()]


def above_zero(text: str) -> float:
    """A reader of finite numbers above 0."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError("a number above 0 is needed") from None
    if not 0 < value < float("inf"):
        raise ValueError("a number above 0 is needed")
    return value


def seconds(text: str) -> float:
    """A reader of a length of time."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError("a number of seconds from 0 is needed") from None
    if not 0 <= value < float("inf"):
        raise ValueError("a number of seconds from 0 is needed")
    return value


def some_text(text: str) -> str:
    """A reader of non-empty text."""
    if not text.strip():
        raise ValueError("it must not be empty")
    return text


OPTIONS = (
    Option(
        "model",
        ("itemknn",),
        some_text,
        "recommender under test; give it again for more than one (default: itemknn)",
        "SPEC",
        repeatable=True,
    ),
    Option(
        "against",
        None,
        some_text,
        "recommender that suites/arena compares the one under test with (default there: mostpop)",
        "SPEC",
        in_ini=False,
    ),
    Option(
        "judge",
        None,
        some_text,
        "judge in suites/arena: a language model, or your own judge",
        "SPEC",
        in_ini=False,
    ),
    Option(
        "profiler",
        None,
        some_text,
        "language model that describes users from their histories (default: the one under test)",
        "SPEC",
        in_ini=False,
    ),
    Option(
        "recall",
        ("itemknn", "userknn", "bm25", "mostpop"),
        some_text,
        "recommender whose top list a re-ranking task takes candidates from; give it again for more "
        "than one (default: itemknn, userknn, bm25, mostpop)",
        "SPEC",
        repeatable=True,
    ),
    Option(
        "sampler",
        None,
        some_text,
        "recommender whose accuracy the sampled users must represent: the sample is drawn anew until "
        "a Kolmogorov-Smirnov test finds no difference from all users (default: the first sample)",
        "SPEC",
    ),
    Option(
        "core",
        0,
        whole_number(0),
        "least interactions of every user and every item; others are left out of the data "
        "(default: 0, all stay)",
        "N",
    ),
    Option("data", "mini", some_text, "dataset, by name or path (default: mini)", "NAME|PATH"),
    Option(
        "users",
        200,
        whole_number(2),
        "users to sample, asked only as far as a verdict needs them (default: 200)",
        "N",
    ),
    Option("history", 20, whole_number(1), "history items in a request (default: 20)", "M"),
    Option(
        "candidates",
        20,
        whole_number(0),
        "candidates in a request, the held-out item among them; "
        "0 is the whole catalogue (default: 20)",
        "N",
    ),
    Option("k", 10, whole_number(1), "items in an answer (default: 10)", "K"),
    Option(
        "replicates",
        2,
        whole_number(1),
        "calls a side for a recommender that is not deterministic (default: 2)",
        "R",
    ),
    Option("seed", 0, whole_number(0), "root of every random draw (default: 0)", "S"),
    Option("alpha", 0.05, share(0, 0.5), "error rate of each claim (default: 0.05)", "A"),
    Option(
        "prompt",
        None,
        some_text,
        f"prompt template for language models (default: the suite's, else {PROMPT})",
        "NAME",
    ),
    Option(
        "exact",
        False,
        switched,
        "local models (hf:) answer each prompt alone, in float32 on one thread, so that no answer "
        "depends on its neighbours; slow",
        flag=True,
    ),
    Option(
        "mode",
        "auto",
        one_of("auto", "replay", "refresh"),
        "auto: take an answer from the cache, "
        "else ask; replay: never ask; refresh: always ask (default: auto)",
        "MODE",
    ),
    Option(
        "executor",
        "local",
        one_of("local", "ray"),
        "where calls are sent: local: in this process; ray: on the Ray cluster that RAY_ADDRESS or "
        "this machine names (default: local)",
        "local|ray",
    ),
    Option("cache", None, some_text, "folder of the answers (default: in the user's cache)", "DIR"),
    Option(
        "inconclusive",
        "fail",
        one_of("fail", "skip"),
        "what an inconclusive verdict does to its test (default: fail)",
        "fail|skip",
    ),
    Option(
        "effort",
        "standard",
        one_of("standard", "thorough"),
        "thorough: run also tests that make many calls, such as the papers' own protocols; a file "
        "named on the command line always runs (default: standard)",
        "standard|thorough",
    ),
    Option(
        "max-wait",
        120.0,
        seconds,
        "seconds to wait for an endpoint that is busy or unreachable; if it asks for more, its calls "
        "fail at once (default: 120)",
        "SECONDS",
    ),
    Option(
        "timeout",
        None,
        above_zero,
        "seconds that one call of your own recommend() or complete() may take before it fails; for "
        "endpoints see timeout= in their specs (default: no limit)",
        "S",
    ),
    Option(
        "shrink",
        0,
        whole_number(0),
        "calls to spend on the smallest counterexample of each violated relation (default: 0, none)",
        "CALLS",
    ),
    Option(
        "baseline",
        None,
        some_text,
        "record of an earlier run to compare this one with; the run fails if it is worse",
        "FILE",
        in_ini=False,
    ),
    Option(
        "policy",
        None,
        some_text,
        "TOML file that says what a release must keep (default: recsys.toml, if there is one)",
        "FILE",
    ),
    Option("json", None, some_text, "write the record of this run there", "PATH", in_ini=False),
    Option(
        "html",
        None,
        some_text,
        "write an HTML report there: one file without dependencies",
        "PATH",
        in_ini=False,
    ),
    Option(
        "list",
        False,
        bool,
        "list the relations with what they promise, and stop",
        flag=True,
        in_ini=False,
    ),
    Option(
        "plan",
        False,
        bool,
        "report how many calls the selected tests make, and what they cost, and stop",
        flag=True,
        in_ini=False,
    ),
    Option(
        "batch",
        None,
        some_text,
        "with --recsys-plan: write the calls to make as a JSONL file for OpenAI's Batch API",
        "FILE",
        in_ini=False,
    ),
    Option("max-calls", None, whole_number(1), "most calls of this run (default: no limit)", "N"),
    Option(
        "max-tokens",
        None,
        whole_number(1),
        "most tokens of this run, prompts and answers (default: no limit)",
        "N",
    ),
    Option("max-usd", None, above_zero, "most that this run may cost (default: no limit)", "X"),
    Option(
        "prices",
        None,
        some_text,
        "TOML file with prices of models, in USD a million tokens",
        "FILE",
    ),
    Option(
        "error-limit",
        0.05,
        share(0, 1, closed=True),
        "largest share of users whose calls may fail before a verdict is an error (default: 0.05)",
        on_command_line=False,
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and its ini key."""
    group = parser.getgroup("recsys-mt", "metamorphic tests of recommender systems")
    for option in OPTIONS:
        if option.on_command_line:
            keywords: dict[str, Any] = {"dest": option.dest, "default": None, "help": option.help}
            if option.flag:
                keywords.update(action="store_true", default=False)
            else:
                keywords.update(metavar=option.metavar)
                if option.repeatable:
                    keywords.update(action="append")
            group.addoption(option.switch, **keywords)
        if option.in_ini:
            kind: Literal["args", "string"] = "args" if option.repeatable else "string"
            parser.addini(option.dest, option.help, type=kind, default=None)

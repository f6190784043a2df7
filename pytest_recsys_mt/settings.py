"""Every option, its ini twin and its default, resolved once into one frozen object."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_recsys_mt.limits import Limits

Mode = Literal["auto", "replay", "refresh"]

PROMPT = "person"
"""The template for text models where nothing names another."""


@dataclass(frozen=True, slots=True)
class Design:
    """How a user's interactions become a request.

    Attributes:
        users: Most users to sample.
        history: Most history items in a request (the latest ones).
        candidates: Items to choose from, the held-out one among them; 0 is the whole catalogue.
        k: Length of the answer.
        replicates: Calls a side for a recommender that is not deterministic.
        rated_above: Only interactions rated above this count as history; None takes all.
        prompt: The template for text models where ``--recsys-prompt`` names none; None is `PROMPT`.
    """

    users: int = 100
    history: int = 20
    candidates: int = 20
    k: int = 10
    replicates: int = 2
    rated_above: float | None = None
    prompt: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("users", 2), ("history", 1), ("candidates", 0), ("k", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number from {least}, got {value!r}")
        if not isinstance(self.replicates, int) or self.replicates < 1:
            raise ValueError(f"replicates must be a whole number from 1, got {self.replicates!r}")
        if self.candidates and self.k > self.candidates:
            raise ValueError(
                f"k={self.k} asks for more items than the {self.candidates} candidates of a "
                f"request; lower k, or raise candidates (0 is the whole catalogue)"
            )


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line and the ini file say, once and for all.

    Attributes:
        models: Specs of the recommenders under test.
        models_given: Whether the command line named them, rather than the ini file or the default.
        data: Name or path of the dataset.
        design: How requests are made.
        seed: Root of every random draw.
        alpha: Error rate of each one-sided claim.
        prompt: Name or path of the prompt template; None leaves it to the tests' designs.
        exact: Whether local models answer each prompt alone, in float32 and on one thread.
        mode: What a missing answer does.
        executor: Where calls are put.
        cache: Folder of the answers.
        inconclusive: Whether an inconclusive verdict fails its test or skips it.
        max_wait: Seconds to wait for an endpoint that is busy or away.
        shrink: Calls for the smallest counterexample of each violated relation; 0 looks for none.
        error_limit: Largest share of users whose calls may fail.
        json: Where the record goes, if anywhere.
        list: Whether to list the relations and stop.
        plan: Whether to say what the run would ask and stop.
        batch: Where `plan` writes the calls to make as a file of OpenAI's Batch API, if anywhere.
        limits: What the run may spend.
        prices: A file with the user's prices, if any.
    """

    models: tuple[str, ...]
    models_given: bool
    data: str
    design: Design
    seed: int
    alpha: float
    prompt: str | None
    exact: bool
    mode: Mode
    executor: Literal["local", "ray"]
    cache: Path
    inconclusive: Literal["fail", "skip"]
    max_wait: float
    shrink: int
    error_limit: float
    json: Path | None
    list: bool
    plan: bool
    batch: Path | None
    limits: Limits
    prices: Path | None


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
        """As it is typed."""
        return f"--recsys-{self.name}"


def whole(least: int) -> Callable[[str], int]:
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
            import difflib  # only a slip pays for it

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
    """A reader of any text but the empty one."""
    if not text.strip():
        raise ValueError("it must not be empty")
    return text


def default_cache() -> str:
    """The cache folder where none is named: beside the user's other caches."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "pytest-recsys-mt")


OPTIONS = (
    Option(
        "model",
        ("itemknn",),
        some_text,
        "recommender under test; give it again for more than one (default: itemknn)",
        "SPEC",
        repeatable=True,
    ),
    Option("data", "mini", some_text, "dataset, by name or path (default: mini)", "NAME|PATH"),
    Option("users", 100, whole(2), "users to sample (default: 100)", "N"),
    Option("history", 20, whole(1), "history items in a request (default: 20)", "M"),
    Option(
        "candidates",
        20,
        whole(0),
        "candidates in a request, the held-out item among them; "
        "0 is the whole catalogue (default: 20)",
        "N",
    ),
    Option("k", 10, whole(1), "items in an answer (default: 10)", "K"),
    Option(
        "replicates",
        2,
        whole(1),
        "calls a side for a recommender that is not deterministic (default: 2)",
        "R",
    ),
    Option("seed", 0, whole(0), "root of every random draw (default: 0)", "S"),
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
        "where calls are put: local: in this process; ray: on the Ray cluster that RAY_ADDRESS or "
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
        "max-wait",
        120.0,
        seconds,
        "seconds to wait for an endpoint that is busy or away; where it asks for more, its calls "
        "fail at once (default: 120)",
        "SECONDS",
    ),
    Option(
        "shrink",
        0,
        whole(0),
        "calls to spend on the smallest counterexample of each violated relation (default: 0, none)",
        "CALLS",
    ),
    Option("json", None, some_text, "write the record of this run there", "PATH", in_ini=False),
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
        "say how many calls the selected tests take, and what they cost, and stop",
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
    Option("max-calls", None, whole(1), "most calls of this run (default: no limit)", "N"),
    Option(
        "max-tokens",
        None,
        whole(1),
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
    """Declare every option and its ini twin."""
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


def resolve(config: pytest.Config) -> Settings:
    """The settings of this run.

    Raises:
        pytest.UsageError: For a value that is not allowed; names the value, where it stands, what
            is allowed and the nearest match.
    """
    values = {option.name: _value(config, option) for option in OPTIONS}
    try:
        design = Design(
            users=values["users"],
            history=values["history"],
            candidates=values["candidates"],
            k=values["k"],
            replicates=values["replicates"],
        )
    except ValueError as error:
        raise pytest.UsageError(f"recsys-mt: {error}") from None
    models: tuple[str, ...] = values["model"]
    if values["batch"] is not None and not values["plan"]:
        raise pytest.UsageError(
            f"--recsys-batch={values['batch']!r} writes what is planned; give --recsys-plan with it"
        )
    twice = sorted({model for model in models if models.count(model) > 1})
    if twice:
        raise pytest.UsageError(f"--recsys-model names {twice[0]!r} twice; name each model once")
    return Settings(
        models=models,
        models_given=config.getoption("recsys_model", None) is not None,
        data=values["data"],
        design=design,
        seed=values["seed"],
        alpha=values["alpha"],
        prompt=values["prompt"],
        exact=values["exact"],
        mode=values["mode"],
        executor=values["executor"],
        cache=Path(values["cache"] or default_cache()).expanduser(),
        inconclusive=values["inconclusive"],
        max_wait=values["max-wait"],
        shrink=values["shrink"],
        error_limit=values["error-limit"],
        json=None if values["json"] is None else Path(values["json"]),
        list=values["list"],
        plan=values["plan"],
        batch=None if values["batch"] is None else Path(values["batch"]).expanduser(),
        limits=Limits(values["max-calls"], values["max-tokens"], values["max-usd"]),
        prices=None if values["prices"] is None else Path(values["prices"]).expanduser(),
    )


def changed(config: pytest.Config, settings: Settings) -> list[str]:
    """The settings that differ from their defaults, as ``name=value``; the seed always."""
    shown = [f"seed={settings.seed}"]
    for option in OPTIONS:
        if option.name in ("seed", "list", "plan", "batch", "json"):
            continue
        value = _value(config, option)
        if value != option.default:
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            shown.append(f"{option.name}={text}")
    return shown


def _value(config: pytest.Config, option: Option) -> Any:
    if option.flag and (config.getoption(option.dest, False) or not option.in_ini):
        return bool(config.getoption(option.dest, False))
    typed = option.on_command_line and not option.flag
    given = config.getoption(option.dest, None) if typed else None
    where = option.switch
    if given is None and option.in_ini:
        given = config.getini(option.dest)
        where = f"ini option {option.dest}"
        if option.repeatable and not given:
            given = None
    if given is None:
        return option.default
    texts: Sequence[str] = given if option.repeatable else [given]
    read = []
    for text in texts:
        try:
            read.append(option.read(str(text)))
        except ValueError as error:
            raise pytest.UsageError(f"{where}={text!r}: {error}") from None
    return tuple(read) if option.repeatable else read[0]

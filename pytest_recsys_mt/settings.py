"""What the command line and the ini file say, resolved once into one frozen object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_recsys_mt.errors import PolicyError
from pytest_recsys_mt.gate.policy import FILE, Policy, load
from pytest_recsys_mt.limits import Limits
from pytest_recsys_mt.options import OPTIONS, Option, default_cache
from pytest_recsys_mt.redaction import carries_key, shown

Mode = Literal["auto", "replay", "refresh"]

_LEAST = {
    "users": 2,
    "history": 0,
    "candidates": 0,
    "k": 1,
    "replicates": 1,
    "training_history": 0,
    "initialisation": 0,
}


@dataclass(frozen=True, slots=True)
class Design:
    """How a user's interactions become a request.

    Attributes:
        users: Most users to sample.
        history: Most history items in a request (the latest ones); 0 shows none.
        candidates: Items to choose from, the held-out one among them; 0 is the whole catalogue.
        k: Length of the answer.
        replicates: Calls a side for a recommender that is not deterministic.
        rated_above: Only interactions rated above this count as history; None takes all.
        prompt: The template for text models where ``--recsys-prompt`` names none; None is `PROMPT`.
        training_history: Latest interactions of each user that a recommender is fitted to; None is
            all that are not held out. Text models are not fitted.
        initialisation: Which of several seeds a recommender is fitted with, from 0. Text models
            are not fitted.
        recall: Candidates are dealt in turn from the top lists of ``--recsys-recall``, with what is
            held out only where one of them found it; else they are drawn.
    """

    users: int = 100
    history: int = 20
    candidates: int = 20
    k: int = 10
    replicates: int = 2
    rated_above: float | None = None
    prompt: str | None = None
    training_history: int | None = None
    initialisation: int = 0
    recall: bool = False

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if name == "training_history" and value is None:
                continue
            if not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be a whole number from {least}, got {value!r}")
        if self.recall and not self.candidates:
            raise ValueError("recall deals out candidates, got candidates=0, the whole catalogue")
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
        against: Spec of the recommender that the one under test is compared with, if any.
        judge: Spec of what judges, if anything.
        profiler: Spec of the language model that describes users; None is the one under test.
        recall: Specs of the recommenders that a re-ranking task takes its candidates from.
        sampler: Spec of the recommender whose accuracy a sample of users must represent, if any.
        core: Least interactions of every user and item of the data.
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
        effort: Whether tests that take many calls run without being named.
        max_wait: Seconds to wait for an endpoint that is busy or away.
        timeout: Seconds that one call of an object of this process may take; None for any time.
        shrink: Calls for the smallest counterexample of each violated relation; 0 looks for none.
        error_limit: Largest share of users whose calls may fail.
        family: How many tests may find something violated; known once they are collected.
        baseline: The record that this run is compared with, if any.
        policy: What a release has to keep, if a file says so.
        json: Where the record goes, if anywhere.
        html: Where the report for people goes, if anywhere.
        list: Whether to list the relations and stop.
        plan: Whether to say what the run would ask and stop.
        batch: Where `plan` writes the calls to make as a file of OpenAI's Batch API, if anywhere.
        limits: What the run may spend.
        prices: A file with the user's prices, if any.
    """

    models: tuple[str, ...]
    models_given: bool
    against: str | None
    judge: str | None
    profiler: str | None
    recall: tuple[str, ...]
    sampler: str | None
    core: int
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
    effort: Literal["standard", "thorough"]
    max_wait: float
    timeout: float | None
    shrink: int
    error_limit: float
    baseline: Path | None
    policy: Policy | None
    json: Path | None
    html: Path | None
    list: bool
    plan: bool
    batch: Path | None
    limits: Limits
    prices: Path | None
    family: int = 1

    @property
    def whole(self) -> bool:
        """Whether every verdict asks all users at once, so that it can be compared with another run's."""
        return self.baseline is not None or self.policy is not None


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
    policy = _policy(config, values["policy"])
    return Settings(
        models=models,
        models_given=config.getoption("recsys_model", None) is not None,
        against=values["against"],
        judge=values["judge"],
        profiler=values["profiler"],
        recall=values["recall"],
        sampler=values["sampler"],
        core=values["core"],
        data=_data(config, values),
        design=design,
        seed=values["seed"],
        alpha=values["alpha"],
        prompt=values["prompt"],
        exact=values["exact"],
        mode=values["mode"],
        executor=values["executor"],
        cache=Path(values["cache"] or default_cache()).expanduser().absolute(),
        inconclusive=(policy and policy.inconclusive) or values["inconclusive"],
        effort=values["effort"],
        max_wait=values["max-wait"],
        timeout=values["timeout"],
        shrink=values["shrink"],
        error_limit=values["error-limit"],
        baseline=None if values["baseline"] is None else Path(values["baseline"]).expanduser(),
        policy=policy,
        json=None if values["json"] is None else Path(values["json"]),
        html=None if values["html"] is None else Path(values["html"]),
        list=values["list"],
        plan=values["plan"],
        batch=None if values["batch"] is None else Path(values["batch"]).expanduser(),
        limits=Limits(values["max-calls"], values["max-tokens"], values["max-usd"]),
        prices=None if values["prices"] is None else Path(values["prices"]).expanduser(),
    )


def _data(config: pytest.Config, values: dict[str, Any]) -> str:
    """The dataset; where none is named, the one that recorded answers bring with them."""
    named = config.getoption("recsys_data", None) or config.getini("recsys_data")
    models: tuple[str, ...] = values["model"]
    recorded = [spec for spec in models if spec.startswith("recorded:")]
    if named is None and recorded:
        return recorded[0].removeprefix("recorded:").partition("?")[0]
    return str(values["data"])


def _policy(config: pytest.Config, named: str | None) -> Policy | None:
    """The policy that the options name, or that lies in the root folder; None without one."""
    path = config.rootpath / FILE if named is None else Path(named).expanduser()
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


def given(config: pytest.Config) -> dict[Option, Any]:
    """The options that differ from their defaults, or from what the ini file says, with their values;
    without those that say what a run does beside testing, or where it writes.
    """
    found = {}
    for option in OPTIONS:
        if option.name in ("list", "plan", "batch", "json", "html"):
            continue
        value = _value(config, option)
        in_ini = option.in_ini and bool(config.getini(option.dest))
        if value != option.default or in_ini:
            found[option] = value
    return found


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
        if carries_key(str(text)):
            raise pytest.UsageError(
                f"{where}={shown(str(text))!r}: an address carries no user name and no key; where the "
                f"server wants one, it belongs in the environment (RECSYS_HTTP_AUTHORIZATION)"
            )
        try:
            read.append(option.read(str(text)))
        except ValueError as error:
            raise pytest.UsageError(f"{where}={text!r}: {error}") from None
    return tuple(read) if option.repeatable else read[0]

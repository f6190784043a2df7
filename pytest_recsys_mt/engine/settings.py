"""The settings of a run, as one frozen object."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_recsys_mt.calls.limits import Limits
from pytest_recsys_mt.design import Design
from pytest_recsys_mt.gate.policy import Policy

if TYPE_CHECKING:
    from pytest_recsys_mt.calls.executor import Mode


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the command line and the ini file, resolved.

    Attributes:
        models: Specs of the recommenders under test.
        models_given: Whether the command line named them, rather than the ini file or the default.
        against: Spec of the recommender that the one under test is compared with, if any.
        judge: Spec of the judge, if any.
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
        mode: What happens if an answer is missing.
        executor: Where calls are sent.
        cache: Folder of the answers.
        inconclusive: Whether an inconclusive verdict fails its test or skips it.
        effort: Whether tests that make many calls run without being named.
        max_wait: Seconds to wait for an endpoint that is busy or unreachable.
        timeout: Most seconds for one call of an object of this process; None for no limit.
        shrink: Calls for the smallest counterexample of each violated relation; 0 for no search.
        error_limit: Largest share of users whose calls may fail.
        family: How many tests may find a violation; known once they are collected.
        baseline: The record that this run is compared with, if any.
        policy: What a release must keep, if a file says so.
        json: Path of the record, if any.
        html: Path of the HTML report, if any.
        list: Whether to list the relations and stop.
        plan: Whether to report the planned calls and stop.
        batch: Path to which `plan` writes the calls as a file of OpenAI's Batch API, if any.
        limits: What the run may spend.
        prices: Path of a file with the user's prices, if any.
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
    def ask_everybody(self) -> bool:
        """Whether every verdict asks all users at once, so that it can be compared with another run's."""
        return self.baseline is not None or self.policy is not None

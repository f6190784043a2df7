"""What a run is asked to do, as one frozen object."""

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
    def ask_everybody(self) -> bool:
        """Whether every verdict asks all users at once, so that it can be compared with another run's."""
        return self.baseline is not None or self.policy is not None

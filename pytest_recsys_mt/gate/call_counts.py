"""The calls of a run in its record, as types."""

from typing import TypedDict


class CallCounts(TypedDict):
    """Distinct calls by their result, and the cost of all attempts of a run.

    ``again`` counts calls that repeated a question to check for changed answers. Their
    number depends on the times of the questions, so `cached`, `made` and `failed` do
    not include them. Nor do they include those that looked for smallest examples, which
    may end by the clock, and controls.

    Attributes:
        retries: Those of them that are not the first at their call.
        usd: The cost of all attempts; None if that of any is unknown. So are the other
            costs.
        usd_at_most: Their maximum cost.
        unknown_cost: Calls with an attempt of unknown cost.
        searched: Calls that looked for smallest examples.
        controls: Calls that show which parts a recommender reads; no verdict's status
            depends on them.
        cut_off: Answers that something other than the model ended.
    """

    cached: int
    made: int
    failed: int
    failed_at_first: int
    attempts: int
    retries: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    usd_at_most: float | None
    failed_usd_at_most: float | None
    unknown_cost: int
    cut_off: int
    cut_off_usd: float | None
    searched: int
    controls: int
    again: int
    reasoning_tokens: int
    cached_tokens: int


class CallRow(CallCounts):
    """The calls to one model for one suite and one purpose; see `report.spending`."""

    suite: str
    model: str
    purpose: str


class Calls(CallCounts):
    """All calls of a run, and the same numbers row by row."""

    planned: int
    by: list[CallRow]

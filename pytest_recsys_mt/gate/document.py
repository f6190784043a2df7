"""The record as types: which keys it has and when, and the measured values of a row.

Keys that are not explained here are in `verdict.Verdict`; older records lack the keys
of `EARLIER`, and some others.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, TypeVar

from pytest_recsys_mt.gate.call_counts import Calls
from pytest_recsys_mt.verdict.verdict import Allowed, Status

Item = TypeVar("Item")

Change = Literal[
    "regressed",
    "improved",
    "unchanged",
    "suspicious",
    "inconclusive",
    "ungated",
]
"""``regressed``: worse by more than the margin. ``improved``: better by more than the
margin. ``suspicious``: so much better that a leak is likelier than a better model.
``unchanged``: not worse by the margin or more. ``inconclusive``: no other claim holds.
``ungated``: not compared.
"""


class Example(TypedDict):
    """See `verdict.Example`.

    Attributes:
        asked: Both requests with their whole answers, by ``source`` and ``followup``;
            see `report.asked`. Only the worst users of a verdict that is violated,
            inconclusive or an error have it.
        replicates: All answers to both requests, by ``source`` and ``followup``, each
            with its titles in ``answer`` and their ``kinds``; only if one of them was
            sent more than once.
        told: True if ``-o recsys_show_user`` names the user; else missing.
    """

    user: str
    source: list[str]
    followup: list[str]
    score: NotRequired[float | None]
    source_kinds: NotRequired[list[str] | None]
    followup_kinds: NotRequired[list[str] | None]
    keeps: NotRequired[bool | None]
    asked: NotRequired[dict[str, Any]]
    replicates: NotRequired[dict[str, list[dict[str, Any]]]]
    told: NotRequired[bool]


class SliceRow(TypedDict):
    """See `verdict.Slice`."""

    slicing: str
    value: str
    status: Status
    users: int
    estimate: float | None
    interval: list[float] | None
    p_value: float


class Row(TypedDict):
    """One verdict, or the reason why a test made none: then `oracle` is empty.

    The record has the keys in this order.

    Attributes:
        model: Its recommender; empty for a test that failed before it had one.
        outcome: Of its test, as pytest counts it; empty until that is known.
        attempts: How often the test ran.
        p_holm, p_bh: `p_value` after a correction over the run; None until it is made.
        shrunk: See `asked.shrunk_of`.
        vacuous: The part that the recommender does not read although the promise is
            about it; the row holds then. Empty if it reads it, or if this is not known.
        reproduce: The command that makes an unsettled verdict again; else empty.
        traceback: The exception of users' code, in the first failed row of a test.
        metric, value, threshold: In rows of benchmark tasks only; see `measured`.
    """

    nodeid: str
    suite: str
    relation: str
    against: str
    promise: str
    model: str
    fingerprint: str | None
    oracle: str
    status: Status
    outcome: str
    attempts: int
    expected: Status
    estimate: float | None
    interval: list[float] | None
    floor: float | None
    agreement: float | None
    margin: float | None
    allowed: Allowed | None
    measures: str
    p_value: float | None
    p_holm: float | None
    p_bh: float | None
    users: int
    not_applicable: int
    errors: int
    account: dict[str, int]
    looks: int
    reason: str
    vacuous: str
    examples: list[Example]
    details: dict[str, Any]
    reach: list[float] | None
    per_user: dict[str, float]
    joint: bool
    approximate: bool
    slices: list[SliceRow]
    shrunk: dict[str, Any] | None
    reproduce: str
    traceback: str
    metric: NotRequired[str]
    value: NotRequired[float | None]
    threshold: NotRequired[float | None]


EARLIER: Mapping[str, object] = {
    "promise": "", "expected": "holds", "allowed": None, "measures": "", "reason": "", "details": {}, "slices": [], "shrunk": None,
    "attempts": 1, "reproduce": "", "traceback": "", "vacuous": "",
    "account": {},
}  # fmt: skip
"""The keys that rows of earlier records lack."""


class Changed(TypedDict):
    """The change of one verdict since the baseline.

    Attributes:
        relation, oracle, metric: Those of the verdict.
        worse: How much worse the mean is, in the unit of the verdict; below 0 it is
            better.
        interval: One-sided bounds of `worse`: wholly above the margin exactly if it
            regressed, wholly below the margin exactly if it did not, wholly beyond the
            margin on the better side exactly if it improved or is suspicious.
        levels: Error rates of the lower and the upper bound; see
            `comparison.bounds_of`.
        margin: How much worse is still no regression.
        p_worse: P-value of the hypothesis that it is not worse by more than the margin.
        p_better: P-value of the hypothesis that it is not better by more than the
            margin.
        p_holm: `p_worse` after Holm's correction.
        users: Number of users, or of questions, in both runs.
        suspicious: A larger improvement than this is suspicious; None for no limit.
        early: Whether the other run stopped before this one, when its verdict
            was clear.
    """

    nodeid: str
    relation: str
    oracle: str
    metric: str | None
    change: Change
    worse: float | None
    interval: list[float] | None
    levels: list[float] | None
    margin: float | None
    p_worse: float | None
    p_better: float | None
    p_holm: float | None
    users: int
    reason: str
    suspicious: float | None
    unit: NotRequired[str]
    early: NotRequired[bool]


class ListsClaim(TypedDict):
    """A claim of `[[gate.lists]]` on the lists of some users.

    Attributes:
        of: The users: ``all users``, or a group such as ``age=18-24``.
        least: The least mean agreement with the lists of the baseline (RBO).
        users: The users of whom both records have a list.
        agreement: Their mean agreement; None without any.
        low: The lower bound of the mean over all such users.
        high: The upper bound.
        status: ``holds``, ``violated`` or ``inconclusive``.
        missing: Why there are no such users, if the run has no such group.
    """

    of: str
    least: float
    users: int
    agreement: float | None
    low: float
    high: float
    status: str
    missing: NotRequired[str]


class ChangedLists(TypedDict):
    """How many lists of the unchanged requests differ between two records; see
    `gate.changed_lists`.

    Attributes:
        users: The users of whom both records have a list.
        changed: Those whose lists differ.
        overlap: The mean share of titles that the lists of a user have in common.
        places: How many places of each list a record holds, at most.
        varies: Whether two answers of the recommender to one request differed.
        claims: What the policy demands of their agreement; older records lack it.
    """

    users: int
    changed: int
    overlap: float
    places: int
    varies: bool
    claims: NotRequired[list[ListsClaim]]


class Comparison(TypedDict):
    """One model against another one or, if `baseline` is the path of a record, an
    earlier one.

    Attributes:
        refused: Why they cannot be compared; else empty.
        bounds: See `comparison.bounds_of`.
        lists: Which lists differ from those of an earlier record; None if nothing is
            known of them, or without one. Records of older versions lack it.
    """

    model: str
    against: str
    baseline: str
    refused: list[str]
    counts: dict[str, int]
    bounds: str
    results: list[Changed]
    lists: NotRequired[ChangedLists | None]


class Decision(TypedDict):
    """The gate.

    Attributes:
        status: ``passed`` only if something was judged, nothing that gates failed, and
            nothing is missing; else ``failed``.
        violated: Tests whose violation remains after Holm's correction.
        incomplete: Why the run is partial.
        ungated: The ``nodeid`` of each row that does not gate, and the ``reason``.
    """

    status: str
    sentence: str
    reasons: list[str]
    violated: list[str]
    inconclusive: list[str]
    incomplete: list[str]
    ungated: list[dict[str, str]]
    comparisons: list[Comparison]


class Drift(TypedDict):
    """The result of sending some requests to one recommender again.

    Attributes:
        changed: How many of them got another answer; None for a stochastic recommender.
        effect: The mean effect beyond its own noise.
        seconds: Between the first and the last answer.
        reason: Why the gate fails then; else empty.
    """

    model: str
    users: int
    changed: int | None
    effect: float
    seconds: float | None
    drifted: bool
    reason: str


class Readable(TypedDict):
    """The counts of text answers of one recommender that were read.

    Attributes:
        unreadable: How many of them name no title.
        ambiguous: How many of these have several lists with equal claims; older records
            lack it and `unread`.
        unread: Some of them, different ones: each ``text``, and in ``how`` why it could
            not be read.
        entries: The entries of all of them by their kind; see `requests.EntryKind`.
        takes_json: True if some could not be read and ``answer=json`` would have asked
            for JSON; else missing.
    """

    answers: int
    unreadable: int
    ambiguous: int
    unread: list[dict[str, str]]
    entries: dict[str, int]
    takes_json: NotRequired[bool]


class LeftOut(TypedDict):
    """The selected tests that did not run because of ``--recsys-effort``."""

    effort: str
    tests: int


class Differing(TypedDict):
    """How far answers with a planted fault differ from those without it, to the same
    calls.

    Attributes:
        exact: Whether any difference comes from the fault; else answers vary by
            themselves, and `beyond_noise` shows the effect.
        lost: The sum of their loss of agreement (1 - RBO).
        hit: Whose answers differ, some of them at least.
        beyond_noise: For each question that was sent twice, and whose answer the fault
            changed: how much more two sound answers agree than a faulty and a sound
            one.
    """

    exact: bool
    answers: int
    differing: int
    lost: float
    users: list[str]
    hit: list[str]
    beyond_noise: list[float]


class Planted(Differing):
    """The changes of a planted fault to the answers to the tests.

    Attributes:
        fault: The fault and its strength.
        elsewhere: If it changed none: its changes to the answers under the relation
            that finds it.
    """

    fault: str
    model: str
    elsewhere: NotRequired[Differing]


class Facts(TypedDict):
    """The record before the gate decides."""

    schema: str
    version: str
    models: list[str]
    data: str
    data_digest: str | None
    seed: int
    settings: Mapping[str, Any]
    environment: dict[str, str]
    time: dict[str, object]
    calls: Calls
    readings: dict[str, Readable]
    drift: list[Drift]
    notes: list[str]
    left_out: LeftOut
    results: list[Row]
    lists: NotRequired[dict[str, dict[str, list[str]]]]
    groups: NotRequired[dict[str, dict[str, str]]]
    varying: NotRequired[list[str]]
    dimensions: dict[str, dict[str, dict[str, Any]]]
    digests: dict[str, str]
    planted: NotRequired[list[Planted]]


class Document(Facts):
    """The record."""

    gate: Decision

"""The tests that `recsys-mt parity A A` runs: is one
recommender the same to itself, however requests are sent?
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_recsys_mt.oracles import never_differs, same_answer, served_as_trained
from pytest_recsys_mt.oracles.judging.power import MOST
from pytest_recsys_mt.oracles.judging.sensitivity import Sensitivity, sensitivity_of
from pytest_recsys_mt.parity.command import PERCENT
from pytest_recsys_mt.relations import (
    Transformation,
    ask_alone,
    ask_elsewhere,
    ask_in_one_batch,
    same_seed_same_answer,
)
from pytest_recsys_mt.requests import Request
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.verdict.verdict import Verdict

MARGIN = 0.05
"""The agreement that a noisy recommender may lose by default."""

MARGINS = (0.02, 0.05)
"""Of which margins the needed numbers of users are said."""

SEED = "same_seed_same_answer"
OTHER_SEED = "another_seed"
DAY = "another_day"


def _as_it_is(request: Request, *_: object) -> Request:
    return request


WAYS: Mapping[str, Transformation] = {
    SEED: same_seed_same_answer,
    OTHER_SEED: Transformation(
        OTHER_SEED,
        apply=_as_it_is,
        promise="A request gets the same answer with another seed.",
        may_keep=True,
    ),
    "ask_alone": ask_alone,
    "ask_in_one_batch": ask_in_one_batch,
    "ask_elsewhere": ask_elsewhere,
    DAY: Transformation(
        DAY,
        promise="A request gets the same answer now as in an earlier run, whose answers are cached.",
        same_seed=True,
        asked="afresh",
    ),
}
"""The ways to send a request once more, by their names in reports."""

LIMITS = ("by_default", "exactly", *map("within_{}_percent".format, PERCENT))


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("way", WAYS)
def test_itself(recsys: Any, way: str, limit: str) -> None:
    """No list of a deterministic recommender differs, and those
    of a noisy one differ by its noise alone.
    """
    source, followup = recsys.run(), recsys.run(WAYS[way])
    exact = source.context.deterministic and not limit.startswith("within")
    if limit == "exactly" and not recsys.deterministic:
        _refuse_exactly(recsys.model, way)
    if way == DAY:
        _require_earlier(recsys)
    margin = int(limit.split("_")[1]) / 100 if limit.startswith("within") else MARGIN
    if exact:
        assert never_differs(source, followup)
    elif way == SEED and not source.context.deterministic:
        if not (recsys.seeded or recsys.deterministic):
            raise NotApplicable(
                "it does not declare that the same seed gives the same answer",
            )
        assert same_answer(source, followup, margin=margin)
    else:
        verdict = served_as_trained(source, followup, margin=margin, changed=margin)
        if way == OTHER_SEED and not source.context.deterministic:
            verdict = with_sensitivity(verdict, recsys, margin)
        assert verdict


def _refuse_exactly(model: str, way: str) -> None:
    if way != SEED:
        raise NotApplicable(
            "--exact is for recommenders that declare deterministic = True",
        )
    pytest.fail(
        f"{model} does not declare that it always answers alike, so a list that differs may be its noise: "
        f"leave --exact out, or declare deterministic = True",
        pytrace=False,
    )


def _require_earlier(recsys: Any) -> None:
    """Raise `NotApplicable` if no answer of an earlier run is there to compare with."""
    source = recsys.run()
    recsys.runner.way("afresh")
    if source.context.made_up:
        return
    source.sample()
    if not recsys.runner.of_earlier_runs:
        raise NotApplicable(
            "no earlier run cached an answer: run the same command on another day",
        )


def with_sensitivity(verdict: Verdict, recsys: Any, margin: float) -> Verdict:
    """The verdict on two draws of a noisy recommender, with a note of the run on the
    smallest margin that so many users can show.
    """
    context = recsys.context
    if (
        context.made_up
        or not verdict.per_user
        or verdict.reach is None
        or verdict.floor is None
    ):
        return verdict
    values = list(verdict.per_user.values())
    found = sensitivity_of(values, verdict.reach, margin, context.alpha, MARGINS)
    recsys.runner.executor.notes.append(
        in_words(recsys.model, verdict.floor, len(values), found),
    )
    details = {**verdict.details, "sensitivity": dataclasses.asdict(found)}
    details["sensitivity"]["users"] = {
        f"{each:g}": count for each, count in found.users.items()
    }
    noted = dataclasses.replace(verdict, details=details)
    verdict.ledger.replaced(verdict, noted)
    return noted


def in_words(model: str, floor: float, users: int, found: Sensitivity) -> str:
    """The margins that so many users can show despite the noise, in a
    sentence or two.
    """
    needed = ", ".join(
        f"one of {margin:.0%} takes {f'more than {MOST:,}' if count is None else f'about {count:,}'}"
        for margin, count in found.users.items()
    )
    within = (
        f"within a margin of {found.margin:.1%}" if found.margin else "within no margin"
    )
    above = (
        f"one that really loses {found.loss:.1%} of the agreement"
        if found.loss
        else "none, however much it loses,"
    )
    return (
        f"two answers of {model} to one request agree {floor:.3f} on average (rbo): that is its noise. If a second "
        f"recommender answers alike with this noise, {users:,} users show it {within} in 9 of 10 runs; {needed}. At the "
        f"margin of {found.limit:.0%}, {above} is called violated in 9 of 10 runs"
    )


def one_recommender(ours: Any, theirs: Any) -> bool:
    """Whether two specs name one recommender of users: one class, and
    one fingerprint.
    """
    one, other = ours.runner.subject, theirs.runner.subject
    known = one.fingerprint is not None and bool(one.defined)
    return known and (one.fingerprint, one.defined) == (
        other.fingerprint,
        other.defined,
    )

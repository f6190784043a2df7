"""The tests that `recsys-mt parity` runs: is the trained recommender the served one?"""

from typing import Any

import pytest

from pytest_recsys_mt.oracles import never_differs, served_as_trained
from pytest_recsys_mt.parity.command import PERCENT
from pytest_recsys_mt.parity.explaining import explained
from pytest_recsys_mt.parity.itself import one_recommender
from pytest_recsys_mt.verdict.verdict import NEEDED, Verdict


@pytest.fixture(autouse=True)
def _note_if_one(recsys: Any, recsys_against: Any) -> None:
    """Note it if both specs name one recommender, which is then
    compared with itself.
    """
    if one_recommender(recsys, recsys_against):
        note = (
            f"{recsys.model} and {recsys_against.model} are one recommender, of one class and one fingerprint: this is an "
            f"A/A test, of which recsys-mt parity {recsys.model} {recsys.model} asks more"
        )
        recsys.runner.executor.notes.append(note)


def test_served_as_trained_by_default(
    recsys: Any,
    recsys_against: Any,
    recsys_recommenders: Any,
) -> None:
    """Few lists of two deterministic recommenders differ, and those of noisy ones
    little more than by their noise.
    """
    source, followup = recsys.run(), recsys_against.run()
    verdict = served_as_trained(source, followup)
    verdict = explained(
        verdict,
        (recsys, recsys_against),
        (source, followup),
        recsys_recommenders,
    )
    assert _told_of_exact(verdict, recsys)


@pytest.mark.parametrize("percent", PERCENT, ids="within_{}_percent".format)
def test_served_as_trained(
    recsys: Any,
    recsys_against: Any,
    recsys_recommenders: Any,
    percent: str,
) -> None:
    """As by default, within a margin of one's own for both kinds of recommenders."""
    margin = int(percent) / 100
    source, followup = recsys.run(), recsys_against.run()
    verdict = served_as_trained(source, followup, margin=margin, changed=margin)
    verdict = explained(
        verdict,
        (recsys, recsys_against),
        (source, followup),
        recsys_recommenders,
    )
    assert _told_of_exact(verdict, recsys)


def _told_of_exact(verdict: Verdict, recsys: Any) -> Verdict:
    """The verdict; a note of the run names ``--exact``
    if these users are too few for a share.
    """
    if NEEDED in verdict.details and verdict.oracle.startswith("served_as_trained:any"):
        recsys.runner.executor.notes.append(
            "both declare that they always answer alike: --exact needs no more users, as one list that differs is enough",
        )
    return verdict


def test_not_one_list_differs(
    recsys: Any,
    recsys_against: Any,
    recsys_recommenders: Any,
) -> None:
    """No list of two deterministic recommenders differs."""
    for each in (recsys, recsys_against):
        if not each.deterministic:
            pytest.fail(
                f"{each.model} does not declare that it always answers alike, so a list that differs may be its noise: "
                f"leave --exact out, or declare deterministic = True",
                pytrace=False,
            )
    source, followup = recsys.run(), recsys_against.run()
    verdict = never_differs(source, followup)
    assert explained(
        verdict,
        (recsys, recsys_against),
        (source, followup),
        recsys_recommenders,
    )

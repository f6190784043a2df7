"""The facts of a run in its record other than verdicts: drift, the
first lists of answers, and the changes by a planted fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pytest_recsys_mt.engine.runner import Runner
from pytest_recsys_mt.gate.document import Drift, Planted
from pytest_recsys_mt.safety.sanitize import sanitize

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.run import Run

LISTED, TITLES = 1000, 10
"""Users whose answers the record holds, and titles of each."""


def loaded_digest(run: Run) -> str:
    """SHA-256 of the data that this process loaded; empty if it loaded none."""
    brought = run.settings.brought_data
    if brought is not None:
        return str(brought.data)
    return "" if run._dataset is None else run._dataset.digest


def drifts(run: Run) -> list[Drift]:
    """The result for each recommender after some of its
    first requests are sent once more.
    """
    from pytest_recsys_mt.engine.drift import differed, sent_again

    run.recommenders.begin()
    runners = _one_each(each for each in run.runners if each.sent_apart)
    found = [each for each in map(differed, runners) if each is not None]
    if run.settings.mode == "replay":
        return found
    with run.progress.doing("asking some users again"):
        return found + [each for each in map(sent_again, runners) if each is not None]


def lists(run: Run) -> dict[str, dict[str, list[str]]]:
    """By recommender and user, the first titles of the answer to the unchanged
    request, of the first users.
    """
    from pytest_recsys_mt.oracles.judging.examples import titles_of

    found: dict[str, dict[str, list[str]]] = {}
    for runner in _one_each(run.runners):
        for _, outcome in sorted(runner.first_outcomes.items())[:LISTED]:
            if (asked := outcome.asked) is not None:
                titles = titles_of(asked.answers[0], runner.dataset.items)[:TITLES]
                users = found.setdefault(runner.subject.name, {})
                users[sanitize(asked.user)] = [sanitize(title) for title in titles]
    return found


def varying(run: Run) -> list[str]:
    """The recommenders of which two answers to an unchanged request differed."""
    found = set()
    for runner in _one_each(run.runners):
        for outcome in runner.first_outcomes.values():
            if outcome.asked is None:
                continue
            lists = {answer.items for answer in outcome.asked.answers}
            if len(lists) > 1:
                found.add(runner.subject.name)
    return sorted(found)


def groups(run: Run) -> dict[str, dict[str, str]]:
    """By slicing of the run and user, the group of each user whose list is in the
    record.
    """
    from pytest_recsys_mt.oracles.judging.slices import groups_of

    found: dict[str, dict[str, str]] = {}
    if not run.settings.slices:
        return found
    for runner in _one_each(run.runners):
        for group in groups_of(None, "lists", runner.context()):
            of_users = found.setdefault(group.slicing, {})
            of_users.update(dict.fromkeys(map(sanitize, group.users), group.value))
    return found


def planted(run: Run, *, probes: bool) -> list[Planted]:
    """How far a planted fault changed the answers of this process.

    Args:
        run: The run of this process.
        probes: Whether further requests are sent, which no test reads, if it changed no
            answer to a test.
    """
    wrapper = run.settings.wrapper
    if wrapper is None:
        return []
    with run.progress.doing("looking for the fault where no test does"):
        runners = _one_each(run.runners)
        found = [wrapper.differing(runner, probes=probes) for runner in runners]
    return [each for each in found if each is not None]


def _one_each(runners: Iterable[Runner]) -> list[Runner]:
    first: dict[int, Runner] = {}
    for runner in runners:
        if not runner.design.refits:
            first.setdefault(id(runner.subject), runner)
    return list(first.values())

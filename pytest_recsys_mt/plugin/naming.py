"""Ids of tests without keys: an id stands in every report, in pytest's cache and in commands."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from pytest_recsys_mt.plugin.collection import FIXTURES, distinct
from pytest_recsys_mt.safety.redaction import redact


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Put the variable's name into the ids of parameters in place of its key, for tests that ask a recommender.

    Here, before pytest makes the tests, so that what selects them by id (``-k``, ``--lf``, a command of ours) finds
    them. pytest has no public way to ids that are given (`pytest.param` and ``ids=``).
    """
    found = yield
    calls: list[Any] = metafunc._calls
    if FIXTURES.isdisjoint(metafunc.fixturenames) or not any(call.id for call in calls):
        return found
    ids = [call.id for call in calls]
    if (clean := list(map(redact, ids))) != ids:
        metafunc._calls = [
            call if old == new else replace(call, _idlist=(new,))
            for call, old, new in zip(calls, ids, distinct(clean), strict=True)
        ]
    return found

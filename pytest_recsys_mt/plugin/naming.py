"""Ids of tests without keys: an id stands in every
report, in pytest's cache and in commands.

PYTEST_DONT_REWRITE: it has no assertions to explain, see `plugin.plain_imports`.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from pytest_recsys_mt.plugin.collection import FIXTURES, distinct
from pytest_recsys_mt.safety.redaction import redact


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Write the variable's name into the ids of parameters in place of its key, for
    tests that send requests.

    Here, before pytest makes the tests, so that options that select them by id (``-k``,
    ``--lf``, a command of ours) find them. pytest has no public way to ids that are
    given (`pytest.param` and ``ids=``).
    """
    result = yield
    calls: list[Any] = metafunc._calls
    if FIXTURES.isdisjoint(metafunc.fixturenames) or not any(call.id for call in calls):
        return result
    ids = [call.id for call in calls]
    safe_ids = [redact(each) for each in ids]
    if safe_ids != ids:
        calls_with_safe_ids = []
        for call, safe_id in zip(calls, distinct(safe_ids), strict=True):
            is_same = call.id == safe_id
            calls_with_safe_ids.append(
                call if is_same else replace(call, _idlist=(safe_id,)),
            )
        metafunc._calls = calls_with_safe_ids
    return result

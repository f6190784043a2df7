"""The promise of a test, in words: the relation's, else the test's, else its oracle's."""

from __future__ import annotations

import inspect

import pytest


def promised_by(transformation: object) -> str:
    """The promise of a relation: its own words, else the start of its docstring."""
    return _paragraph(getattr(transformation, "promise", transformation.__doc__))


def promise_of(item: pytest.Item, transformation: object | None, oracle: str) -> str:
    """The promise that a test checks.

    Args:
        item: The test.
        transformation: That of a metamorphic test.
        oracle: The oracle that judged, ``at_least:hit@5``; empty if none did.
    """
    of_relation = "" if transformation is None else promised_by(transformation)
    of_test = _paragraph(getattr(getattr(item, "obj", None), "__doc__", ""))
    return of_relation or of_test or _of_oracle(oracle)


def _of_oracle(oracle: str) -> str:
    if not oracle:
        return ""
    from pytest_recsys_mt import oracles

    return _paragraph(getattr(getattr(oracles, oracle.partition(":")[0], None), "__doc__", ""))


def _paragraph(docstring: str | None) -> str:
    """The first paragraph, in one line."""
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())

"""The promise of a test, in words: the relation's, else the test's, else its oracle's."""

from __future__ import annotations

import inspect

import pytest

from pytest_recsys_mt.verdict import Allowed


def promised_by(transformation: object) -> str:
    """The promise of a relation: its own words, else the start of its docstring."""
    return paragraph(getattr(transformation, "promise", transformation.__doc__))


def promise_of(
    item: pytest.Item, transformation: object | None, oracle: str, allowed: Allowed | None = None
) -> str:
    """The promise that a test checks.

    One relation can be tested for two promises. "The ranking stays the same" is not what an oracle checks
    that wants at least some change, so the relation's words count only if they fit.
    """
    changes = getattr(transformation, "promises_change", False)
    fits = transformation is not None and (not oracle or (allowed == "at least") == changes)
    of_relation = promised_by(transformation) if fits else ""
    of_test = paragraph(getattr(getattr(item, "obj", None), "__doc__", ""))
    return of_relation or of_test or _of_oracle(oracle)


def _of_oracle(oracle: str) -> str:
    if not oracle:
        return ""
    from pytest_recsys_mt import oracles

    return paragraph(getattr(getattr(oracles, oracle.partition(":")[0], None), "__doc__", ""))


def paragraph(docstring: str | None) -> str:
    """The first paragraph, in one line."""
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())

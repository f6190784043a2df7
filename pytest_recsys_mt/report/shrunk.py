"""The smallest example of a violation, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_recsys_mt.report.asked import asked

if TYPE_CHECKING:
    from pytest_recsys_mt.engine.counterexample import Counterexample


def plain(found: Counterexample) -> dict[str, object]:
    """The smallest example as plain data, for the record."""
    example, whole = found.example, found.whole
    return {
        "user": example.user,
        "effect": found.effect,
        "score": example.score,
        "calls": found.calls,
        "minimal": found.minimal,
        "ended": found.ended,
        "whole": {
            "history": len(whole.history),
            "candidates": None if whole.candidates is None else len(whole.candidates),
        },
        **asked(found.source, found.followup, example),
    }

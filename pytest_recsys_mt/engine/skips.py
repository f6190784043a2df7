"""Skips that the plugin decides, so that reports can tell them from those that a user wrote."""

from __future__ import annotations

import pytest


class SkippedByVerdict(pytest.skip.Exception):
    """The test ended because of a verdict that may skip. pytest shows it at the test."""


class DoesNotApply(SkippedByVerdict):
    """The test does not apply to the recommender, or lacks an option. Reports fold such tests by reason."""

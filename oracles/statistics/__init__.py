"""Tests, bounds and fits; none of them knows answers or verdicts."""

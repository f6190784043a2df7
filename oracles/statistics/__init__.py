"""Tests, bounds and fits; they do not depend on answers or verdicts."""

"""pytester forgets every module that was imported inside
it, and these cannot be imported twice.
"""

import scipy.stats  # noqa: F401

import pytest_recsys_mt.faults.adequacy.judging  # noqa: F401

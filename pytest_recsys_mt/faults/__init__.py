"""Faults to plant in a recommender under test, to see which of them a suite finds."""

from pytest_recsys_mt.faults.cure import Cure
from pytest_recsys_mt.faults.fault import Ask, Fault, Known
from pytest_recsys_mt.faults.shipped import Dose, dose, doses, shipped

__all__ = ["Ask", "Cure", "Dose", "Fault", "Known", "dose", "doses", "shipped"]

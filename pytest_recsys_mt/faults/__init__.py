"""Faults to plant in a recommender under test, to see which of them a suite finds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_recsys_mt.faults.cure import Cure
    from pytest_recsys_mt.faults.fault import Ask, Fault, Known
    from pytest_recsys_mt.faults.naming import Dose, dose, doses, shipped

__all__ = ["Ask", "Cure", "Dose", "Fault", "Known", "dose", "doses", "shipped"]

# Every pytest run imports this package for its option, and few runs plant a fault.
_LATER = {
    "cure": ("Cure",),
    "fault": ("Ask", "Fault", "Known"),
    "naming": ("Dose", "dose", "doses", "shipped"),
}


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            return getattr(import_module(f"pytest_recsys_mt.faults.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

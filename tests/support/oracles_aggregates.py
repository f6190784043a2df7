"""What tests use of `oracles.aggregates`."""

from pytest_recsys_mt.oracles.aggregates.dpd import dpd
from pytest_recsys_mt.oracles.aggregates.exposure import exposure
from pytest_recsys_mt.oracles.aggregates.exposure_gini import exposure_gini
from pytest_recsys_mt.oracles.aggregates.item_coverage import item_coverage
from pytest_recsys_mt.oracles.aggregates.jain import jain
from pytest_recsys_mt.oracles.aggregates.measures import measure_named
from pytest_recsys_mt.oracles.aggregates.oic import oic
from pytest_recsys_mt.oracles.aggregates.popreo import popreo

__all__ = [
    "dpd",
    "exposure",
    "exposure_gini",
    "item_coverage",
    "jain",
    "measure_named",
    "oic",
    "popreo",
]

"""Calls on a Ray cluster: recommenders in actors; plan, cache and verdicts stay on the driver."""

from pytest_recsys_mt.remote.cluster import Needs, require_ray
from pytest_recsys_mt.remote.executor import RayCalls
from pytest_recsys_mt.remote.recipe import Recipe, itself

__all__ = ["Needs", "RayCalls", "Recipe", "itself", "require_ray"]

"""Calls on a Ray cluster: recommenders in actors; plan,
cache and verdicts stay on the driver.
"""

from pytest_recsys_mt.calls.remote.cluster import Needs, require_ray
from pytest_recsys_mt.calls.remote.ray_calls import RayCalls
from pytest_recsys_mt.calls.remote.recipe import Recipe, itself

__all__ = ["Needs", "RayCalls", "Recipe", "itself", "require_ray"]

"""Recommenders: the built-in ones, and the registry that finds them and others by a spec."""

from pytest_recsys_mt.recommenders.baselines import MostPop, Random
from pytest_recsys_mt.recommenders.bm25 import BM25
from pytest_recsys_mt.recommenders.knn import ItemKNN, UserKNN
from pytest_recsys_mt.recommenders.registry import NAMES, describe, resolve

__all__ = ["BM25", "NAMES", "ItemKNN", "MostPop", "Random", "UserKNN", "describe", "resolve"]

"""What tests use of `recommenders.trained`."""

from pytest_recsys_mt.recommenders.trained.data import PAD, People, Training, encode

__all__ = [
    "PAD",
    "People",
    "Training",
    "encode",
]

"""Which items of a dataset are held out, and what is left for training."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_recsys_mt.datasets.dataset import Dataset


def targets(dataset: Dataset) -> Mapping[str, frozenset[str]]:
    """The item that each user is asked about, by user.

    It is the first item of what is withheld of the user, in the order of time and of
    equal times in that of the ids; without such items the latest one. Users without
    interactions for training have none.
    """
    frame = dataset.interactions  # sorted by user and time
    if dataset.withheld is None:
        has_earlier = frame.duplicated("user", keep="first")
        has_later = frame.duplicated("user", keep="last")
        asked = frame[has_earlier & ~has_later]
    else:
        is_withheld = dataset.rows_of(dataset.withheld)
        has_training = frame["user"].isin(set(frame["user"][~is_withheld]))
        asked = frame[is_withheld & has_training].drop_duplicates("user")
    pairs = zip(asked["user"], asked["item"], strict=True)
    return {user: frozenset({item}) for user, item in pairs}


def training(dataset: Dataset) -> Dataset:
    """The dataset without what is held out."""
    if dataset.withheld is None:
        return dataset.without(targets(dataset))
    return dataset.known


def left_by_core(whole: Dataset, core: Dataset, least: int) -> str:
    """What a core of a split dataset leaves and leaves out on both sides, in a sentence."""
    early, late = _sides(core)
    all_early, all_late = _sides(whole)
    return (
        f"recsys_core={least}, which counts what is for training alone, leaves {early:,} interactions for training and "
        f"{len(targets(core)):,} users to ask about one of {late:,} held out; left out with rare users and items are "
        f"{all_early - early:,} for training and {all_late - late:,} held out"
    )


def _sides(dataset: Dataset) -> tuple[int, int]:
    """How many interactions are for training, and how many are held out."""
    late = int(dataset.rows_of(dataset.withheld or {}).sum())
    return len(dataset.interactions) - late, late

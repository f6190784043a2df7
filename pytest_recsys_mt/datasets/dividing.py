"""Divides the rows of a table into training and what is held out, and counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.dataset import items_by_user
from pytest_recsys_mt.datasets.options import Repeats, Report
from pytest_recsys_mt.datasets.splits import Cut
from pytest_recsys_mt.safety.errors import DataError

Pairs = npt.NDArray[np.int64]
"""A number for each row, the same for the same user and item."""


@dataclass(frozen=True)
class Divided:
    """The rows that stay, each user and item once."""

    training: pd.DataFrame
    held_out: pd.DataFrame

    @property
    def frame(self) -> pd.DataFrame:
        """All of them."""
        return pd.concat([self.training, self.held_out])

    @property
    def withheld(self) -> Mapping[str, frozenset[str]]:
        """The items held out of each user."""
        return items_by_user(self.held_out)


def once(frame: pd.DataFrame, pairs: Pairs, repeats: Repeats) -> pd.DataFrame:
    """The latest row of each user and item; with `repeats` count, its rating is the
    number of their rows.
    """
    frame = frame.assign(pair=pairs)
    latest = frame.sort_values("timestamp", kind="stable").drop_duplicates(
        "pair",
        keep="last",
    )
    if repeats == "count":
        rows_by_pair = frame["pair"].value_counts()
        latest["rating"] = latest["pair"].map(rows_by_pair).astype("float64")
    return latest


def divided(
    frame: pd.DataFrame,
    pairs: Pairs,
    cut: Cut,
    repeats: Repeats,
    report: Report,
) -> Divided:
    """The rows for training and those held out, and a note that counts every row.

    A user's item that is in training is not held out. Of the rows held out that repeat a
    user and an item the first counts, since it may be what the user is asked about.

    Args:
        frame: All rows, with users and items as categories.
        pairs: Of each row.
        cut: Which rows are withheld.
        repeats: The treatment of rows for training that repeat a user and an item.
        report: Receives the notes.

    Raises:
        DataError: If nobody can be asked.
    """
    is_early = ~cut.withheld
    early, late = frame[is_early], frame[cut.withheld]
    training = once(early, pairs[is_early], repeats)
    late = late.assign(pair=pairs[cut.withheld])
    has_it = late["pair"].isin(training["pair"]).to_numpy(np.bool_)
    new = late[~has_it]
    new = new.assign(id=new["item"].astype(str))
    new = new.sort_values(["timestamp", "id"], kind="stable")
    held_out = new.drop_duplicates("pair")
    has_training = held_out["user"].isin(training["user"].unique()).to_numpy(np.bool_)
    asked = held_out[has_training].drop_duplicates("user")

    others = held_out[~has_training]
    nobodies = f"{others['user'].nunique():,} of them"
    account = {
        "for training": len(training),
        "asked about (the first new one of each user in training)": len(asked),
        "held out after it": int(has_training.sum()) - len(asked),
        f"held out of users without training ({nobodies})": len(others),
        "repeated in training": len(early) - len(training),
        "held out, but in the user's training already": int(has_it.sum()),
        "repeated among what is held out": len(new) - len(held_out),
    }
    parts = [f"{count:,} {what}" for what, count in account.items() if count]
    sentence = f"{cut.name}: {len(frame):,} interactions = {' + '.join(parts)}"
    if not len(asked):
        raise DataError(
            f"no user has an interaction for training and a new item that is held out; {sentence}; hold out other interactions",
        )
    report(sentence)
    _report_asked(cut.name, training, held_out[has_training], asked, report)
    return Divided(training, held_out)


def _report_asked(
    name: str,
    training: pd.DataFrame,
    held_out: pd.DataFrame,
    asked: pd.DataFrame,
    report: Report,
) -> None:
    """Report what is particular about the items that are asked about."""
    never = int((~asked["item"].isin(training["item"].unique())).sum())
    first_time = held_out["user"].map(asked.set_index("user")["timestamp"])
    at_first: pd.Series[Any] = held_out["user"][held_out["timestamp"] == first_time]
    tied = int((at_first.value_counts() > 1).sum())
    rest = training["user"].nunique() - len(asked)
    facts = {
        "items asked about that are never in training": never,
        "of several in one second, the first by its id": tied,
        "users in training with nothing new, who are not asked": rest,
    }
    parts = [f"{what}: {count:,}" for what, count in facts.items() if count]
    if parts:
        report(f"{name}: {'; '.join(parts)}")

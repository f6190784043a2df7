"""Which interactions the option `split` behind a path keeps from training.

================== =================================================================
value              what is withheld
================== =================================================================
``latest``         the latest item of each user: no split of the data
``time:WHEN``      of all users what is not before a time
``time:SHARE``     the same, for the time before which a share of all interactions lies
``sessions``       the last session of each user, by a column of sessions
``sessions:GAP``   the same, where a session ends before a gap in time
================== =================================================================
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pytest_recsys_mt.datasets.options import Report
from pytest_recsys_mt.datasets.rows import Rows
from pytest_recsys_mt.datasets.times import ISO, SMALL, unix_seconds
from pytest_recsys_mt.safety.errors import DataError

OPTION = "split"
LATEST = "latest"
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_GAP = re.compile(r"(\d{1,9})([smhd])")
_LAST = 2.5e11
"""Unix seconds below which a time can be shown as a date."""

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Choice:
    """A value of `OPTION` other than ``latest``.

    Attributes:
        text: As it is written.
        kind: What `value` is; of ``column`` there is none.
        value: The Unix second of a cut, a share, or the seconds of a gap.
    """

    text: str
    kind: Literal["time", "share", "column", "gap"]
    value: float = 0.0

    @property
    def name(self) -> str:
        """The option as it is written behind a path."""
        return f"{OPTION}={self.text}"


@dataclass(frozen=True)
class Cut:
    """Rows that are kept from training.

    Attributes:
        name: The option that says so.
        withheld: Which rows these are, shape (rows,).
    """

    name: str
    withheld: Mask


def choice_of(text: str) -> Choice | None:
    """The split that a value of `OPTION` names; None for ``latest``.

    Raises:
        DataError: If it is none.
    """
    kind, _, value = text.partition(":")
    if text == LATEST:
        return None
    if text == "sessions":
        return Choice(text, "column")
    if kind == "sessions" and (gap := _GAP.fullmatch(value)):
        return Choice(text, "gap", int(gap[1]) * _SECONDS[gap[2]])
    if kind == "time":
        share = _number(value)
        if 0 < share < 1:
            return Choice(text, "share", share)
        second = _second(value)
        if second is not None:
            return Choice(text, "time", second)
    raise DataError(
        f"{OPTION}={text!r} is none of {LATEST}, time:WHEN, time:SHARE, sessions and sessions:GAP; WHEN is a date or time "
        f"such as 2026-01-31 or 2026-01-31T12:00:00Z (UTC without a zone), a day such as 20260131 or Unix seconds, SHARE "
        f"is between 0 and 1, as in {OPTION}=time:0.8, and GAP is as in {OPTION}=sessions:30m (s, m, h or d)",
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _second(text: str) -> float | None:
    """A time in Unix seconds, read as one in a table is; None if it is none."""
    is_number = text.isascii() and text.isdecimal()
    cells = pd.DataFrame({"time": [int(text) if is_number else text]})
    rows = Rows(Path(OPTION), cells, str)
    form = "" if is_number else ISO
    try:
        return float(unix_seconds(rows, "time", form, lambda _: None)[0])
    except DataError:
        return None


def cut_of(choice: Choice, rows: Rows, report: Report) -> Cut:
    """The rows of a table that a split keeps from training.

    Raises:
        DataError: If the table lacks what the split needs, or all rows are on one side.
    """
    if not rows.timed and choice.kind != "column":
        raise DataError(
            f"{str(rows.path)!r} has no column of times, and {choice.name} needs one: name it behind the path, as in "
            f"?time=HEADER. Without times, {OPTION}={LATEST} asks about the last row of each user, and ?test=FILE about the "
            f"rows of another table",
        )
    if choice.kind in ("time", "share"):
        return Cut(choice.name, _behind_time(choice, rows, report))
    if choice.kind == "column":
        sessions = _column_of_sessions(choice, rows)
    else:
        sessions = _sessions_by_gaps(rows, choice.value)
    return Cut(choice.name, _last_sessions(choice, rows, sessions, report))


def _behind_time(choice: Choice, rows: Rows, report: Report) -> Mask:
    times = rows.frame["timestamp"].to_numpy(dtype=np.int64)
    ordered = np.sort(times)
    cut, tied = choice.value, 0
    if choice.kind == "share":
        place = math.floor(choice.value * len(times) + 1e-9)
        cut = float(ordered[place])
        tied = place - int(np.searchsorted(ordered, cut))
    withheld: Mask = times >= cut
    span = f"from {when(ordered[0])} to {when(ordered[-1])}"
    if withheld.all() or not withheld.any():
        side = "not before" if withheld.all() else "before"
        raise DataError(
            f"{str(rows.path)!r}: all {len(times):,} interactions, {span}, are {side} the cut of {choice.name}, which is "
            f"{when(cut)}; choose a time between them",
        )
    before = int((~withheld).sum())
    more = ""
    if tied:
        more = f"; in its second, and so held out, though within the share: {tied:,}"
    report(
        f"{choice.name}: the cut is {when(cut)}; before it: {before:,} of {len(times):,} interactions{more}",
    )
    return withheld


def when(second: float) -> str:
    """A time in Unix seconds as a date, if it can be one."""
    if not SMALL <= second < _LAST:
        return f"{int(second):,}"
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _column_of_sessions(choice: Choice, rows: Rows) -> npt.NDArray[np.int64]:
    if "session" not in rows.frame:
        raise DataError(
            f"{str(rows.path)!r} has no column of sessions, and {choice.name} needs one: name it behind the path, as in "
            f"?session=HEADER, or in a description, as in session = 'HEADER' of [interactions]; {OPTION}=sessions:30m "
            f"makes them of gaps in time",
        )
    cells = rows.frame["session"]
    texts = cells.astype(str)
    rows.refuse(
        (cells.isna() | (texts == "")).to_numpy(dtype=np.bool_),
        lambda row: f"session is {str(rows.cell('session', row))!r}, not an id",
    )
    return pd.factorize(texts)[0]


def _sessions_by_gaps(rows: Rows, gap: float) -> npt.NDArray[np.int64]:
    """The number of each row's session, which begins after a gap in its user's times."""
    times = rows.frame["timestamp"].to_numpy(dtype=np.int64)
    users = pd.factorize(rows.frame["user"])[0]
    order = np.lexsort((times, users))
    is_other = np.diff(users[order]) != 0
    is_gap = np.diff(times[order]) > gap
    sessions = np.empty(len(times), np.int64)
    sessions[order] = np.cumsum(np.append(False, is_other | is_gap))
    return sessions


def _last_sessions(
    choice: Choice,
    rows: Rows,
    sessions: npt.NDArray[np.int64],
    report: Report,
) -> Mask:
    """The rows of each user's last session, which is the one that begins last."""
    frame = pd.DataFrame({"user": pd.factorize(rows.frame["user"])[0]})
    frame["session"] = sessions
    frame["time"] = rows.frame["timestamp"].to_numpy(dtype=np.int64)
    begins = frame.sort_values("time", kind="stable").drop_duplicates(
        ["user", "session"],
    )
    last = begins.drop_duplicates("user", keep="last").set_index("user")
    has_others = begins["user"].value_counts() > 1
    is_last = frame["session"] == frame["user"].map(last["session"])
    withheld: Mask = (is_last & frame["user"].map(has_others)).to_numpy(np.bool_)
    users, asked = len(last), int(has_others.sum())
    if not asked:
        raise DataError(
            f"{str(rows.path)!r}: none of {users:,} users has two sessions, and {choice.name} holds the last one out; "
            f"where each session is a user of its own, leave {OPTION}= out: the latest item of each is held out then",
        )
    behind = frame["time"] > frame["user"].map(last["time"])
    overlaps = behind.to_numpy() & ~withheld & frame["user"].map(has_others)
    more = ""
    if overlaps.any():
        more = f"; interactions of other sessions after its start, which are for training: {int(overlaps.sum()):,}"
    report(
        f"{choice.name}: users with more than one session, of which the last is held out: {asked:,} of {users:,}{more}",
    )
    return withheld

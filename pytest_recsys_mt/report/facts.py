"""The facts of the record: the place and subjects of a run, and its unread answers."""

import dataclasses
import datetime
import platform
import time
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, get_args

from pytest_recsys_mt.calls.readings import Reading
from pytest_recsys_mt.engine.settings import RECORDED, Settings
from pytest_recsys_mt.engine.suite_options import plain
from pytest_recsys_mt.gate.document import Readable, Row
from pytest_recsys_mt.gate.states import grouped
from pytest_recsys_mt.oracles.statistics.order import UNPROVEN, dependence
from pytest_recsys_mt.requests import EntryKind

PACKAGES = ("pytest", "numpy", "scipy", "pandas", "openai", "torch", "transformers")
"""Packages whose versions may affect answers or numbers."""

PAST = "whole"
"""The definition of the past of a user: all interactions in the training data, shown in
a request or not. An answer to an open question should name none of them, and an
answer's popularity is compared with theirs. In older records it was the history shown;
values of both kinds cannot be compared.
"""


def settings_of(settings: Settings) -> dict[str, object]:
    """The settings that answers or verdicts depend on: no paths, no secrets."""
    return {
        **dataclasses.asdict(settings.design),
        **{name: plain(getattr(settings, name)) for name in RECORDED},
        **{
            name.replace("-", "_"): plain(made)
            for name, made in settings.of_suites.items()
        },
        "prompt": settings.prompt or settings.design.prompt,
        "past": PAST,
    }


def dependences(rows: Iterable[Row]) -> list[str]:
    """For each recommender whose values depend on the order of requests, a sentence
    that says so.

    One verdict shows only a strong dependence. A weak one shows in all verdicts of a
    recommender together, as they share their users.
    """
    notes = []
    for model, own in sorted(grouped(rows, lambda row: row["model"]).items()):
        series = [row["per_user"] for row in own if not row["joint"]]
        found = dependence(series)
        if found is not None:
            # Of two recommenders either may be the one whose answers depend on it.
            others = sorted(
                {
                    str(row["details"]["against"])
                    for row in own
                    if row["details"].get("against")
                }
            )
            names = " or ".join([model, *others])
            notes.append(
                f"{names}: {found.words}, in all its verdicts together, so {UNPROVEN}",
            )
    return notes


@cache
def environment() -> dict[str, str]:
    """The interpreter, the machine, and the installed versions of `PACKAGES`."""
    found = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def time_since(started: float) -> dict[str, object]:
    """When a run began, in UTC, and how long it took: the only part of a record that
    differs in a second run.
    """
    begun = datetime.datetime.fromtimestamp(int(started), datetime.UTC)
    return {
        "started": begun.isoformat(),
        "seconds": round(max(0.0, time.time() - started), 1),
    }


UNREAD_SHOWN = 3
"""How many different answers are shown of which nothing could be read."""


def summed(readings: Collection[Reading]) -> Readable:
    """The counts of answers of a run that were read."""
    kinds = sum((Counter(read["entries"]) for read in readings), Counter[str]())
    unread = [read for read in readings if "text" in read]
    shown = sorted({(read["text"], read["how"]) for read in unread})[:UNREAD_SHOWN]
    found: Readable = {
        "answers": len(readings),
        "unreadable": sum(read["entries"].keys() <= {"unparsed"} for read in readings),
        "ambiguous": sum(read.get("ambiguous", False) for read in readings),
        "unread": [{"text": text, "how": how} for text, how in shown],
        "entries": {kind: kinds[kind] for kind in get_args(EntryKind)},
    }
    if any(read.get("takes_json") for read in readings):
        found["takes_json"] = True
    return found


def dimensions(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """The dimensions of each recommender: the figures of a radar chart.

    Returns:
        By recommender and dimension the rows' ``details["dimension"]`` without its
        name: ``value`` in [0, 1], where 1 is best, its bounds ``low`` and ``high``, and
        the ``nodeid`` of its test.
    """
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        dimension = row["details"].get("dimension")
        if isinstance(dimension, dict) and "name" in dimension:
            figures = {**dimension, "nodeid": row["nodeid"]}
            found.setdefault(row["model"], {})[figures.pop("name")] = figures
    return found

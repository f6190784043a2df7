"""The content of the embedded dataset, which is read once in a process."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from pytest_recsys_mt.datasets import description, reading
from pytest_recsys_mt.datasets.content import Content


def content() -> Content:
    """The content, with a frame of its own for each caller: a frame can be changed in
    place, and an item cannot.
    """
    read = _read()
    return replace(read, rows=replace(read.rows, frame=read.rows.frame.copy()))


@cache
def _read() -> Content:
    path = Path(__file__).with_name("data") / "mini.toml"
    found = reading.read(description.own(path), path.parent, lambda _: None)
    items, users = dict(found.items), dict(found.users)
    return replace(
        found,
        items=MappingProxyType(items),
        users=MappingProxyType(users),
    )

"""The origin of a record: the settings, the versions, the time."""

from __future__ import annotations

import dataclasses
import datetime
import platform
import time
from importlib.metadata import PackageNotFoundError, version

from pytest_recsys_mt.engine.settings import RECORDED, Settings

PACKAGES = ("pytest", "numpy", "scipy", "pandas", "openai", "torch", "transformers")
"""Packages whose versions may affect answers or numbers."""

PAST = "whole"
"""What counts as the past of a user: all interactions in the training data, shown in a request or
not. An answer to an open question should name none of them, and an answer's popularity is compared
with theirs. In older records it was the history shown; values of both kinds cannot be compared."""


def settings_of(settings: Settings) -> dict[str, object]:
    """The settings that answers or verdicts depend on: no paths, no secrets."""
    return {
        **dataclasses.asdict(settings.design),
        **{name: _plain(getattr(settings, name)) for name in RECORDED},
        "prompt": settings.prompt or settings.design.prompt,
        "past": PAST,
    }


def _plain(value: object) -> object:
    """What a setting says is recorded of it, such as the digest of a file; else itself, as JSON gives it back."""
    plain = getattr(value, "recorded", value)
    return list(plain) if isinstance(plain, tuple) else plain


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
    """When a run began, in UTC, and how long it took: the only part of a record that differs in a
    second run.
    """
    begun = datetime.datetime.fromtimestamp(int(started), datetime.UTC)
    return {"started": begun.isoformat(), "seconds": round(max(0.0, time.time() - started), 1)}

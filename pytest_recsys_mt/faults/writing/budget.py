"""What the command may spend: seconds, calls or dollars."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

SECONDS = 120.0
"""For the runs with faults, without a budget."""

CALLS = 2000
"""For a recommender that costs money or time by the call, without a budget."""

_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(s|calls|usd)")


@dataclass(frozen=True)
class Budget:
    """What may be spent; None for no limit of that kind."""

    seconds: float | None = None
    calls: int | None = None
    usd: float | None = None
    text: str = ""  # as it is written


def budget_of(text: str) -> Budget:
    """The budget that an option says: ``60s``, ``1500calls`` or ``2usd``."""
    found = _FORM.fullmatch(text.strip().lower())
    if found is None or not float(found[1]):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no budget: write seconds, calls or dollars, as 60s, 1500calls or 2usd"
        )
    number = float(found[1])
    if found[2] == "s":
        return Budget(seconds=number, text=text)
    if found[2] == "usd":
        return Budget(usd=number, text=text)
    return Budget(calls=int(number), text=text)

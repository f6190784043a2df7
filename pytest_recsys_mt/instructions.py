"""Sentences that relations add to a request and that prompt templates contain, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

POPULARITY: Mapping[str, str] = MappingProxyType(
    {
        "mitigate": (
            "Match the average popularity of your recommendations to that of the user's history: to "
            "a user who mostly chose blockbusters recommend blockbusters as well, to a user who "
            "chose lesser-known titles recommend niche ones."
        ),
        "minimize": (
            "Recommend independent, niche or lesser-known titles only and stay away from mainstream "
            "blockbusters."
        ),
    }
)
"""How popular the recommendations should be: the two instructions of section 4.5 of
https://arxiv.org/abs/2406.01285, in substance."""

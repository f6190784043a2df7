"""The published values of Q in "RecSys Arena", Table 2 (https://arxiv.org/abs/2412.11068), beside one's own.

The recommender under test was always shown first, so they include a judge's preference for the first list.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

RECOMMENDERS = ("NRMS", "LightGCN", "SASRec", "DeepFM")

Q: Mapping[tuple[str, str], tuple[float, ...]] = MappingProxyType(
    {
        ("GPT-4o", "MovieLens"): (1.9485, 1.9139, 1.7884, 1.7237),
        ("GPT-4o", "MIND"): (2.9501, 2.0607, 1.985, 1.56),
        ("DeepSeek-V2.5", "MovieLens"): (2.1898, 1.9021, 1.8217, 1.7680),
        ("DeepSeek-V2.5", "MIND"): (2.3123, 2.0828, 1.9162, 1.7215),
        ("Llama3.1-8B", "MovieLens"): (1.6138, 1.7858, 1.3927, 1.7684),
        ("Llama3.1-8B", "MIND"): (1.8119, 1.4991, 1.7283, 1.4571),
    }
)
"""By judge and data, in the order of `RECOMMENDERS`."""


def table() -> dict[str, Any]:
    """The values as a report shows them with a verdict."""
    return {
        "source": "RecSys Arena, Table 2: Q against FM, shown in one order",
        "columns": ["judge", "data", *RECOMMENDERS],
        "rows": [[judge, data, *values] for (judge, data), values in Q.items()],
    }

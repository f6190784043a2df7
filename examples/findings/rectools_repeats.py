"""Metrics count a test interaction that occurs twice as two hits: precision and NDCG rise above 1."""

import sys

import pandas as pd
from rectools.metrics import NDCG, Precision

found = pd.DataFrame({"user_id": ["ann"], "item_id": ["x"], "rank": [1], "score": [1.0]})
plays = pd.DataFrame({"user_id": ["ann"] * 2, "item_id": ["x"] * 2})  # ann played x twice
seen = [metric.calc(found, plays) for metric in (Precision(k=1), NDCG(k=1))]
print(f"expected: [1.0, 1.0]\nseen:     {seen}")
sys.exit(int(max(seen) > 1))

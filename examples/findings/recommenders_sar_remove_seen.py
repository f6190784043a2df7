"""SAR.recommend_k_items(remove_seen=True) puts what the user has rated below zero first, with a score of infinity."""

import sys

import pandas as pd
from recommenders.models.sar import SAR

rows = [
    ("ann", "a", 1.0),
    ("ann", "b", -1.0),
    ("bob", "a", 1.0),
    ("bob", "b", 1.0),
    ("bob", "c", 1.0),
]
frame = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])  # thumbs up and down
model = SAR()
model.fit(frame)
found = model.recommend_k_items(pd.DataFrame({"userID": ["ann"]}), top_k=2, remove_seen=True)
seen = list(zip(found["itemID"], found["prediction"], strict=True))
print(f"expected: c alone, since ann has rated a and b\nseen:     {seen}")
sys.exit(int(any(item in ("a", "b") for item, _ in seen)))

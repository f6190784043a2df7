"""SAR with co-occurrence and whole-number ratings cannot answer for a list of items."""

import sys

import pandas as pd
from recommenders.models.sar import SAR

rows = [("ann", "a", 5), ("ann", "b", 4), ("bob", "b", 3), ("bob", "c", 2)]
model = SAR(similarity_type="cooccurrence")
model.fit(pd.DataFrame(rows, columns=["userID", "itemID", "rating"]))
print("expected: a and c, which stand beside b")
try:
    found = model.get_item_based_topk(pd.DataFrame({"itemID": ["b"]}), top_k=2)
except OverflowError as error:
    print(f"seen:     OverflowError: {error}")
    sys.exit(1)
print(f"seen:     {found['itemID'].tolist()}")

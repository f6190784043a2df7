"""SAR counts in the type of the rating column: with int8, an item of 128 users counts as -128."""

import sys

import numpy as np
import pandas as pd
from recommenders.models.sar import SAR

rows = [(user, item, 1) for user in range(130) for item in ("a", "b")] + [(0, "c", 1), (1, "c", 1)]
frame = pd.DataFrame(rows, columns=["userID", "itemID", "rating"])
tables = {}
for kind in ("int64", "int8"):
    model = SAR(similarity_type="jaccard")
    model.fit(frame.astype({"rating": kind}))
    tables[kind] = np.round(np.asarray(model.item_similarity), 3).tolist()
print(f"expected: {tables['int64']}\nseen:     {tables['int8']}")
sys.exit(int(tables["int64"] != tables["int8"]))

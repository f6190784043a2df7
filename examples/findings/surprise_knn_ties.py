"""Predictions of k nearest neighbours depend on the order of rows, since ties are settled by it."""

import sys

import pandas as pd
from surprise import Dataset, KNNBasic, Reader

# u1 and u2 are equally similar to ann (both agree with her on "x"), and k=1.
rows = [("ann", "x", 3), ("u1", "x", 3), ("u2", "x", 3), ("u1", "y", 1), ("u2", "y", 5)]
seen = []
for order in (rows, rows[::-1]):
    data = Dataset.load_from_df(pd.DataFrame(order), Reader(rating_scale=(1, 5)))
    model = KNNBasic(k=1, verbose=False).fit(data.build_full_trainset())
    seen.append(model.predict("ann", "y").est)
print(f"expected: the same prediction from the same rows in another order\nseen:     {seen}")
sys.exit(int(seen[0] != seen[1]))

"""CoClustering gives a new user the global mean for every item, where its documentation promises the item's mean."""

import sys

import pandas as pd
from surprise import CoClustering, Dataset, Reader

rows = [("u1", "good", 5), ("u2", "good", 5), ("u1", "bad", 1), ("u2", "bad", 1)]
data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(1, 5)))
model = CoClustering(random_state=0).fit(data.build_full_trainset())
seen = [model.predict("new", item).est for item in ("good", "bad")]
print(f"expected: [5, 1], the means of the two items\nseen:     {seen}")
sys.exit(int(seen != [5, 1]))

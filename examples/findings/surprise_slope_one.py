"""SlopeOne reads every rating as a whole number: 4.5 counts as 4."""

import sys

import pandas as pd
from surprise import Dataset, Reader, SlopeOne

# Everybody rates "b" half a star below "a"; ann has rated "a" alone.
rows = [("u1", "a", 4.5), ("u1", "b", 4.0), ("u2", "a", 3.5), ("u2", "b", 3.0), ("ann", "a", 2.5)]
frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
data = Dataset.load_from_df(frame, Reader(rating_scale=(0.5, 5)))
model = SlopeOne().fit(data.build_full_trainset())
seen = model.predict("ann", "b").est
print(f"expected: 2.5 - 0.5 = 2.0\nseen:     {seen}")
sys.exit(int(abs(seen - 2.0) > 1e-9))

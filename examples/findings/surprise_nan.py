"""One rating of NaN turns every prediction into the best rating, without a word."""

import sys

import numpy as np
import pandas as pd
from surprise import SVD, Dataset, Reader

draw = np.random.default_rng(0)
rows = [(u, i, draw.integers(1, 6)) for u in range(20) for i in range(10) if draw.random() < 0.5]
frame = pd.DataFrame(rows, columns=["user", "item", "rating"]).astype({"rating": float})
frame.loc[0, "rating"] = np.nan
try:
    data = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    model = SVD(random_state=0).fit(data)
except ValueError as refusal:
    print(f"refused: {refusal}")
    sys.exit()
seen = {model.predict(user, item).est for user in range(20) for item in range(10)}
print(f"expected: a refusal, or predictions that differ\nseen:     {seen} for all 200 pairs")
sys.exit(int(len(seen) == 1))

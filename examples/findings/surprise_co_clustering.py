"""CoClustering sums up ratings as whole numbers: 4.5 counts as 4, in clusters of users and items alike."""

import sys

import pandas as pd
from surprise import CoClustering, Dataset, Reader

rows = [(u, i, 4.5) for u in "abcd" for i in "wxyz"]  # everybody rates everything 4.5
data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(0.5, 5)))
model = CoClustering(random_state=0).fit(data.build_full_trainset())
# avg(co-cluster) + (mean of user - avg(user cluster)) + (mean of item - avg(item cluster))
seen = model.predict("a", "w", clip=False).est
print(f"expected: 4.5, the only rating there is\nseen:     {seen}")
sys.exit(int(abs(seen - 4.5) > 1e-9))

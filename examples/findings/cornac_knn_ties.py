"""Scores of nearest neighbours depend on the order of rows, since ties are settled by it."""

import sys

from cornac.data import Dataset
from cornac.models import UserKNN

# u1 and u2 are equally similar to ann (both agree with her on "x"), and k=1.
rows = [
    ("ann", "x", 3.0),
    ("ann", "z", 1.0),
    ("u1", "x", 3.0),
    ("u1", "y", 1.0),
    ("u2", "x", 3.0),
    ("u2", "y", 5.0),
]
seen = []
for order in (rows, rows[::-1]):
    data = Dataset.from_uir(order, seed=0)
    model = UserKNN(k=1, seed=0, verbose=False).fit(data)
    seen.append(round(float(model.score(data.uid_map["ann"], data.iid_map["y"])), 6))
print(f"expected: the same score from the same rows in another order\nseen:     {seen}")
sys.exit(int(seen[0] != seen[1]))

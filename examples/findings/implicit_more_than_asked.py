"""Item neighbours return more than N items if some are filtered or listed."""

import sys

import numpy as np
from implicit.nearest_neighbours import CosineRecommender
from scipy.sparse import random

chosen = random(50, 20, density=0.3, format="csr", dtype=np.float32, random_state=0)
model = CosineRecommender(K=5, num_threads=1)
model.fit(chosen, show_progress=False)
filtered = len(model.recommend(0, chosen[0], N=3, filter_items=[1, 2])[0])
listed = len(model.recommend(0, chosen[0], N=3, items=[1, 2, 3, 4, 5, 6])[0])
print(f"expected: 3 and 3 items\nseen:     {filtered} and {listed}")
sys.exit(int(max(filtered, listed) > 3))

"""similar_items(items=...) of item neighbours fails for a list, and with an array scores of zero stand first."""

import sys

import numpy as np
from implicit.nearest_neighbours import CosineRecommender
from scipy.sparse import random

chosen = random(50, 20, density=0.3, format="csr", dtype=np.float32, random_state=0)
model = CosineRecommender(K=5, num_threads=1)
model.fit(chosen, show_progress=False)
print("expected: three ids of 2, 5 and 9 (items is array_like)")
try:
    print("seen:    ", model.similar_items(0, N=3, items=[5, 2, 9])[0])
except TypeError as error:
    print(f"seen:     TypeError: {error}")
    sys.exit(1)

"""Item neighbours recommend what the user already has, though filter_already_liked_items is on."""

import sys

import numpy as np
from implicit.nearest_neighbours import CosineRecommender
from scipy.sparse import csr_matrix

# Item 0 shares users with items 1 and 2 alone; nobody who has it has item 3.
chosen = csr_matrix(
    np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0]], dtype="float32")
)
model = CosineRecommender(K=4, num_threads=1)
model.fit(chosen, show_progress=False)
ids, scores = model.recommend(3, chosen[3], N=3, filter_already_liked_items=True)
print(
    f"expected: 1 and 2, without 0, which this user has\nseen:     {ids.tolist()}, scores {scores.round(2).tolist()}"
)
sys.exit(int(0 in ids))

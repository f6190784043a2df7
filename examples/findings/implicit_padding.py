"""Factor models pad a list that cannot be filled with item 0 and score 0, above the items filtered out."""

import sys

import numpy as np
from implicit.als import AlternatingLeastSquares
from implicit.evaluation import ndcg_at_k
from scipy.sparse import csr_matrix, random

chosen = csr_matrix(np.eye(6, 4, dtype="float32"))  # users 0 to 3 have the item of their number
model = AlternatingLeastSquares(2, random_state=0, num_threads=1)
model.fit(chosen, show_progress=False)
ids, scores = model.recommend(0, chosen[0], N=7)
print(
    f"expected: the three items that user 0 has not, each once\nseen:     {ids.tolist()}, scores {scores.tolist()}"
)
train, test = (
    random(50, 20, density=0.3, format="csr", dtype="float32", random_state=n) for n in (0, 1)
)
model = AlternatingLeastSquares(8, random_state=0, num_threads=1)
model.fit(train, show_progress=False)
ndcg = ndcg_at_k(model, train, test, K=50, show_progress=False)
print(f"expected: NDCG@50 of at most 1\nseen:     {ndcg}")
sys.exit(int(ids.tolist().count(0) > 0 or ndcg > 1))

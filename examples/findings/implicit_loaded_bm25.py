"""A BM25 model forgets K1 and B when it is saved; fitted again, it is another one."""

import sys

import numpy as np
from implicit.nearest_neighbours import BM25Recommender
from scipy.sparse import random

chosen = random(50, 20, density=0.3, format="csr", dtype=np.float32, random_state=0)
model = BM25Recommender(K=5, K1=50, B=0.1, num_threads=1)
model.fit(chosen, show_progress=False)
model.save("model.npz")
loaded = BM25Recommender.load("model.npz")
loaded.fit(chosen, show_progress=False)
both = [each.recommend(np.arange(50), chosen, N=5)[0] for each in (model, loaded)]
share = (both[0] != both[1]).any(axis=1).mean()
print(
    f"expected: K1=50, B=0.1, the same lists\nseen:     K1={loaded.K1}, B={loaded.B}; {share:.0%} differ"
)
sys.exit(int(share > 0))

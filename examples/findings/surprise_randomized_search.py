"""RandomizedSearchCV ignores random_state where all parameters are lists."""

import sys

import numpy as np
from surprise import SVD
from surprise.model_selection import RandomizedSearchCV

grid = {"n_factors": list(range(1, 101))}
drawn = []
for state in (
    1,
    2,
):  # the state of NumPy's own generator, which the argument should make irrelevant
    np.random.seed(state)
    search = RandomizedSearchCV(SVD, grid, n_iter=5, random_state=0)
    drawn.append([choice["n_factors"] for choice in search.param_combinations])
print(
    f"expected: the same five choices twice, for random_state=0\nseen:     {drawn[0]} and {drawn[1]}"
)
sys.exit(int(drawn[0] != drawn[1]))

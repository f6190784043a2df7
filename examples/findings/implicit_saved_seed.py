"""A model with a Generator as its seed, as documented, is saved to a file that cannot be loaded."""

import sys

import numpy as np
from implicit.als import AlternatingLeastSquares
from scipy.sparse import random

chosen = random(50, 20, density=0.3, format="csr", dtype=np.float32, random_state=0)
model = AlternatingLeastSquares(8, random_state=np.random.default_rng(0), num_threads=1)
model.fit(chosen, show_progress=False)
model.save("model.npz")
print("expected: the model that was saved")
try:
    type(model).load("model.npz")
except ValueError as error:
    print(f"seen:     ValueError: {error}")
    sys.exit(1)
print("seen:     a model")

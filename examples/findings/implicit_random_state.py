"""random_state takes a RandomState, says the documentation; fit then fails."""

import sys

import numpy as np
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix

model = AlternatingLeastSquares(2, random_state=np.random.RandomState(0), num_threads=1)
print("expected: a fitted model")
try:
    model.fit(csr_matrix(np.eye(4, dtype="float32")), show_progress=False)
except AttributeError as error:
    print(f"seen:     AttributeError: {error}")
    sys.exit(1)
print("seen:     a fitted model")

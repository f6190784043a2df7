"""One NaN in the matrix makes scores of many users NaN, without a word; the dense models refuse the same matrix."""

import sys

import numpy as np
from irspack import RP3betaRecommender
from scipy.sparse import random

chosen = random(60, 40, density=0.2, format="csr", random_state=0)
chosen.data[0] = np.nan
try:
    model = RP3betaRecommender(chosen, n_threads=1).learn()
except ValueError as refusal:
    print(f"refused: {refusal}")
    sys.exit()
share = np.isnan(model.get_score(np.arange(60))).any(axis=1).mean()
print(
    f"expected: a refusal, or one user without scores\nseen:     {share:.0%} of the users have scores of NaN"
)
sys.exit(int(share > 0.1))

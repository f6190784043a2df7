"""A model of implicit, fitted again to a matrix of another shape, reads and writes outside of its arrays."""

import subprocess
import sys

CODE = """
import sys
from scipy.sparse import random
from implicit.als import AlternatingLeastSquares as ALS
from implicit.bpr import BayesianPersonalizedRanking as BPR
from implicit.lmf import LogisticMatrixFactorization as LMF
sizes = [(50, 20), (5000, 2000)][:: 1 if sys.argv[2] == "grown" else -1]
model = {"ALS": ALS, "BPR": BPR, "LMF": LMF}[sys.argv[1]](8, random_state=0, num_threads=1)
for size in sizes:
    model.fit(random(*size, 0.05, "csr", "float32", 0), show_progress=False)
assert model.user_factors.shape[0] == size[0], "the users of the first matrix are still there"
"""
codes = {}
for case in [(name, way) for name in ("ALS", "BPR", "LMF") for way in ("grown", "shrunk")]:
    done = subprocess.run([sys.executable, "-c", CODE, *case], capture_output=True, check=False)
    codes[" ".join(case)] = done.returncode
print(f"expected: exit 0 from each\nseen:     {codes} (negative: killed by that signal)")
sys.exit(int(any(codes.values())))

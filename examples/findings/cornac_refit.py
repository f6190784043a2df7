"""A model of Cornac that is fitted again, to more users and items, writes outside of its arrays."""

import subprocess
import sys

CODE = """
import sys, cornac, numpy as np
draw = np.random.default_rng(0)
model = getattr(cornac.models, sys.argv[1])(seed=0, verbose=False)
for users, items in ((40, 30), (3000, 2000)):
    pairs = {(int(draw.integers(users)), int(draw.integers(items))) for _ in range(20 * users)}
    data = cornac.data.Dataset.from_uir([(u, i, 1.0 + (u + i) % 5) for u, i in sorted(pairs)])
    model.fit(data)
assert len(model.score(0)) == data.num_items
"""
codes = {}
for name in ("BPR", "MF", "NMF"):
    done = subprocess.run([sys.executable, "-c", CODE, name], capture_output=True, check=False)
    codes[name] = done.returncode
print(f"expected: exit 0 from each\nseen:     {codes} (negative: killed by that signal)")
sys.exit(int(any(codes.values())))

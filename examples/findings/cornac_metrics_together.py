"""Metrics without a cut-off depend on the other metrics in the list: MRR beside NDCG@10 is another number."""

import sys

import numpy as np
from cornac.data import Dataset
from cornac.eval_methods.base_method import ranking_eval
from cornac.metrics import MRR, NDCG
from cornac.models import MF

draw = np.random.default_rng(0)
train = Dataset.from_uir(
    [(f"u{n % 50}", f"i{n}", 1.0 + n % 5) for n in draw.permutation(2000)], seed=0
)
maps = {"global_uid_map": train.uid_map, "global_iid_map": train.iid_map}
test = Dataset.build([(f"u{u}", f"i{u + 1}", 5.0) for u in range(50)], **maps)
model = MF(seed=0, verbose=False).fit(train)
(alone,), _ = ranking_eval(model, [MRR()], train, test)
(beside, _), _ = ranking_eval(model, [MRR(), NDCG(k=10)], train, test)
print(f"expected: MRR {alone:.6f}, as without NDCG@10\nseen:     {beside:.6f}")
sys.exit(int(abs(alone - beside) > 1e-12))

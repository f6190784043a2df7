"""A history with an item that training did not have: item neighbours panic, implicit ALS raises KeyError."""

import sys

import pandas as pd
from lenskit import score
from lenskit.als import ImplicitMFScorer
from lenskit.data import ItemList, RecQuery, from_interactions_df
from lenskit.knn import EASEScorer, ItemKNNScorer
from lenskit.pipeline import topn_pipeline

rows = [(u, i, float(1 + (u * i) % 5)) for u in range(1, 9) for i in range(10, 16) if (u + i) % 3]
data = from_interactions_df(pd.DataFrame(rows, columns=["user_id", "item_id", "rating"]))
history = ItemList(item_ids=[10, 11, 999], rating=[4.0, 2.0, 5.0])  # 999 is new
failures = 0
for scorer in (EASEScorer(), ItemKNNScorer(max_nbrs=5), ImplicitMFScorer(embedding_size=2)):
    pipeline = topn_pipeline(scorer)
    pipeline.train(data)
    try:
        seen = score(pipeline, RecQuery(history_items=history), [12, 13]).scores().round(3).tolist()
    except BaseException as error:  # noqa: BLE001 - a panic of Rust code is no Exception
        seen, failures = f"{type(error).__name__}: {error}", failures + 1
    print(f"{type(scorer).__name__}: expected two scores, seen {seen}")
sys.exit(int(failures > 0))

"""Pop counts an item once a batch, however many rows have it, and counts the sampled negatives too."""

import sys
import tempfile
from pathlib import Path

from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.model.general_recommender import Pop

sys.argv = sys.argv[:1]  # Config reads the command line
rows = [f"u{u}\ti{i}" for u in range(1, 21) for i in range(10) if u % (i + 1) == 0]
args = {"use_gpu": False, "eval_args": {"split": {"RS": [1, 0, 0]}}}
with tempfile.TemporaryDirectory() as place:
    Path(place, "shop").mkdir()
    text = "\n".join(["user_id:token\titem_id:token", *rows])
    Path(place, "shop", "shop.inter").write_text(text, encoding="utf-8")
    args |= {"data_path": place, "load_col": {"inter": ["user_id", "item_id"]}}
    data = create_dataset(config := Config("Pop", "shop", config_dict=args))
    model = Pop(config, data)
    for batch in data_preparation(config, data)[0]:
        model.calculate_loss(batch)
seen = model.item_cnt[data.token2id("item_id", ["i0", "i9"])].flatten().tolist()
print(f"expected: 20 users of i0, 2 of i9\nseen:     {seen}")
sys.exit(int(seen != [20, 2]))

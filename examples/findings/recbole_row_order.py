"""A checkpoint holds no ids: after the rows of the file change places, each user gets another's scores."""

import sys
from pathlib import Path

import torch
from recbole.config import Config
from recbole.data import create_dataset
from recbole.data.interaction import Interaction
from recbole.utils import get_model, init_seed

rows = [f"u{u}\ti{i}" for u in range(9) for i in range(9) if (u + i) % 3]
Path("shop").mkdir()
config = Config("BPR", "shop", config_dict={"data_path": ".", "use_gpu": False, "state": "ERROR"})
init_seed(0, reproducibility=True)
head, best, weights = "user_id:token\titem_id:token", [], None
for order in (rows, rows[::-1]):  # of the file when it is saved, and when it is loaded
    Path("shop/shop.inter").write_text("\n".join([head, *order]), encoding="utf-8")
    model = get_model("BPR")(config, data := create_dataset(config))
    weights = weights or model.state_dict()
    model.load_state_dict(weights)
    user = Interaction({"user_id": torch.tensor([data.token2id("user_id", "u1")])})
    best.append(data.id2token("item_id", model.full_sort_predict(user)[1:].argmax() + 1))
print(f"expected: one best item of user u1, or an error\nseen:     {best[0]} and {best[1]}")
sys.exit(int(best[0] != best[1]))

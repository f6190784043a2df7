"""Items with the id NA or null are taken for missing values, and their interactions are dropped."""

import sys
import tempfile
from pathlib import Path

from recbole.config import Config
from recbole.data import create_dataset

sys.argv = sys.argv[:1]  # Config reads the command line
rows = [f"u{u}\t{item}" for u in range(3) for item in ("NA", "EU", "null")]
with tempfile.TemporaryDirectory() as data_path:
    Path(data_path, "shop").mkdir()
    Path(data_path, "shop", "shop.inter").write_text(
        "user_id:token\titem_id:token\n" + "\n".join(rows), encoding="utf-8"
    )
    settings = {"load_col": {"inter": ["user_id", "item_id"]}, "use_gpu": False}
    data = create_dataset(Config("Pop", "shop", config_dict={"data_path": data_path, **settings}))
print(
    f"expected: 9 interactions with 3 items\nseen:     {len(data.inter_feat)} with {data.item_num - 1}"
)
sys.exit(int(len(data.inter_feat) != 9))

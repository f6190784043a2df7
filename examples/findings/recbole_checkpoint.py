"""A checkpoint that RecBole has saved cannot be loaded by RecBole with PyTorch 2.6 and later."""

import pickle
import sys
from pathlib import Path

from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.utils import get_model, get_trainer

rows = "\n".join(f"u{u}\ti{i}" for u in range(9) for i in range(9) if (u + i) % 3)
Path("shop").mkdir()
Path("shop/shop.inter").write_text(f"user_id:token\titem_id:token\n{rows}\n", encoding="utf-8")
args = {"data_path": ".", "epochs": 1, "use_gpu": False, "state": "ERROR"}
config = Config("BPR", "shop", config_dict=args)
train, _, _ = data_preparation(config, create_dataset(config))
model = get_model("BPR")(config, train.dataset)
trainer = get_trainer(config["MODEL_TYPE"], "BPR")(config, model)
trainer.fit(train, saved=True, verbose=False)
try:
    trainer.resume_checkpoint(trainer.saved_model_file)
except pickle.UnpicklingError as error:
    print(f"expected: a loaded checkpoint\nseen:     UnpicklingError: {str(error)[:80]}")
    sys.exit(1)

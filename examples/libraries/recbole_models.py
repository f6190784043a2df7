"""Models of RecBole: pip install recbole 'numpy<2'."""

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.data.interaction import Interaction
from recbole.utils import get_model, get_trainer, init_seed

from pytest_recsys_mt.recommenders.adapters import StoredUsers

COLUMNS = {
    "user": "user_id:token",
    "item": "item_id:token",
    "rating": "rating:float",
    "timestamp": "timestamp:float",
}


@dataclass(eq=False)
class RecBole(StoredUsers):
    """A general model of RecBole, for the users that it was fitted to."""

    deterministic = True
    kind: str = "BPR"
    epochs: int = 20

    def learn(self, dataset, seed):
        # It writes logs into the working directory.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            path = Path(folder, "shop", "shop.inter")
            path.parent.mkdir()
            rows = dataset.interactions.rename(columns=COLUMNS)
            rows[list(COLUMNS.values())].to_csv(path, sep="\t", index=False)
            config = Config(
                model=self.kind,
                dataset="shop",
                config_dict={
                    "data_path": folder,
                    "checkpoint_dir": folder,
                    "seed": seed % 2**31,
                    "epochs": self.epochs,
                    "load_col": {
                        "inter": ["user_id", "item_id", "rating", "timestamp"],
                    },
                    "eval_args": {
                        "split": {"RS": [1, 0, 0]},
                        "order": "RO",
                        "mode": "full",
                    },
                    "use_gpu": False,
                    "show_progress": False,
                    "state": "ERROR",
                },
            )
            init_seed(config["seed"], config["reproducibility"])
            self.data = create_dataset(config)
            train, _, _ = data_preparation(config, self.data)
            self.model = get_model(self.kind)(config, train.dataset).to(
                config["device"],
            )
            trainer = get_trainer(config["MODEL_TYPE"], self.kind)(config, self.model)
            trainer.fit(train, saved=False, verbose=False, show_progress=False)
        self.model.eval()

    def score(self, requests):
        users = self.data.token2id("user_id", [request.user for request in requests])
        with torch.no_grad():
            found = self.model.full_sort_predict(
                Interaction({"user_id": torch.as_tensor(users)}),
            )
        found = found.reshape(len(requests), -1).numpy()
        ids = self.data.field2token_id["item_id"]
        table = np.full((len(requests), len(self.catalogue)), -np.inf)
        for item, column in self.catalogue.column.items():
            if item in ids:  # an item that nobody has is not in the data of RecBole
                table[:, column] = found[:, ids[item]]
        return table

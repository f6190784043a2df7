"""A data set whose ids are pandas categories can be made and fitted, but not asked."""

import sys

import pandas as pd
from rectools.dataset import Dataset
from rectools.models import PopularModel

frame = pd.DataFrame(
    {"user_id": list("aabbc"), "item_id": list("xyyzx"), "weight": 1.0, "datetime": "2024-01-01"}
)
data = Dataset.construct(frame.astype({"user_id": "category", "item_id": "category"}))
model = PopularModel().fit(data)
print("expected: an item for user a")
try:
    print("seen:    ", model.recommend(["a"], data, k=1, filter_viewed=True)["item_id"].tolist())
except TypeError as error:
    print(f"seen:     TypeError: {error}")
    sys.exit(1)

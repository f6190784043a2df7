"""A frame whose ids are pandas categories is refused with the name of an internal type."""

import sys

import pandas as pd
from lenskit.data import from_interactions_df

frame = pd.DataFrame({"user_id": [1, 1, 2], "item_id": ["a", "b", "a"]}).astype(
    {"item_id": "category"}
)
print("expected: a data set of two users and two items")
try:
    data = from_interactions_df(frame)
except TypeError as error:
    print(f"seen:     TypeError: {error}")
    sys.exit(1)
print(f"seen:     {data.user_count} users, {data.item_count} items")

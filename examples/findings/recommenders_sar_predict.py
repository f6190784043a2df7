"""SAR.predict looks a user's scores up in the row of another user."""

import sys

import pandas as pd
from recommenders.models.sar import SAR

rows = [("ann", "a", 5.0), ("bob", "a", 1.0), ("bob", "b", 2.0), ("cy", "b", 4.0)]
model = SAR()
model.fit(pd.DataFrame(rows, columns=["userID", "itemID", "rating"]))
seen = []
for users in (["ann", "bob"], ["bob", "ann"], ["cy"]):
    try:
        found = model.predict(pd.DataFrame({"userID": users, "itemID": "b"}))
        seen.append(dict(zip(found["userID"], found["prediction"].round(3), strict=True)))
    except IndexError as error:
        seen.append(f"IndexError: {error}")
print(f"expected: the same scores in both orders, and one for cy alone\nseen:     {seen}")
sys.exit(int(seen[0] != seen[1] or isinstance(seen[2], str)))

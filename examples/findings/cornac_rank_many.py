"""rank(k) fails where fewer than k items are ranked, and with it each evaluation at such a cut-off."""

import sys

from cornac.data import Dataset
from cornac.models import MostPop

model = MostPop().fit(Dataset.from_uir([("ann", "a", 1.0), ("bob", "b", 1.0), ("bob", "c", 1.0)]))
print("expected: the two items that were asked for")
try:
    print("seen:    ", model.rank(0, item_indices=[0, 2], k=10)[0])
except ValueError as error:
    print(f"seen:     ValueError: {error}")
    sys.exit(1)

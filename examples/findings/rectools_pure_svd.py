"""PureSVDModel(random_state=0) cannot be fitted with SciPy 1.17 and NumPy 1.26, the newest that the pins allow."""

import sys

import numpy as np
import pandas as pd
import scipy
from rectools.dataset import Dataset
from rectools.models import PureSVDModel

frame = pd.DataFrame(
    {"user_id": list("aabbcc"), "item_id": list("xyyzxz"), "weight": 1.0, "datetime": "2024-01-01"}
)
print(f"expected: a fitted model (SciPy {scipy.__version__}, NumPy {np.__version__})")
try:
    PureSVDModel(factors=2, random_state=0).fit(Dataset.construct(frame))
except TypeError as error:
    print(f"seen:     TypeError: {error}")
    sys.exit(1)
print("seen:     a fitted model")

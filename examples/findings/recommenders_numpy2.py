"""SAR.fit needs NumPy's old name of NaN, which NumPy 2 has not; the package's metadata allow NumPy 2."""

import importlib.metadata
import sys
from pathlib import Path

import numpy as np

place = importlib.metadata.distribution("recommenders")
source = Path(place.locate_file("recommenders/models/sar/sar_singlenode.py")).read_text(
    encoding="utf-8"
)
wanted = [need for need in place.requires if need.startswith("numpy") and "extra" not in need]
lines = [n for n, line in enumerate(source.splitlines(), 1) if "np.NaN" in line]
print(
    f"expected: code for {wanted or 'any NumPy'}, as the metadata say\nseen:     np.NaN in lines {lines}, with NumPy {np.__version__}"
)
sys.exit(int(bool(lines) and not any("<2" in need for need in wanted)))

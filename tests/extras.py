"""Skips tests for which a package is missing, and says what installs it."""

from importlib.util import find_spec

import pytest

EXTRAS = {
    "PIL": "hf",
    "gguf": "hf",
    "jmespath": "map",
    "mlflow": "mlflow",
    "pyarrow": "parquet",
    "ray": "ray",
    "safetensors": "train",
    "torch": "train",
    "transformers": "hf",
    "wandb": "wandb",
    "zensical": "docs",
}


def need(*packages: str) -> None:
    """Skip the test that calls this, or the module of tests, if a package is missing."""
    for package in packages:
        if find_spec(package) is None:
            extra = EXTRAS.get(package)
            command = (
                f"pip install 'pytest-recsys-mt[{extra}]'"
                if extra
                else "scripts/setup --dev"
            )
            pytest.skip(f"needs {package}: {command}", allow_module_level=True)

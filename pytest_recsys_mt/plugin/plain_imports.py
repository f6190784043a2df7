"""Modules of this package are imported without pytest's rewriting of assertions.

pytest rewrites every module of a package that has a plugin, so that assertions explain
themselves. Only tests need that. The rewriting importer reads bytecode in Python, which
makes the imports of a run take a third longer. Importing this module is what begins it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

PACKAGE = "pytest_recsys_mt."


class PlainImports:
    """A finder for ``sys.meta_path``: finds the modules of this package but for tests."""

    @staticmethod
    def find_spec(
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The module as Python itself finds it; None leaves it to the next finder."""
        is_test = name.rpartition(".")[2].startswith("test_")
        if is_test or not name.startswith(PACKAGE):
            return None
        return PathFinder.find_spec(name, path, target)


if PlainImports not in sys.meta_path:
    sys.meta_path.insert(0, PlainImports)  # before pytest's importer

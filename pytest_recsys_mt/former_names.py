"""Former names of public modules: they can be imported
for one more version, with a warning.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

FORMER = {
    "pytest_recsys_mt.adapters": "pytest_recsys_mt.recommenders.adapters",
    "pytest_recsys_mt.arena": "pytest_recsys_mt.suites.arena",
    "pytest_recsys_mt.lrworld": "pytest_recsys_mt.suites.lrworld",
}
"""The present name of each module, by its former name."""


def present_name(name: str) -> str:
    """The present name of a module or of a module within a
    package; empty if `name` is no former one.
    """
    for former, present in FORMER.items():
        if name == former or name.startswith(f"{former}."):
            return present + name.removeprefix(former)
    return ""


class FormerNames(MetaPathFinder, Loader):
    """Finds a module by its former name."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The present module, with a warning; None for any other name."""
        return ModuleSpec(fullname, self) if present_name(fullname) else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Python makes an empty one, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the present module in place of the empty one: both names are one object."""
        present = present_name(module.__name__)
        # One above the machinery of imports, which Python leaves out of the count.
        warnings.warn(
            f"{module.__name__!r} is now {present!r}; the former name goes with the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        sys.modules[module.__name__] = import_module(present)


def install() -> None:
    """Let Python find modules by their former names."""
    if not any(isinstance(finder, FormerNames) for finder in sys.meta_path):
        # Before those of Python, which would load a module of a moved package once
        # more, under its former name.
        sys.meta_path.insert(0, FormerNames())

"""The transformations, one per file; the oracles judge their promises.

A call with an invalid argument raises `RelationError`.
"""

import pkgutil
from importlib import import_module

# What a module of this folder offers is public: the names of its `__all__`, or else the
# relation of the module's own name. Editors and type checkers read `__init__.pyi`,
# which scripts/exports writes.
_MODULES = [
    import_module(f"{__name__}.{found.name}")
    for found in pkgutil.iter_modules(__path__)
]
FOUND = {
    name: module
    for module in _MODULES
    for name in getattr(module, "__all__", [module.__name__.rpartition(".")[2]])
    if hasattr(module, name)
}
globals().update({name: getattr(module, name) for name, module in FOUND.items()})

__all__ = [*sorted(FOUND)]  # noqa: PLE0604

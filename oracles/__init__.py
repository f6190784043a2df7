"""The oracles: functions that judge source and follow-up answers and return a verdict.

A verdict ``holds`` if the mean is shown to be on the side of the margin that is
promised, and is ``violated`` if it is shown to be on the other. Each oracle raises
`OracleError` if an argument is invalid; a docstring says only what else raises one.
"""

import pkgutil
from importlib import import_module
from inspect import isfunction

# What a module of this folder offers is public: the names of its `__all__`, or else the
# function of the module's own name. Editors and type checkers read `__init__.pyi`,
# which scripts/exports writes.
_MODULES = [
    import_module(found.name)
    for found in pkgutil.walk_packages(__path__, f"{__name__}.")
]
FOUND = {
    name: module
    for module in _MODULES
    for name in getattr(module, "__all__", [module.__name__.rpartition(".")[2]])
    if hasattr(module, name)
}
_LISTS = f"{__name__}.similarities."
_ARGUMENTS = import_module(f"{__name__}.arguments")
globals().update(
    {
        name: (
            _ARGUMENTS.checked_lists
            if module.__name__.startswith(_LISTS)
            else _ARGUMENTS.checked
        )(found)
        if isfunction(found := getattr(module, name))
        else found
        for name, module in FOUND.items()
    },
)

__all__ = [*sorted(FOUND)]  # noqa: PLE0604

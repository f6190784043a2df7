"""Public methods say what they do, where they do not override one that says it."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest_recsys_mt

OWN = "pytest_recsys_mt."
NEEDS_MORE = (".remote", ".suites")  # Ray, and tests


def silent() -> Iterator[str]:
    for found in pkgutil.walk_packages(pytest_recsys_mt.__path__, OWN):
        if any(part in found.name for part in NEEDS_MORE):
            continue
        module = importlib.import_module(found.name)
        for owner in filter(inspect.isclass, vars(module).values()):
            if owner.__module__ != module.__name__ or owner.__name__.startswith("_"):
                continue
            for name, member in vars(owner).items():
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                above = any(name in vars(base) for base in owner.__mro__[1:])
                says = inspect.isfunction(function) and function.__name__ != "<lambda>"
                if says and not (name.startswith("_") or above or function.__doc__):
                    yield f"{module.__name__}.{owner.__name__}.{name}"


def test_every_new_public_method_has_a_docstring() -> None:
    assert not list(silent())

"""Which test bodies can be run more than once: those that keep nothing between two runs."""

from __future__ import annotations

import enum
import inspect
import types
import unittest
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType
from typing import Any

import pytest

from pytest_recsys_mt.plugin.items import fixtures_of

ONCE = "recsys_once"
"""The mark of a test whose body must not run twice."""

OWN = "pytest_recsys_mt"

_KNOWN = frozenset({"recsys", "recsys_model", "recommender", "request", "pytestconfig"})
"""Fixtures of a test whose body can be run before the test; it may take `recsys` alone of them."""

_BESIDE = frozenset(
    {"threading", "multiprocessing", "concurrent", "asyncio", "subprocess", "signal", "atexit", "ctypes"}
)  # fmt: skip
"""Modules that do something beside the body, which may still go on when it has ended."""

_PLAIN = (str, bytes, int, float, complex, type(None), type, types.ModuleType, range)


def is_repeatable(item: pytest.Function) -> bool:
    """Whether the body of a test depends on nothing but the recommender and what never changes.

    A body that takes other fixtures, or that uses a module's counter, a generator or any other object
    that may change, would see that it ran before.
    """
    return fixtures_of(item) <= _KNOWN | _plain(item) and body_is_repeatable(item)


def body_is_repeatable(item: pytest.Function) -> bool:
    """As `is_repeatable`, once the fixtures of the test are there, whatever they are made of."""
    parameters: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    plain = _plain(item)
    takes = set(inspect.signature(item.obj).parameters)
    return (
        item.get_closest_marker(ONCE) is None
        and takes <= {"recsys"} | plain
        and not inspect.iscoroutinefunction(item.obj)
        and not (item.cls is not None and issubclass(item.cls, unittest.TestCase))
        and all(_never_changes(parameters[name]) for name in takes & plain)
        and _never_changes(getattr(item.obj, "__func__", item.obj))
    )


def _plain(item: pytest.Function) -> set[str]:
    """The parameters of a test that no fixture of the user makes something of."""
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    parameters: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    return {
        name
        for name in parameters
        if not known.get(name) or known[name][-1].func.__module__.startswith("_pytest.")
    }


def names_in(function: Callable[..., object]) -> set[str]:
    """The global names and attributes that the code of a function has."""
    return _names(function.__code__) if isinstance(function, types.FunctionType) else set()


def _never_changes(value: object, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value, and all that it uses, is the same in every run of a body."""
    if id(value) in seen or isinstance(value, (*_PLAIN, enum.Enum)):
        return True
    seen |= {id(value)}
    if isinstance(value, types.FunctionType):
        return _is_pure(value, seen)
    if isinstance(value, partial):
        return _never_changes((value.func, *value.args, *value.keywords.values()), seen)
    if isinstance(value, tuple | frozenset):
        return all(_never_changes(each, seen) for each in value)
    if isinstance(value, types.MappingProxyType):
        return all(_never_changes(each, seen) for each in value.values())
    if isinstance(value, types.BuiltinFunctionType):
        return isinstance(value.__self__, types.ModuleType)
    frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
    own = type(value).__module__.partition(".")[0] in (OWN, "_pytest")
    return bool(frozen or own)


def _is_pure(function: types.FunctionType, seen: frozenset[int]) -> bool:
    if function.__module__.partition(".")[0] == OWN:
        return True
    names = _names(function.__code__)
    if names & _BESIDE or _assigns_globals(function.__code__):
        return False
    used = [function.__globals__[name] for name in names if name in function.__globals__]
    used += [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    used += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return all(_never_changes(each, seen) for each in used)


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _codes(code: CodeType) -> list[CodeType]:
    """The code of a function and of all functions inside it."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return [code, *(further for each in inner for further in _codes(each))]


def _names(code: CodeType) -> set[str]:
    return {part for each in _codes(code) for name in each.co_names for part in name.split(".")}


def _assigns_globals(code: CodeType) -> bool:
    import dis

    return any(
        step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
        for each in _codes(code)
        for step in dis.get_instructions(each)
    )

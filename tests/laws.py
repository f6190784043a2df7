"""One test of a law over many cases, which names every case that breaks it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]


def over(
    names: str,
    cases: Iterable[Any],
    ids: Callable[[Any], object] = repr,
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, in one test: a thousand tests of a millisecond cost
    seconds of their own.

    Args:
        names: Of the arguments, with commas between.
        cases: The values; a tuple of them for several names.
        ids: What a case is called where it fails.
    """
    held = list(cases)
    wanted = names.split(", ")

    def decorate(law: Test) -> Test:
        @functools.wraps(law, updated=())
        def test(**fixtures: Any) -> None:
            broken, skipped = [], 0
            for case in held:
                given = zip(wanted, case if len(wanted) > 1 else (case,), strict=True)
                try:
                    law(**dict(given), **fixtures)
                except pytest.skip.Exception:
                    skipped += 1
                    if skipped == len(held):
                        raise
                except Exception as error:  # noqa: BLE001, as pytest does
                    error.add_note(f"with {names} = {ids(case)}")
                    broken.append(error)
            if len(broken) == 1:
                raise broken[0]
            if broken:
                raise ExceptionGroup(f"{len(broken)} of {len(held)} cases", broken)

        signature = inspect.signature(law)
        left = [
            each for name, each in signature.parameters.items() if name not in wanted
        ]
        test.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        test.pytestmark = getattr(law, "pytestmark", [])  # type: ignore[attr-defined]
        return test

    assert held, "a law over no case says nothing"
    return decorate

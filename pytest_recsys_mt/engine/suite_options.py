"""The options that suites declare, and the values made of them."""

from __future__ import annotations

import json
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_recsys_mt import extensions
from pytest_recsys_mt.extensions import entry_points, owner_of
from pytest_recsys_mt.extensions.options import SuiteOption
from pytest_recsys_mt.verdict.wording import typed


def options_found(
    taken: AbstractSet[str],
) -> tuple[tuple[SuiteOption, ...], tuple[str, ...]]:
    """The options of the suites of installed packages, and
    why some of them cannot be given.

    Args:
        taken: The names that no suite may use.
    """
    owners = dict.fromkeys(taken, "pytest-recsys-mt")
    found: list[SuiteOption] = []
    wrong: list[str] = []
    for point in entry_points(extensions.OPTIONS):
        owner = owner_of(point)
        problem = (
            f"the options of the suite {point.name!r} of {owner} cannot be given: "
        )
        try:
            declared = [*point.load()]
        # It is code of others, and every pytest run of the environment loads it.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            wrong.append(f"{problem}{type(error).__name__}: {error}")
            continue
        for each in declared:
            if not isinstance(each, SuiteOption):
                wrong.append(f"{problem}{each!r} is no SuiteOption")
            elif each.name in owners:
                wrong.append(
                    f"{problem}{owners[each.name]} has an option or a setting {each.name!r} too",
                )
            else:
                owners[each.name] = owner
                found.append(each)
    return tuple(found), tuple(wrong)


def made_by(option: SuiteOption, value: Any) -> Any:
    """The value that a suite makes of that of its option; a `ValueError` if the record
    of the run could not have it.
    """
    made = option.make(value)
    try:
        json.dumps(plain(made), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{typed(option.name)}: {made!r} cannot stand in a record ({error}); what `make` of the SuiteOption makes "
            f"must be plain JSON, or have an attribute `recorded` that is",
        ) from None
    return made


def plain(value: object) -> object:
    """A setting as a record has it."""
    found = getattr(value, "recorded", value)
    return list(found) if isinstance(found, tuple) else found

"""The fields of the settings that options fill;
`extensions/options` defines an option.
"""

from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any

from pytest_recsys_mt.extensions.options import Option, one_of, same, switched


def setting(*options: Option, make: Callable[..., Any], recorded: bool = False) -> Any:
    """A field of the settings that options fill: the value that `make` makes of theirs.

    Answers or verdicts depend on a field that is `recorded`, so the record names it.
    """
    default = make(*(option.default for option in options))
    return field(
        default=default,
        metadata={"options": options, "make": make, "recorded": recorded},
    )


def option(
    *declared: Any,
    name: str = "",
    make: Callable[[Any], Any] = same,
    recorded: bool = False,
    **more: Any,
) -> Any:
    """A field of the settings that one option fills, declared as `Option` is, from the
    help on; see `setting`.

    The option has the name of the field, unless another one is given.
    """
    return setting(Option(name, *declared, **more), make=make, recorded=recorded)


recorded = partial(option, recorded=True)
"""An `option` whose value is part of a record."""


def choice(says: str, values: str, **more: Any) -> Any:
    """A field of the settings that an option fills with one of `values`, such as
    ``yes|no``; see `option`.
    """
    return option(says, values, read=one_of(*values.split("|")), **more)


def flag(*declared: Any, **more: Any) -> Any:
    """A field of the settings that a switch without a value fills; see `option`."""
    return option(*declared, default=False, read=switched, flag=True, **more)

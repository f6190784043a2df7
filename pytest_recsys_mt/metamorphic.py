"""The `@metamorphic` decorator."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pytest_recsys_mt.requests import Request

MARK = "recsys_metamorphic"
"""The marker that carries a test's transformations."""

TestFunction = TypeVar("TestFunction", bound=Callable[..., object])
AnyTransformation = Callable[..., Request]
"""`(request, rng) -> request`, plain or one of `pytest_recsys_mt.relations`."""


def metamorphic(
    *transformations: AnyTransformation,
) -> Callable[[TestFunction], TestFunction]:
    """Make a test function a metamorphic relation: one test for each transformation.

    The function takes `source` and `followup`, the answers to the original and to the
    transformed requests, and asserts the verdict of an oracle::

        @metamorphic(scale_ratings(2), shift_ratings(1))
        def test_rating_scale_is_irrelevant(source, followup):
            assert unmoved(source, followup, margin=0.05)

    The test fails if it makes no verdict, or a verdict that does not hold, asserted or
    not.

    Args:
        *transformations: Each a `(request, rng) -> request`, known by its ``name`` or
            ``__name__``; one in ``pytest.param(..., marks=..., id=...)`` has these
            marks and this id.

    Raises:
        TypeError: If the decorator was used without parentheses or without a
            transformation.
    """
    if not transformations:
        raise TypeError(
            "metamorphic() needs a transformation: @metamorphic(scale_ratings(2))",
        )
    for transformation in map(bare, transformations):
        if not callable(transformation):
            raise TypeError(
                f"metamorphic() takes transformations, callables (request, rng) -> request, "
                f"got {transformation!r}",
            )
        if _is_test(transformation):
            raise TypeError(
                f"metamorphic() decorates a test with transformations, it is not applied bare: "
                f"@metamorphic(scale_ratings(2)) above def {transformation.__name__}",
            )

    def decorate(function: TestFunction) -> TestFunction:
        import pytest  # a new process that only answers needs none of it

        marked = getattr(pytest.mark, MARK).with_args(*transformations)(function)
        return pytest.mark.usefixtures("recsys")(marked)  # type: ignore[no-any-return]

    return decorate


def bare(transformation: Any) -> Any:
    """A transformation without the marks and the id that ``pytest.param`` gives it."""
    return transformation.values[0] if is_param(transformation) else transformation


def is_param(value: object) -> bool:
    """Whether a value is a result of ``pytest.param``, whose
    type is not public in pytest.
    """
    return (
        isinstance(value, tuple)
        and hasattr(value, "values")
        and hasattr(value, "marks")
    )


def _is_test(function: object) -> bool:
    try:
        parameters = list(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    named = getattr(function, "__name__", "").startswith("test")
    return {"source", "followup"} <= set(parameters) or (named and len(parameters) < 2)


class UnnamedTransformation(Exception):  # noqa: N818 - becomes a pytest.UsageError at collection
    """A transformation without a name that stays the same from run to run."""


def name_of(transformation: object) -> str:
    """The name of a transformation in reports, seeds and the record.

    Raises:
        UnnamedTransformation: For a lambda, a partial, or an object without ``name``;
            for a factory of transformations that was not called.
    """
    returned = getattr(transformation, "__annotations__", {}).get("return")
    if getattr(returned, "__name__", returned) == "Transformation":
        made = getattr(transformation, "__name__", "")
        raise UnnamedTransformation(
            f"{made} is a function that makes a transformation; call it: "
            f"@metamorphic({made}({_needed(transformation)}))",
        )
    name: Any = getattr(transformation, "name", None)
    if not isinstance(name, str):
        name = getattr(transformation, "__name__", None)
    if isinstance(name, str) and name and name != "<lambda>":
        return name
    what = (
        "a partial"
        if isinstance(transformation, functools.partial)
        else repr(transformation)
    )
    raise UnnamedTransformation(
        f"the transformation {what} has no stable name, which test ids, seeds and the record "
        f"need; define it with def, or give it an attribute .name, such as "
        f"my_transformation.name = 'my_transformation(3)'",
    )


def _needed(factory: Any) -> str:
    parameters = inspect.signature(factory).parameters.values()
    return ", ".join(each.name for each in parameters if each.default is each.empty)


def changes_training(transformation: object) -> bool:
    """Whether a transformation changes the data that the recommender is fitted to."""
    return getattr(transformation, "training", None) is not None


def all_declare(transformations: Sequence[AnyTransformation], what: str) -> bool:
    """Whether there are transformations, and each has a true attribute named `what`."""
    return bool(transformations) and all(
        getattr(each, what, False) for each in transformations
    )

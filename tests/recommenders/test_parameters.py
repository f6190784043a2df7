from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_recsys_mt import RecommenderError
from tests.support.requests import build, resources, split

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found] # pyright: ignore[reportMissingImports]


def everything(  # type: ignore[no-untyped-def]
    count: int = 1,
    share: float = 0.5,
    on: bool = False,
    kind: Literal["a", "b"] = "a",
    text: str = "",
    limit: int | None = 3,
    either: int | str = 0,
    *,
    bare="x",
):
    return count, share, on, kind, text, limit, either, bare


def make(query: str) -> object:
    target, given = split(f"thing?{query}")
    assert target == "thing"
    return build(everything, given, f"thing?{query}")


def test_values_take_the_annotated_types() -> None:
    query = "count=7&share=1e-3&on=yes&kind=b&text=a%26b+c&limit=none&either=z&bare=5"
    assert make(query) == (7, 0.001, True, "b", "a&b c", None, "z", "5")
    assert make("either=12&limit=9&on=FALSE&text=") == (
        1,
        0.5,
        False,
        "a",
        "",
        9,
        12,
        "x",
    )


def test_arguments_that_a_partial_has_bound_are_no_parameters() -> None:
    assert build(partial(everything, 5), {"share": "2"}, "thing")[:2] == (5, 2.0)
    with pytest.raises(
        RecommenderError,
        match="unknown parameter 'count'; valid ones: 'share'",
    ):
        build(partial(everything, 5), {"count": "2"}, "thing")


def test_no_parameters_are_fine() -> None:
    assert split("thing") == ("thing", {})
    assert split("thing?") == ("thing", {})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("count=many", "count='many' is not a whole number"),
        ("share=half", "share='half' is not a number"),
        (
            "on=perhaps",
            "on='perhaps' is not one of '1', 'true', 'yes', '0', 'false', 'no'",
        ),
        ("kind=c", "kind='c' is not one of 'a', 'b'"),
        ("limit=some", "limit='some' is not a whole number"),
        (
            "cuont=3",
            "unknown parameter 'cuont'; valid ones: 'count', .*; did you mean 'count'?",
        ),
        ("count=1&count=2", "gives the parameter 'count' twice"),
        ("count", "'thing\\?count' are not key=value pairs"),
    ],
)
def test_bad_parameters_are_named_with_what_is_valid(query: str, message: str) -> None:
    with pytest.raises(RecommenderError, match=message):
        make(query)


def test_a_factory_that_needs_a_value_says_which() -> None:
    def needy(size: int) -> int:
        return size

    with pytest.raises(
        RecommenderError,
        match=r"needs a value for 'size'.*'\?size=VALUE'",
    ):
        build(needy, {}, "thing")
    assert build(needy, {"size": "3"}, "thing") == 3


def test_a_failure_inside_the_factory_is_chained() -> None:
    def broken() -> None:
        raise TypeError("inner trouble")

    with pytest.raises(RecommenderError, match="TypeError: inner trouble") as caught:
        build(broken, {}, "thing")
    assert isinstance(caught.value.__cause__, TypeError)


def test_annotations_that_exist_for_type_checkers_only_hinder_nobody_without_parameters() -> (
    None
):
    def typed(thing: Missing | None = None, size: int = 1) -> int:
        return size

    assert build(typed, {}, "thing") == 1
    with pytest.raises(
        RecommenderError,
        match=r"cannot be read from its signature.*'Missing'",
    ):
        build(typed, {"size": "3"}, "thing")


def test_what_an_actor_takes_is_no_parameter_of_the_recommender() -> None:
    assert resources("thing") == ("thing", {})
    assert resources("thing?gpus=0.5&text=a%26b&cpus=8") == (
        "thing?text=a%26b",
        {"gpus": 0.5, "cpus": 8},
    )
    assert resources("hf:folder?gpus=1") == ("hf:folder", {"gpus": 1})
    for wrong in ("gpus=-1", "cpus=0", "cpus=many", "gpus=nan", "gpus=inf", "gpus="):
        with pytest.raises(RecommenderError, match="is not a number from"):
            resources(f"thing?{wrong}")
    with pytest.raises(RecommenderError, match="gives the parameter 'gpus' twice"):
        resources("thing?gpus=1&gpus=1")

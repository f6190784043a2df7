"""Whatever is passed to a public function: what is wrong is said with its name, the
cause and the next step.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_recsys_mt import OracleError
from tests.laws import over
from tests.support.oracles import checked

oracles: Any = importlib.import_module("pytest_recsys_mt.oracles")
"""Without types: a checker would refuse what is passed here, and users may have none."""

FUNCTIONS = {
    name: function
    for name in oracles.__all__
    if inspect.isfunction(function := getattr(oracles, name))
}
REQUIRED = [
    (name, parameter.name)
    for name, function in FUNCTIONS.items()
    for parameter in inspect.signature(function).parameters.values()
    if parameter.default is parameter.empty
    and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
]


def test_there_are_many() -> None:
    assert len(REQUIRED) > 80


@over("name", sorted({name for name, _ in REQUIRED}))
def test_nothing_in_place_of_an_argument_is_named(name: str) -> None:
    required = [parameter for each, parameter in REQUIRED if each == name]
    with pytest.raises(OracleError) as caught:
        FUNCTIONS[name](*[None] * len(required))
    said = str(caught.value)
    assert said.startswith(f"{name}: ")
    assert " must be " in said
    assert "got None" in said
    assert f"help(pytest_recsys_mt.oracles.{name})" in said


A, B = [[1, 2, 3]], [[3, 2, 1]]
FACTS = {"a": 3, "b": 1}
WRONG: dict[str, tuple[Callable[[], object], list[str]]] = {
    "repeats in a": (lambda: oracles.rbo([[4, 2, 4]], B), ["rbo: row 0 of a has the item 4 twice", "keep its first place", "-1"]),
    "repeats in b": (lambda: oracles.jaccard([*A, *A], [*B, [5, 5, -1]]), ["jaccard: row 1 of b has the item 5 twice"]),
    "repeats, kendall": (lambda: oracles.kendall([[2, 2]], [[1, 2]]), ["kendall: row 0 of a"]),
    "repeats, fagin": (lambda: oracles.fagin([[2, 2]], [[1, 2]]), ["fagin: row 0 of a"]),
    "repeats, overlap": (lambda: oracles.overlap([[2, 2]], [[1, 2]]), ["overlap: row 0 of a"]),
    "repeats, average_overlap": (lambda: oracles.average_overlap([[2, 2]], [[1, 2]]), ["average_overlap: row 0"]),
    "repeats, rbo_min": (lambda: oracles.rbo_min([[2, 2]], [[1, 2]]), ["rbo_min: row 0 of a"]),
    "a matrix of users": (lambda: oracles.jain([[1, 2], [3, 4]]), ["jain: values must be a flat list of numbers, got [[1, 2]"]),
    "a debt": (lambda: oracles.jain([1, -2]), ["jain: values contains -2.0; each must be a finite number of at least 0"]),
    "jain of nan": (lambda: oracles.jain([1, math.nan]), ["jain: values contains nan", "leave out"]),
    "jain of text": (lambda: oracles.jain(["many"]), ["jain: values must be a flat list of numbers, got ['many']"]),
    "jain of a ragged list": (lambda: oracles.jain([[1], [2, 3]]), ["jain: values must be a flat list"]),
    "a count below 0": (lambda: oracles.arp([3, -5]), ["arp: counts contains -5.0", "of at least 0"]),
    "a count of nan": (lambda: oracles.arp([math.nan]), ["arp: counts contains nan"]),
    "counts by item": (lambda: oracles.arp(5), ["arp: counts must be a sequence, such as a list, got 5"]),
    "dpd of nan": (lambda: oracles.dpd([math.nan, 1], [1, 2]), ["dpd: values contains nan"]),
    "dpd of lengths below 0": (lambda: oracles.dpd([1, 1], [-1, 2]), ["dpd: lengths contains -1.0"]),
    "dpd of a matrix": (lambda: oracles.dpd([[1, 1]], [[1, 2]]), ["dpd: values must be a flat list"]),
    "no places": (lambda: oracles.aplt(["a"], {"a"}, 0), ["aplt: places must be a whole number from 1, got 0"]),
    "places in text": (lambda: oracles.aplt(["a"], {"a"}, "5"), ["aplt: places must be a whole number from 1, got '5'"]),
    "half a place": (lambda: oracles.unexpectedness(["a"], ["b"], 0.5), ["unexpectedness: places", "got 0.5"]),
    "a title for a list": (lambda: oracles.aplt("Alien", {"a"}, 5), ["aplt: items must be a sequence, such as a list, got 'Alien'"]),
    "a list for popularity": (lambda: oracles.long_tail(["a", "b"]), ["long_tail: popularity must be a mapping, such as a dict, got ['a', 'b']"]),
    "demanded below 0": (lambda: oracles.short_list(["a"], -1), ["short_list: demanded must be a whole number from 0, got -1"]),
    "slots below 0": (lambda: oracles.complies(-1, 0, 5), ["complies: slots must be a whole number from 0, got -1"]),
    "prose in words": (lambda: oracles.complies(5, "none", 5), ["complies: prose", "got 'none'"]),
    "more lists than offers": (lambda: oracles.oic([["a"]], []), ["oic: recommended and offered each need one entry a user, got 1 and 0"]),
    "more offers than lists": (lambda: oracles.item_coverage([], [["a"]]), ["item_coverage: recommended and offered", "got 0 and 1"]),
    "change of nan": (lambda: oracles.relative_change(math.nan, 1), ["relative_change: source must be a number, got nan"]),
    "change of a text": (lambda: oracles.relative_change(1, "2"), ["relative_change: followup must be a number, got '2'"]),
    "a similarity of texts": (lambda: oracles.rbo([["a", "b"]], [["b", "a"]]), ["a must be an integer array of shape (pairs, k)"]),
    "a flat list": (lambda: oracles.rbo([1, 2], [2, 1]), ["a must be an integer array of shape (pairs, k)"]),
    "a test function for answers": (lambda: oracles.self_agreement(test_there_are_many), ["answers must be answers as a metamorphic test is given them"]),
    "a request for answers": (lambda: oracles.same_ranking({}, {}, margin=0.1), ["source must be answers as", "recsys.run()"]),
    "a margin in words": (lambda: oracles.same_ranking(1, 2, margin="small"), ["same_ranking"]),
    "q of a text": (lambda: oracles.q_score(None, 1, 1), ["q_score: win must be a number, got None"]),
    "lots": (lambda: oracles.long_tail([*range(1000)]), ["got [0, 1, 2,", "...; see help"]),
}  # fmt: skip


@over("name", WRONG)
def test_what_is_wrong_is_named_with_its_cause(name: str) -> None:
    call, parts = WRONG[name]
    with pytest.raises(OracleError) as caught:
        call()
    said = str(caught.value)
    for part in parts:
        assert part in said
    assert len(said) < 400


def test_what_is_right_passes_the_door() -> None:
    assert oracles.rbo(np.array(A), np.array(B), p=0.9)[0] == pytest.approx(0.855)
    assert math.isnan(oracles.rbo([[-1, -1]], [[1, 2]])[0])
    assert oracles.jaccard([[1, -1, -1]], [[1, -1, -1]])[0] == 1, "pads are no repeats"
    assert oracles.arp([None, 4, np.int64(2)]) == 3
    assert oracles.aplt(("a",), frozenset("a"), np.int64(2)) == 0.5
    assert oracles.long_tail(FACTS)
    assert inspect.signature(oracles.rbo) == inspect.signature(
        inspect.unwrap(oracles.rbo),
    )


def test_a_missing_argument_is_named_by_python() -> None:
    lost: Any = oracles.arp
    with pytest.raises(
        TypeError,
        match=r"arp\(\) missing 1 required positional argument: 'counts'",
    ):
        lost()


def test_an_oracle_whose_annotations_are_for_type_checkers_only_is_left_alone() -> None:
    def mine(source: Unknown, margin: float) -> str:  # type: ignore[name-defined]  # noqa: F821
        return f"{source} {margin}"

    assert checked(mine)(None, margin=None) == "None None"

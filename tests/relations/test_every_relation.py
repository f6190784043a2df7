"""What holds for all relations: the same draw gives the
same request, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import copy
import doctest
import importlib
import pickle
import random
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_recsys_mt import NotApplicable, relations
from pytest_recsys_mt import requests as shown
from pytest_recsys_mt.datasets import load
from pytest_recsys_mt.relations import Transformation
from pytest_recsys_mt.requests import Edit, Item, Rating, Request, World
from tests.laws import over
from tests.relations.examples import PROFILES, USUAL, WORLD, request, requests

NAMES = sorted(set(relations.__all__) - {"Transformation"})
EVERY = over("relation", USUAL, ids=lambda relation: relation.name)
SEEDS = st.integers(0, 2**32)
# Each relation gets these; all of them together get hundreds, and with --slow
# thousands.
FEW = settings(max_examples=settings().max_examples // 4)


def function(relation: Transformation) -> str:
    return relation.name.split("(")[0]


def module(name: str) -> ModuleType:
    return importlib.import_module(f"pytest_recsys_mt.relations.{name}")


def apply(relation: Transformation, source: Request, seed: int) -> Request | str:
    """The follow-up, or the reason why there is none."""
    try:
        return relation(source, np.random.default_rng(seed), WORLD)
    except NotApplicable as reason:
        return str(reason)


def fields(source: Request) -> dict[str, object]:
    return {name: getattr(source, name) for name in Request.__dataclass_fields__}


def test_the_usual_arguments_cover_every_public_relation() -> None:
    assert sorted({function(relation) for relation in USUAL}) == NAMES
    assert len({relation.name for relation in USUAL}) == len(USUAL)


@EVERY
def test_a_full_request_is_served(relation: Transformation) -> None:
    served = apply(relation, request(), 0)
    # What is changed in the training data may be about items that this request does not
    # show.
    assert isinstance(served, Request) or relation.training is not None


@EVERY
@FEW
@given(source=requests(), seed=SEEDS)
def test_only_the_declared_fields_change_and_they_do(
    relation: Transformation,
    source: Request,
    seed: int,
) -> None:
    followup = apply(relation, source, seed)
    if isinstance(followup, str):
        assert followup
        return
    before, after = fields(source), fields(followup)
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= relation.changes
    if changed or not relation.may_keep:
        assert bool(changed) == bool(relation.changes)


@EVERY
def test_the_draw_decides_and_nothing_else(relation: Transformation) -> None:
    world = copy.deepcopy(WORLD)

    @FEW
    @given(source=requests(), seed=SEEDS)
    def decides(source: Request, seed: int) -> None:
        before = copy.deepcopy(source)
        first = apply(relation, source, seed)
        random.seed(seed + 1)
        np.random.seed((seed + 1) % 2**32)
        assert apply(relation, source, seed) == first
        assert source == before, "the request was mutated"

    decides()
    assert world == WORLD, "the world was mutated"


@EVERY
@FEW
@given(source=requests(), seed=SEEDS)
def test_the_users_name_is_irrelevant(
    relation: Transformation,
    source: Request,
    seed: int,
) -> None:
    one = apply(relation, source.replace(user="a1"), seed)
    other = apply(relation, source.replace(user="a2"), seed)
    if isinstance(one, Request) and isinstance(other, Request):
        if "user" in relation.changes:
            assert one.user == other.user
        else:
            assert (one.user, other.user) == ("a1", "a2")
        one, other = one.replace(user=""), other.replace(user="")
    assert one == other


@EVERY
@FEW
@given(source=requests(min_history=1), seed=SEEDS)
def test_the_history_stays_oldest_first_and_on_the_scale(
    relation: Transformation,
    source: Request,
    seed: int,
) -> None:
    followup = apply(relation, source, seed)
    if not isinstance(followup, Request):
        return
    moments = [rating.timestamp for rating in followup.history]
    known = [moment for moment in moments if moment is not None]
    assert known == sorted(known)
    if function(relation) not in ("swap_history", "swap_user"):
        assert len(known) in (0, len(moments))
    assert all(
        followup.scale.low <= rating.value <= followup.scale.high
        for rating in followup.history
    )


@EVERY
@FEW
@given(seed=SEEDS)
def test_followups_are_plain_hashable_data(relation: Transformation, seed: int) -> None:
    followup = apply(relation, request(), seed)
    if not isinstance(followup, Request):
        assert relation.training is not None
        return
    assert pickle.loads(pickle.dumps(followup)) == followup
    assert hash(followup) == hash(pickle.loads(pickle.dumps(followup)))
    for edit in followup.edits:
        assert isinstance(edit, Edit)
    for rating in followup.history:
        assert type(rating.value) is float
        assert rating.timestamp is None or type(rating.timestamp) is int
    assert type(followup.k) is int


@EVERY
def test_what_a_request_lacks_is_declared(relation: Transformation) -> None:
    without_ratings = apply(relation, request(items=()), 0)
    assert isinstance(without_ratings, str) == ("ratings" in relation.needs)
    of_all = apply(relation, request(candidates=None), 0)
    refused_for_candidates = isinstance(of_all, str) and "candidates" in of_all
    assert refused_for_candidates == ("candidates" in relation.needs)


@EVERY
def test_what_changes_the_prompt_alone_needs_a_recommender_that_reads_it(
    relation: Transformation,
) -> None:
    of_prompts = bool(relation.changes & {"edits", "instruction"})
    assert ("text" in relation.needs) == of_prompts


@EVERY
def test_promise_and_origin_are_told(relation: Transformation) -> None:
    assert relation.promise.endswith(".")
    assert relation.promise[0].isupper()
    assert relation.origin


@over("name", NAMES)
def test_documentation_has_an_example(name: str) -> None:
    relation = getattr(relations, name)
    documented = module(name) if isinstance(relation, Transformation) else relation
    text = documented.__doc__ or ""
    lines = [line.strip() for line in text.splitlines()]
    summary = text.strip().partition("\n\n")[0]
    assert summary.endswith(".")
    assert lines[lines.index("Example:") + 1]
    assert ">>>" in text


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_true(name: str) -> None:
    names = {
        each: getattr(shown, each)
        for each in ("Item", "Rating", "Request", "Scale", "World")
    }
    result = doctest.testmod(
        module(name),
        extraglobs={"np": np, "mini": load("mini"), **names},
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert result.attempted
    assert not result.failed


@EVERY
def test_names_are_the_call_that_makes_them(relation: Transformation) -> None:
    known = {name: getattr(relations, name) for name in NAMES}
    assert eval(relation.name, {**known, "profiles": PROFILES}) == relation


@EVERY
def test_without_other_items_or_users_it_serves_or_says_why(
    relation: Transformation,
) -> None:
    with contextlib.suppress(NotApplicable):
        assert isinstance(relation(request(), np.random.default_rng(0)), Request)


def test_a_request_of_items_without_titles_is_served() -> None:
    bare = Request(
        "u", (Rating(Item("a"), 1.0), Rating(Item("b"), 4.0)), request().scale,
        (Item("c"), Item("d")), 1,
    )  # fmt: skip
    world = World(catalogue=tuple(Item(name) for name in "abcdefghij"))
    for name in ("title_injection", "shuffle_candidates", "reorder_history"):
        getattr(relations, name)(bare, np.random.default_rng(0), world)


def test_importing_them_is_light() -> None:
    code = (
        "import sys; import pytest_recsys_mt.relations; "
        "print(sorted({'numpy', 'scipy', 'pandas', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"

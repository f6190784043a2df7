"""What cannot be a transformation is refused where it is made."""

from typing import Any

import pytest

from pytest_recsys_mt import RelationError, relations
from pytest_recsys_mt.relations import Transformation


def apply(request: Any, rng: Any, world: Any) -> Any:
    return request


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "x: it changes nothing; give apply="),
        (
            {"apply": apply, "before": apply},
            "x: before= needs calls that are sent one by one",
        ),
        (
            {"apply": apply, "asked": "never"},
            "x: asked must be 'together' or 'alone' or 'in one batch' or 'elsewhere'",
        ),
        (
            {"apply": apply, "needs": frozenset({"tex"})},
            "got 'tex'; did you mean 'text'",
        ),
    ],
)
def test_what_is_none_is_refused(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(RelationError, match=reason):
        Transformation("x", **arguments)


@pytest.mark.parametrize(
    ("relation", "wants_change", "declared"),
    [
        (relations.invert_ratings, True, 'ignores = ("ratings",)'),
        (relations.swap_history, True, 'ignores = ("history",)'),
        (relations.truncate_history(20), True, "reads_latest = 20"),
        (relations.truncate_history(20), False, ""),
        (relations.scale_ratings(2), False, ""),
        (relations.reorder_history, False, 'promises = ("order",)'),
        (relations.replace_namesakes("namesakes"), True, 'promises = ("titles",)'),
    ],
)
def test_a_relation_knows_which_declaration_excuses_who_breaks_it(
    relation: Transformation,
    wants_change: bool,
    declared: str,
) -> None:
    assert relation.declaration(wants_change=wants_change) == declared

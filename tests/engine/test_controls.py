"""Controls: relations that show whether a recommender reads a part of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import get_args

import pytest

from benchmarks.promises import recsys_of
from pytest_recsys_mt import Recommendation, RelationError, Request
from pytest_recsys_mt.oracles import (
    different_ranking,
    monotone,
    never_differs,
    same_ranking,
)
from pytest_recsys_mt.relations import (
    Transformation,
    add_spaces,
    extend_list,
    invert_ratings,
    permute_rows,
    rename_user,
    reorder_history,
    scale_ratings,
    shuffle_candidates,
    swap_history,
    truncate_history,
)
from pytest_recsys_mt.requests import Aspect
from tests.support.engine import CONTROLS, SHARE, Recsys, unread, users_for
from tests.support.recommenders import resolve


def test_each_part_of_a_request_has_a_control() -> None:
    assert set(CONTROLS) == set(get_args(Aspect))
    for aspect, controls in CONTROLS.items():
        assert all(each.promises_change and each.aspect == aspect for each in controls)


@pytest.mark.parametrize(
    ("relation", "aspect"),
    [
        (scale_ratings(2), "ratings"),
        (reorder_history, "history"),
        (add_spaces(), "history"),
        (shuffle_candidates, "candidates"),
        (rename_user, "user"),
        (extend_list(5), None),
        (permute_rows, None),
    ],
    ids=lambda each: getattr(each, "name", str(each)),
)
def test_the_part_follows_from_what_changes(
    relation: Transformation,
    aspect: str | None,
) -> None:
    assert relation.aspect == aspect


def test_a_relation_may_say_its_part_and_a_wrong_one_is_named() -> None:
    own = Transformation(
        "own",
        lambda r, *_: r,
        changes=frozenset({"history"}),
        aspect="ratings",
    )
    assert own.aspect == "ratings"
    with pytest.raises(RelationError, match="aspect"):
        Transformation("own", lambda r, *_: r, aspect="rating")  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_so_many_users_exclude_a_larger_share(alpha: float) -> None:
    users = users_for(alpha)
    assert (1 - SHARE) ** users <= alpha < (1 - SHARE) ** (users - 1)


@pytest.mark.parametrize(
    "name",
    ["random", "mostpop", "itemknn", "userknn", "bm25", "ease", "ials", "rp3beta"],
)
def test_what_a_built_in_recommender_declares_is_true(
    name: str,
    tmp_path: Path,
) -> None:
    weighs = name not in ("random", "mostpop")
    specs = (
        [f"{name}?weights={kind}" for kind in ("ratings", "binary")]
        if weighs
        else [name]
    )
    for spec in specs:
        made = resolve(spec)
        declared = made.ignores  # type: ignore[union-attr]
        assert declared == (() if spec.endswith("=ratings") else ("ratings",))
        recsys = recsys_of(made, spec, 0, 120, tmp_path)
        recsys.run()  # fits it
        recsys.runner.subject.ignores = frozenset()
        found = unread(recsys.run(), recsys.run(scale_ratings(2)))
        assert (found is not None) == bool(declared), spec


@dataclass
class Reader:
    """Reads the items of a history, and their ratings for a
    share of the users; with noise, or without.
    """

    share: float = 0.0
    heat: float = 0.0
    asked: int = 0

    @property
    def deterministic(self) -> bool:
        return not self.heat

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        self.asked += len(requests)
        return [Recommendation(self.answer(request)) for request in requests]

    def answer(self, request: Request) -> tuple[str, ...]:
        history = sorted(
            (rating.item.id, round(request.scale.unit(rating.value), 6))
            for rating in request.history
        )
        reads = Random(request.user).random() < self.share
        taste = Random(repr(history if reads else [item for item, _ in history]))
        noise = Random(f"{request.replicate} {request.user} {request.scale} {history}")
        items = sorted(item.id for item in request.candidates or ())
        scores = {item: taste.gauss() + self.heat * noise.gauss() for item in items}
        return tuple(
            sorted(scores, key=lambda item: (-scores[item], item))[: request.k],
        )


def asking(reader: object, folder: Path, users: int = 120) -> Recsys:
    return recsys_of(reader, "reader", 0, users, folder)


def test_a_verdict_says_what_is_not_read(tmp_path: Path) -> None:
    recsys = asking(Reader(), tmp_path)
    source = recsys.run()
    assert same_ranking(source, recsys.run(scale_ratings(2))).vacuous == "ratings"
    assert (
        same_ranking(source, recsys.run(scale_ratings(2), scale_ratings(3))).vacuous
        == "ratings"
    )
    assert (
        never_differs(source, recsys.run(scale_ratings(2)), users=5).vacuous
        == "ratings"
    )
    assert same_ranking(source, recsys.run(reorder_history)).vacuous == ""
    assert (
        same_ranking(source, recsys.run(scale_ratings(2), shuffle_candidates)).vacuous
        == ""
    )
    assert different_ranking(source, recsys.run(swap_history)).vacuous == ""
    assert same_ranking(source, recsys.run(invert_ratings)).vacuous == ""


@dataclass
class Extremes:
    """Reads only how far each rating is from the middle, so
    that the opposite ratings change nothing.
    """

    deterministic: bool = True

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        return [Recommendation(self.answer(request)) for request in requests]

    def answer(self, request: Request) -> tuple[str, ...]:
        read = sorted(
            (r.item.id, round(abs(request.scale.unit(r.value) - 0.5), 6))
            for r in request.history
        )
        items = sorted(item.id for item in request.candidates or ())
        return tuple(Random(repr(read)).sample(items, request.k))


def test_who_reads_opposite_ratings_alike_reads_ratings(tmp_path: Path) -> None:
    recsys = asking(Extremes(), tmp_path)
    source = recsys.run()
    assert not different_ranking(source, recsys.run(invert_ratings), margin=0.05)
    verdict = same_ranking(source, recsys.run(scale_ratings(2)), margin=0.05)
    assert (verdict.status, verdict.vacuous) == ("holds", "")


def fewer_stars(request: Request, rng: object) -> Request:
    """Half a star less."""
    return request.replace(
        history=tuple(
            replace(r, value=max(1.0, r.value - 0.5)) for r in request.history
        ),
    )


def newest_alone(request: Request, rng: object) -> Request:
    """The latest item."""
    return request.replace(history=request.history[-1:])


def shorter(request: Request, rng: object) -> Request:
    """The latest item, and a shorter list."""
    return request.replace(history=request.history[-1:], k=5)


def test_what_a_plain_function_changes_is_seen_in_its_requests(tmp_path: Path) -> None:
    recsys = asking(resolve("mostpop"), tmp_path)
    source = recsys.run()
    assert same_ranking(source, recsys.run(fewer_stars)).vacuous == "ratings"
    assert same_ranking(source, recsys.run(newest_alone)).vacuous == "history"
    assert same_ranking(source, recsys.run(shorter)).vacuous == ""


def test_a_series_is_kept_vacuously_if_all_its_steps_are(tmp_path: Path) -> None:
    recsys = asking(resolve("mostpop"), tmp_path, users=200)
    sides = [
        recsys.run(truncate_history(2)),
        recsys.run(truncate_history(5)),
        recsys.run(),
    ]
    assert monotone(sides, "auc", margin=0.1).vacuous == "history"


def test_one_changed_answer_ends_the_question(tmp_path: Path) -> None:
    reader = Reader(share=1.0)
    recsys = asking(reader, tmp_path)
    sides = recsys.run(), recsys.run(scale_ratings(2))
    assert unread(*sides) is None
    assert reader.asked == 2 * 3
    assert unread(*sides) is None
    assert reader.asked == 2 * 3, "what is known is not asked again"


@pytest.mark.parametrize(
    ("reader", "reads"),
    [
        (Reader(share=0.1), True),
        (Reader(heat=0.3), False),
        (Reader(share=1.0, heat=0.3), True),
    ],
    ids=["for one user in ten", "not, with noise", "with noise"],
)
def test_who_reads_is_never_called_unread(
    reader: Reader,
    reads: bool,
    tmp_path: Path,
) -> None:
    recsys = asking(reader, tmp_path, users=150)
    assert (unread(recsys.run(), recsys.run(scale_ratings(2))) is None) == reads


def test_too_few_users_are_not_asked(tmp_path: Path) -> None:
    reader = Reader()
    recsys = asking(reader, tmp_path, users=58)
    assert unread(recsys.run(), recsys.run(scale_ratings(2))) is None
    assert not reader.asked


def test_what_is_declared_is_not_asked(tmp_path: Path) -> None:
    reader = Reader()
    reader.ignores = ["ratings"]  # type: ignore[attr-defined]
    recsys = asking(reader, tmp_path, users=2)
    found = unread(recsys.run(), recsys.run(scale_ratings(2)))
    assert found is not None
    assert (found.aspect, dict(found.shown), reader.asked) == (
        "ratings",
        {"declared": True},
        0,
    )

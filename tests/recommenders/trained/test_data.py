from __future__ import annotations

import numpy as np

from tests.recommenders.data import ask, simulate, table
from tests.recommenders.trained.rings import request, ring
from tests.support.recommenders import Catalogue
from tests.support.recommenders_trained import PAD, Training, encode
from tests.support.recommenders_trained_extras import window_ends


def training() -> Training:
    rows = [
        ("u", "a", 5.0),
        ("v", "b", 0.5),
        ("u", "b", 0.5),
        ("u", "c", 2.75),
        ("v", "a", 5.0),
    ]
    dataset = table(*rows, items="abcd")
    return Training.of(dataset, Catalogue.of(dataset))


def test_interactions_stand_by_user_and_time() -> None:
    found = training()
    assert [item.id for item in found.items] == ["a", "b", "c", "d"]
    assert found.columns.tolist() == [0, 1, 2, 1, 0]
    assert found.starts.tolist() == [0, 3, 5]
    assert found.owners.tolist() == [0, 0, 0, 1, 1]


def test_what_precedes_a_row_is_of_the_same_user() -> None:
    found = training()
    rows = found.preceding(np.array([0, 2, 4]), 3)
    assert rows.tolist() == [[PAD, PAD, PAD], [PAD, 0, 1], [PAD, PAD, 3]]
    assert found.items_at(rows).tolist() == [
        [PAD, PAD, PAD],
        [PAD, 0, 1],
        [PAD, PAD, 1],
    ]
    assert found.preceding(np.array([2]), 1).tolist() == [[1]]


def test_negatives_are_uniform_over_what_the_user_has_not() -> None:
    dataset = simulate()
    found = Training.of(dataset, Catalogue.of(dataset))
    users = np.repeat(np.arange(found.users), 50)
    drawn = found.negatives(users, 4, np.random.default_rng(0))
    had = {
        (u, c)
        for u, c in zip(found.owners.tolist(), found.columns.tolist(), strict=True)
    }
    pairs = zip(np.repeat(users, 4).tolist(), drawn.ravel().tolist(), strict=True)
    assert not had & set(pairs)
    alone = found.negatives(np.zeros(4000, dtype=np.int64), 1, np.random.default_rng(1))
    free = len(found.items) - int(found.starts[1])
    counts = np.bincount(alone[:, 0], minlength=len(found.items))
    assert np.count_nonzero(counts) == free
    assert counts[counts > 0].std() < 2 * np.sqrt(4000 / free)


def test_a_user_with_everything_gets_some_item_and_ends() -> None:
    dataset = table(("u", "a", 1), ("u", "b", 1), ("v", "a", 1), items="ab")
    found = Training.of(dataset, Catalogue.of(dataset))
    drawn = found.negatives(np.array([0, 1, 1]), 2, np.random.default_rng(0))
    assert drawn[1:].tolist() == [[1, 1], [1, 1]]
    assert set(drawn[0].tolist()) <= {0, 1}


def test_validation_takes_the_latest_of_users_with_three() -> None:
    left, held_out = training().split_validation()
    assert held_out.tolist() == [2]
    assert left.columns.tolist() == [0, 1, 1, 0]
    assert left.starts.tolist() == [0, 2, 4]


def test_windows_predict_every_interaction_but_the_first_once() -> None:
    dataset = simulate()
    found = Training.of(dataset, Catalogue.of(dataset))
    for length in (1, 4, 50):
        ends = window_ends(found, length)
        before = found.preceding(ends, length)
        targets = np.concatenate([before[:, 1:], ends[:, None]], 1)[before != PAD]
        assert np.array_equal(
            np.sort(targets),
            np.setdiff1d(np.arange(len(found)), found.starts[:-1]),
        )


def test_histories_keep_the_latest_known_items_in_order() -> None:
    catalogue = Catalogue.of(ring())
    place = catalogue.column
    asked = [request(4, 2, 9, 3), request(), request(5)]
    assert encode(asked, catalogue, 3).tolist() == [
        [place["i2"], place["i9"], place["i3"]],
        [PAD, PAD, PAD],
        [PAD, PAD, place["i5"]],
    ]
    everything = encode(asked, catalogue, 0, ordered=False)
    assert everything[0].tolist() == sorted(place[f"i{n}"] for n in (4, 2, 9, 3))
    assert encode([request()], catalogue, 0).tolist() == [[PAD]]


def test_a_repeated_item_counts_at_its_last_place_and_unknown_ones_not_at_all() -> None:
    dataset = table(("u", "a", 1), ("v", "b", 1))
    catalogue = Catalogue.of(dataset)
    asked = ask(("a", 0.5), ("?", 5), ("b", 5), ("a", 5))
    columns = encode([asked], catalogue, 4)
    assert columns.tolist() == [
        [PAD, PAD, catalogue.column["b"], catalogue.column["a"]],
    ]

"""Questions on matches among the embeddings of a neural matrix factorisation.

Targets are prototypes: those nearest to the centroids of k-means (the paper, section
3).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
from pytest_recsys_mt.suites.lrworld.histories import Histories
from pytest_recsys_mt.suites.lrworld.neural import Embeddings, cosines, prototypes
from pytest_recsys_mt.suites.lrworld.question import Kind
from pytest_recsys_mt.suites.lrworld.taste import (
    TRIED,
    Ranked,
    ask,
    behind_items,
    behind_users,
)
from pytest_recsys_mt.suites.lrworld.wrong_options import Draft, matched_of

LEAST = -1.0
"""Least cosine of the right option: the nearest is right, at any distance."""


def item_to_users(
    histories: Histories,
    kind: Kind,
    settings: Settings,
    count: int,
    rng: np.random.Generator,
    embeddings: Embeddings,
) -> Iterator[Draft]:
    """Which user's embedding is nearest to that of an item near
    a centroid; no history shows the item.
    """
    items = np.flatnonzero(histories.asked_items)
    asked = np.flatnonzero(histories.asked_users[embeddings.people])
    if not (len(items) and len(asked)):
        return
    users, people = embeddings.users[asked], embeddings.people[asked]
    matched = matched_of(settings, histories.lengths)
    for item in prototypes(
        embeddings.items,
        items,
        settings.clusters,
        TRIED * count,
        rng,
    ).tolist():
        ranked = Ranked(item, people, cosines(embeddings.items[[item]], users)[0])
        text = partial(histories.user_text, length=settings.history, without=item)
        shown = {"target": histories.item_text(item)}
        behind = partial(
            behind_users,
            histories,
            settings.history,
            np.array([item]),
            without=item,
        )
        yield from ask(
            ranked,
            kind,
            LEAST,
            rng,
            shown,
            text,
            behind=behind,
            matched=matched,
        )


def user_to_items(
    histories: Histories,
    kind: Kind,
    settings: Settings,
    count: int,
    rng: np.random.Generator,
    embeddings: Embeddings,
) -> Iterator[Draft]:
    """Which new item's embedding is nearest to that of a user near a centroid."""
    asked = np.flatnonzero(histories.asked_users[embeddings.people])
    if not len(asked):
        return
    text, popularity = histories.item_text, histories.popularity
    matched = matched_of(settings, popularity)
    for row in prototypes(
        embeddings.users,
        asked,
        settings.clusters,
        TRIED * count,
        rng,
    ).tolist():
        user = int(embeddings.people[row])
        pool = histories.asked_items.copy()
        pool[histories.of_user(user)] = False
        items = np.flatnonzero(pool)
        if not len(items):
            continue
        scores = cosines(embeddings.users[[row]], embeddings.items[items])[0]
        ranked = Ranked(user, items, scores)
        shown = {"history": histories.user_texts(user, settings.history)}
        behind = partial(behind_items, histories.latest(user, settings.history))
        yield from ask(
            ranked,
            kind,
            LEAST,
            rng,
            shown,
            text,
            behind=behind,
            popularity=popularity,
            matched=matched,
        )

"""Questions on a user's next item, and on facts about
it: persons, content and categories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pytest_recsys_mt.requests import Item
from pytest_recsys_mt.suites.lrworld.generator_settings import Settings
from pytest_recsys_mt.suites.lrworld.histories import Histories, Ints, Mask, names_of
from pytest_recsys_mt.suites.lrworld.question import Kind
from pytest_recsys_mt.suites.lrworld.same import form
from pytest_recsys_mt.suites.lrworld.standing import Behind
from pytest_recsys_mt.suites.lrworld.wrong_options import Draft, LackingError, choose

TOGETHER = ", "
"""Separator of several names in one option, such as the cast of a film."""

LEADS = 5
"""Most names of a cast in an option."""

ITSELF = ("next_item", "logline", "image")
"""Kinds whose options stand for items; another item that
the user has is not a wrong option.
"""


@dataclass(frozen=True)
class Fact:
    """The fact about one item that a kind of question asks for: the names in an option,
    empty if unknown.

    Everything `true` of the item, or of another of its label, is in the form of `same`:
    an option with any of it is right.
    """

    names: tuple[str, ...]
    true: frozenset[str]

    @property
    def text(self) -> str:
        """The option."""
        return TOGETHER.join(self.names)

    def contradicts(self, other: Fact) -> bool:
        """Whether nothing in this option is true of the other's item."""
        return bool(self.names) and not any(
            form(name) in other.true for name in self.names
        )


def fact(item: Item, kind: Kind, namesakes: Sequence[Item] = ()) -> Fact:
    """The fact about `item` that `kind` asks for; `namesakes` are other items of its
    label.

    Every category on a path, from root to leaf, is true of the item.
    """
    if not kind.needs:
        return Fact((item.label,), frozenset({form(item.label)}))
    names = names_of(item.attributes.get(kind.needs[0]))
    shown = {
        "cast": names[:LEADS],
        "leaf": names[-1:],
        "root": names[:1],
        "intermediate": names[1:-1][-1:],
    }.get(kind.name, names)
    true = {
        form(name)
        for each in (item, *namesakes)
        for name in names_of(each.attributes.get(kind.needs[0]))
    }
    return Fact(shown, frozenset(true))


def knowledge_questions(
    histories: Histories,
    kind: Kind,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[Draft]:
    """Questions about a fact of a user's next item, or about the item itself.

    Wrong options are drawn among the distinct values, none true of the item; if they
    stand for items, the user has none of them.
    """
    facts = tuple(
        fact(item, kind, histories.namesakes.get(column, ()))
        for column, item in enumerate(histories.items)
    )
    known = np.array([bool(fact.names) for fact in facts], dtype=np.bool_)
    if not kind.needs:
        known &= histories.named
    alike = _alike(facts, known)
    values = np.array(sorted(columns[0] for columns in alike.values()), dtype=np.int64)
    if len(values) < kind.options:
        raise LackingError(_lacks(histories, kind, len(values)))
    popularity = (
        _popularities(histories, alike) if settings.wrong == "popular" else None
    )
    for user, target, history in windows(
        histories,
        known,
        _shown(histories, kind),
        settings.history,
        rng,
    ):
        pool = values
        own: tuple[str, ...] = ()
        if kind.name in ITSELF:
            pool, own = _items_of_others(histories, facts, known, user, target)

        def text(column: int, right: int = target) -> str:
            one = facts[column]
            return one.text if column == right or one.contradicts(facts[right]) else ""

        matched = None if popularity is None else popularity(user)
        offer = choose(
            rng,
            kind.options,
            target,
            pool,
            text,
            taken=own,
            matched=matched,
        )
        if offer is None:
            continue
        options, rows = offer
        behind = tuple((alike[form(facts[row].text)],) for row in rows)
        yield {
            **options,
            **_about_target(histories, kind, target, history),
            "behind": Behind(history, behind, user),
        }


def _shown(histories: Histories, kind: Kind) -> Mask:
    """The items that may stand in a history."""
    shown = histories.named.copy()
    if kind.shows != "label":
        shown &= np.array(
            [bool(_text(item, kind)) for item in histories.items],
            dtype=np.bool_,
        )
    return shown


def _items_of_others(
    histories: Histories,
    facts: Sequence[Fact],
    known: Mask,
    user: int,
    target: int,
) -> tuple[Ints, tuple[str, ...]]:
    """The items of known fact that a user does not have, and the facts of those that
    the user has, except for the target.

    Products share pictures, so another item may have the text of one that the user has,
    or of a namesake of one, which the user may have meant.
    """
    own, others = histories.of_user(user), known.copy()
    others[own] = False
    true = (one for column in own[own != target] for one in facts[column].true)
    return np.flatnonzero(others), tuple(true)


def _about_target(
    histories: Histories,
    kind: Kind,
    target: int,
    history: Ints,
) -> Draft:
    """The part of a question before its options, and the facts of the next item."""
    item = histories.items[target]
    draft: Draft = {
        "shown": {
            "history": tuple(_text(histories.items[at], kind) for at in history),
        },
        "popularity": float(histories.popularity[target]),
        "evidence": {"item": item.id, "label": item.label},
    }
    if kind.name == "image":
        latest = histories.items[history[-1]]
        draft["images"] = names_of(latest.attributes.get("image"))[:1]
    return draft


def _popularities(
    histories: Histories,
    alike: Mapping[str, Ints],
) -> Callable[[int], Ints]:
    values = np.full(len(histories.items), len(alike))
    for number, columns in enumerate(alike.values()):
        values[columns] = number
    counts = np.bincount(values, weights=histories.popularity, minlength=len(alike) + 1)

    def without(user: int) -> Ints:
        own = np.bincount(values[histories.of_user(user)], minlength=len(counts))
        popularity: Ints = (counts - own).astype(np.int64)[values]
        return popularity

    return without


def windows(
    histories: Histories,
    targets: Mask,
    shown: Mask,
    length: int,
    rng: np.random.Generator,
) -> Iterator[tuple[int, int, Ints]]:
    """Each user with the latest item and the earlier ones, oldest first, then with the
    second latest, and so on.

    Only items in `targets`, shape (items,), are the next one, only `shown` ones stand
    in a history.
    """
    before = np.concatenate([[0], np.cumsum(shown[histories.columns])])
    users = rng.permutation(histories.users)
    places = histories.starts[users + 1] - 1
    needed = max(1, histories.least - 1)
    while len(users):
        enough = before[places] - before[histories.starts[users]] >= needed
        fit = enough & targets[histories.columns[places]]
        for user, place in zip(users[fit].tolist(), places[fit].tolist(), strict=True):
            own = histories.columns[histories.starts[user] : place]
            yield user, int(histories.columns[place]), own[shown[own]][-length:]
        # If too few items precede this place, even fewer precede earlier ones.
        users, places = users[enough], places[enough] - 1


def _text(item: Item, kind: Kind) -> str:
    if kind.shows == "label":
        return item.label
    return TOGETHER.join(names_of(item.attributes.get(kind.shows)))


def _alike(facts: tuple[Fact, ...], known: Mask) -> dict[str, Ints]:
    found: dict[str, list[int]] = {}
    for column in np.flatnonzero(known).tolist():
        found.setdefault(form(facts[column].text), []).append(column)
    return {value: np.array(columns) for value, columns in found.items()}


def _lacks(histories: Histories, kind: Kind, values: int) -> str:
    if not kind.needs:
        return f"{values} items have a title, and a question has {kind.options} options"
    attribute = kind.needs[0]
    if values == 0 and kind.name != "intermediate":
        reason = f"no item has the attribute {attribute!r}"
    else:
        reason = (
            f"items have {values} different values of {kind.name!r} (from the attribute "
            f"{attribute!r}), and a question has {kind.options} options"
        )
    if kind.name == "image":
        pictures = sum("image" in item.attributes for item in histories.items)
        reason += (
            f"; a multimodal model describes pictures, and {pictures} items have one"
        )
    return reason

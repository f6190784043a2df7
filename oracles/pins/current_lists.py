"""The current lists in place of those that are pinned, and what changed by that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_recsys_mt.oracles.pins.entries import Pin, contradictions, offer
from pytest_recsys_mt.requests import Item, Recommendation, Request
from pytest_recsys_mt.safety.sanitize import one_line


@dataclass(frozen=True)
class Updated:
    """The next contents of a file.

    Attributes:
        pins: All entries, by user.
        changes: The changes, by user, in words.
        kept: Why a list is not written, by user; it stays as it was.
        of: How many lists could change.
    """

    pins: Mapping[str, Pin]
    changes: Mapping[str, str]
    kept: Mapping[str, str]
    of: int


def updated(
    pins: Mapping[str, Pin],
    answered: Mapping[str, tuple[Request, Sequence[Recommendation]]],
    missing: Mapping[str, str],
    items: Mapping[str, Item],
) -> Updated:
    """The entries with the current lists in ``equals`` and ``begins``.

    Args:
        pins: The entries; one that pins nothing is new, and gets the whole list.
        answered: The requests and the answers, by user.
        missing: Why other users have no answer.
        items: The catalogue.
    """
    found, changes, kept = dict(pins), {}, {}
    written = [
        pin for pin in pins.values() if pin.ordered or not pin.wanted + pin.excludes
    ]
    for pin in written:
        if pin.user not in answered:
            kept[pin.user] = missing.get(pin.user, "no answer")
            continue
        now = _now(pin, *answered[pin.user], items)
        if isinstance(now, str):
            kept[pin.user] = now
        elif now != pin:
            found[pin.user] = now
            changes[pin.user] = _change(pin, now, items)
    # A new entry without a list would pin nothing.
    found = {user: pin for user, pin in found.items() if pin.wanted + pin.excludes}
    return Updated(found, changes, kept, len(written))


def _now(
    pin: Pin,
    request: Request,
    answers: Sequence[Recommendation],
    items: Mapping[str, Item],
) -> Pin | str:
    kind = pin.ordered or "equals"
    offered = offer(request, items)
    length = len(pin.begins) if kind == "begins" else min(request.k, len(offered))
    lists = {answer.items[:length] for answer in answers}
    if any(answer.unread for answer in answers):
        return "nothing could be read in an answer"
    shortest = min(map(len, lists))
    if not shortest or shortest < length:
        return f"the list has {shortest} of {length} items"
    if len(lists) > 1:
        return f"its {len(answers)} answers differ"
    (now,) = lists
    if len(set(now)) < len(now) or not offered.issuperset(now):
        return "the list names an item twice, or one that is not offered"
    made = replace(pin, equals=now) if kind == "equals" else replace(pin, begins=now)
    against = next(contradictions(made, request.k, 0), "")
    return f"the current list contradicts the entry: {against}" if against else made


def _change(before: Pin, now: Pin, items: Mapping[str, Item]) -> str:
    old, new = (pin.equals or pin.begins for pin in (before, now))
    if not old:
        return f"{len(new)} items, from {named(new, items, 1)}"
    came = [item for item in new if item not in old]
    went = [item for item in old if item not in new]
    parts = []
    if came:
        parts.append(f"came: {named(came, items, len(came))}")
    if went:
        parts.append(f"went: {named(went, items, len(went))}")
    return "; ".join(parts) or "the same items in another order"


def named(ids: Sequence[str], items: Mapping[str, Item], most: int = 3) -> str:
    """Items by their titles and ids, at most so many, and the rest counted."""
    names = [
        f"{one_line(items[item].label)} ({item!r})" if item in items else repr(item)
        for item in ids
    ]
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def lines(found: Updated) -> Iterator[str]:
    """The changed lists and those not written, one line a user."""
    for user, change in sorted(found.changes.items()):
        yield f"user {user!r}: {change}"
    for user, why in sorted(found.kept.items()):
        yield f"user {user!r}: not written, {why}"

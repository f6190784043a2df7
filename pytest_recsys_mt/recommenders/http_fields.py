"""The values that placeholders of a map stand for, of one request or of a batch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_recsys_mt.recommenders.http_contract import plain
from pytest_recsys_mt.recommenders.http_template import (
    ABSENT,
    UnsendableError,
    filled,
    names_in,
)
from pytest_recsys_mt.requests import Aspect, Item, Rating, Request
from pytest_recsys_mt.safety.redaction import shortened

OF_ITEM = ("id", "title", "year", "attributes", "attributes.NAME")
"""Placeholders of one entry of ``{candidates}``."""

OF_RATING = (*OF_ITEM, "rating", "timestamp")
"""Placeholders of one entry of ``{history}``."""

OF_REQUEST = (
    *("user", "k", "history", "history.ids", "history.titles", "history.ratings"),
    *("history.timestamps", "history.last", "candidates", "candidates.ids"),
    *("candidates.titles", "seen", "attributes", "attributes.NAME", "scale.low"),
    *("scale.high", "replicate"),
)
"""Placeholders of one request."""

OF_BATCH = ("requests", "users", "k")
"""Placeholders of a batch."""

CURSOR = "cursor"
"""The placeholder of the page that is asked for."""

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")


@dataclass(frozen=True)
class Fields:
    """How values of requests are written.

    Attributes:
        user_numbers: Whether ids of users are sent as numbers.
        item_numbers: Whether ids of items are sent as numbers.
        forms: The templates of one entry of ``{history}``, ``{candidates}`` and
            ``{requests}``, as far as the map has them.
    """

    user_numbers: bool
    item_numbers: bool
    forms: Mapping[str, Any]

    def of_request(self, request: Request, cursor: Any, name: str) -> Any:
        """The value of a placeholder of `OF_REQUEST`.

        Raises:
            UnsendableError: If an id is sent as a number and is none.
        """
        base, _, part = name.partition(".")
        match base:
            case "user":
                return self._user(request)
            case "k" | "replicate":
                return getattr(request, base)
            case "scale":
                return getattr(request.scale, part)
            case "attributes":
                return _attribute(request.attributes, part)
            case "seen":
                return [self._item(each) for each in request.seen]
            case "history":
                return self._history(request, part)
            case "candidates":
                return self._candidates(request, part)
        return ABSENT if cursor is None else cursor

    def of_batch(self, requests: Sequence[Request], name: str) -> Any:
        """The value of a placeholder of `OF_BATCH`; raises as `of_request`."""
        if name == "k":
            return requests[0].k
        if name == "users":
            return [self._user(each) for each in requests]
        if "request" not in self.forms:
            return [self._plain(each) for each in requests]
        form = self.forms["request"]
        return [filled(form, partial(self.of_request, each, None)) for each in requests]

    def read_by(self, names: Sequence[str]) -> frozenset[Aspect]:
        """The parts of a request that are sent, of those that a map can leave out.

        Args:
            names: The placeholders of the request itself, without those of `forms`.
        """
        found = {*names}
        if "requests" in found:
            form = self.forms.get("request")
            found |= {*(OF_REQUEST if form is None else names_in(form))}
        within: dict[str, set[str]] = {}
        for whole, of_entry in (("history", OF_RATING), ("candidates", OF_ITEM)):
            form = self.forms.get(whole)
            entry = {*(of_entry if form is None else names_in(form))}
            within[whole] = entry if whole in found else set()
        bases = {name.partition(".")[0] for name in found}
        both = within["history"] | within["candidates"]
        read: dict[Aspect, bool] = {
            "ratings": "rating" in within["history"] or "history.ratings" in found,
            "history": "history" in bases,
            "candidates": "candidates" in bases,
            "user": bool(bases & {"user", "users", "attributes", "history"}),
            "titles": bool({"history.titles", "candidates.titles"} & found)
            or "title" in both,
        }
        return frozenset(aspect for aspect, is_read in read.items() if is_read)

    def _history(self, request: Request, part: str) -> Any:
        history = request.history
        match part:
            case "ids":
                return [self._item(each.item.id) for each in history]
            case "titles":
                return [each.item.title for each in history]
            case "ratings":
                return [each.value for each in history]
            case "timestamps":
                return [each.timestamp for each in history]
            case "last":
                return self._item(history[-1].item.id) if history else None
        if "history" not in self.forms:
            return self._plain(request)["history"]
        form = self.forms["history"]
        return [filled(form, partial(self._of_rating, each)) for each in history]

    def _candidates(self, request: Request, part: str) -> Any:
        if request.candidates is None:
            return None
        match part:
            case "ids":
                return [self._item(each.id) for each in request.candidates]
            case "titles":
                return [each.title for each in request.candidates]
        if "candidates" not in self.forms:
            return self._plain(request)["candidates"]
        form = self.forms["candidates"]
        return [
            filled(form, partial(self._of_item, each)) for each in request.candidates
        ]

    def _of_rating(self, rating: Rating, name: str) -> Any:
        if name == "rating":
            return rating.value
        if name == "timestamp":
            return rating.timestamp
        return self._of_item(rating.item, name)

    def _of_item(self, item: Item, name: str) -> Any:
        base, _, part = name.partition(".")
        if base == "id":
            return self._item(item.id)
        if base == "attributes":
            return _attribute(item.attributes, part)
        return getattr(item, base)

    def _plain(self, request: Request) -> dict[str, Any]:
        """The form of the contract, with the ids of this map."""
        found = plain(request)
        found["user"] = self._user(request)
        found["seen"] = [self._item(each) for each in request.seen]
        entries = [each["item"] for each in found["history"]]
        for entry in (*entries, *(found["candidates"] or ())):
            entry["id"] = self._item(entry["id"])
        return found

    def _user(self, request: Request) -> str | int:
        return _number(request.user, "user") if self.user_numbers else request.user

    def _item(self, own: str) -> str | int:
        return _number(own, "item") if self.item_numbers else own


def _attribute(attributes: Mapping[str, Any], name: str) -> Any:
    return attributes.get(name) if name else dict(attributes)


def _number(own: str, of: str) -> int:
    if _WHOLE.fullmatch(own) is None:
        raise UnsendableError(
            f"the id {shortened(repr(own), 60)} of {'an item' if of == 'item' else 'a user'} is no whole number, and the map "
            f"sends numbers",
        )
    return int(own)

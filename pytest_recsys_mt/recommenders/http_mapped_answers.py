"""Reads the answers of an endpoint by its map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_recsys_mt.recommenders.http_contract import LONGEST_ID, Answered
from pytest_recsys_mt.recommenders.http_map import Map
from pytest_recsys_mt.recommenders.http_map_file import brief
from pytest_recsys_mt.recommenders.http_paths import UnreadError
from pytest_recsys_mt.requests import Recommendation, Request
from pytest_recsys_mt.safety.redaction import redact, shortened
from pytest_recsys_mt.safety.sanitize import one_line, without_controls

_NO_ERROR: tuple[Any, ...] = (None, False, "", [], {}, 0)
"""What ``error`` finds in an answer without one."""


@dataclass
class Found:
    """The items of one list, and their scores if the map reads them."""

    items: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def add(self, further: Found) -> None:
        """Add those of the next page."""
        self.items += further.items
        self.scores += further.scores


class Reader:
    """Reads answers.

    Args:
        map: Says where they hold what.
    """

    def __init__(self, map: Map) -> None:
        self._map = map
        self._paths = map.paths

    def version(self, said: Any) -> str | None:
        """The version that answered, if the map reads it.

        Raises:
            UnreadError: If there is none, or it is no text and no number.
        """
        path = self._paths.get("version")
        if path is None:
            return None
        found = path.value(said)
        if found is None:
            raise path.unread(path.nothing(said))
        if isinstance(found, bool) or not isinstance(found, str | int | float):
            raise path.unread(f"finds {brief(found)}, which is no version")
        version = redact(one_line(str(found)))[:200]
        if not version:
            raise path.unread("finds an empty text, which is no version")
        return version

    def failure(self, said: Any) -> Recommendation | None:
        """The answer that reports an error, if this one does."""
        path = self._paths.get("error")
        found = None if path is None else path.value(said)
        if found in _NO_ERROR:
            return None
        text = (
            shortened(one_line(found), 300)
            if isinstance(found, str)
            else brief(found, 300)
        )
        place = "" if path is None else f" ({path.place})"
        return Recommendation((), error=f"the server says: {text}{place}")

    def failure_of_all(self, said: Any) -> Recommendation | None:
        """The answer to each request of a batch that was answered by an error alone."""
        has_answers = self._paths["answers"].value(said) is not None
        return None if has_answers else self.failure(said)

    def found(self, said: Any) -> Found:
        """The items of one answer or page; raises `UnreadError` if it has no list."""
        ids = self._paths["items"].ids(said)
        items = [shortened(without_controls(each), LONGEST_ID) for each in ids]
        scores = self._paths.get("scores")
        if scores is None:
            return Found(items)
        numbers = scores.numbers(said, len(items))
        scores.require_same_entries(said, self._paths["items"])
        return Found(items, numbers)

    def following(self, said: Any) -> str | int | None:
        """The address or the cursor of the next page; None behind the last."""
        path = self._paths.get("next")
        found = None if path is None else path.value(said)
        if path is None or found is None or found is False or found == "":
            return None
        if isinstance(found, bool) or not isinstance(found, str | int):
            raise path.unread(
                f"finds {brief(found)}, which is no address and no cursor"
            )
        return found

    def recommendation(self, found: Found, request: Request) -> Recommendation:
        """The list of a request: ordered by the scores, if there are any, highest first.

        It is cut at `k` if the server is not told `k`, or answers in pages.
        """
        items = found.items
        if "scores" in self._paths:
            order = sorted(range(len(items)), key=lambda place: -found.scores[place])
            items = [items[place] for place in order]
        if "next" in self._paths or not self._map.asks_for_k:
            items = items[: request.k]
        return Recommendation(tuple(items))

    def batch(self, said: Any, requests: Sequence[Request]) -> list[Answered]:
        """The answers to the requests of a batch.

        Raises:
            UnreadError: If they cannot be found.
        """
        answers = self._paths["answers"].value(said)
        if isinstance(answers, Mapping):
            by_user = {str(user): answer for user, answer in answers.items()}
        elif "user" in self._paths:
            by_user = self._by_user(self._paths["answers"].listed(said))
        else:
            listed = self._paths["answers"].listed(said)
            if len(listed) != len(requests):
                raise self._paths["answers"].unread(
                    f"finds {len(listed)} answers to {len(requests)} requests; if answers name their users, add user"
                )
            pairs = zip(listed, requests, strict=True)
            return [self._one(answer, request) for answer, request in pairs]
        return [self._of_user(by_user, request) for request in requests]

    def _by_user(self, answers: Sequence[Any]) -> dict[str, Any]:
        path = self._paths["user"]
        found = {}
        for answer in answers:
            user = path.value(answer)
            if isinstance(user, bool) or not isinstance(user, str | int):
                raise path.unread(
                    f"finds {brief(user)} in the answer {brief(answer)}, which is no user"
                )
            found[str(user)] = answer
        return found

    def _of_user(self, by_user: Mapping[str, Any], request: Request) -> Answered:
        if request.user in by_user:
            return self._one(by_user[request.user], request)
        users = ", ".join(brief(user, 40) for user in list(by_user)[:3])
        error = self._paths["answers"].unread(
            f"has no answer to user {brief(request.user, 60)}, but to {users or 'nobody'}"
        )
        return Recommendation((), error=str(error))

    def _one(self, answer: Any, request: Request) -> Answered:
        try:
            failed = self.failure(answer)
            return failed or self.recommendation(self.found(answer), request)
        except UnreadError as error:
            return Recommendation((), error=str(error))

"""Recommenders behind HTTP with requests and answers of their own form:
``--recsys-model='https://shop.example/api?map=map.toml'``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.recommenders import http_contract
from pytest_recsys_mt.recommenders.http import HTTPRecommender
from pytest_recsys_mt.recommenders.http_contract import (
    ORIGIN,
    About,
    Answered,
    ContractError,
)
from pytest_recsys_mt.recommenders.http_key import named_keys
from pytest_recsys_mt.recommenders.http_list_notes import Flaw, ListNotes
from pytest_recsys_mt.recommenders.http_map import Map, Sent
from pytest_recsys_mt.recommenders.http_map_file import MapFile, brief
from pytest_recsys_mt.recommenders.http_mapped_answers import Found, Reader
from pytest_recsys_mt.recommenders.http_paths import UnreadError
from pytest_recsys_mt.recommenders.http_template import UnfilledError, UnsendableError
from pytest_recsys_mt.requests import Recommendation, Request, specs
from pytest_recsys_mt.safety.errors import NotApplicable
from pytest_recsys_mt.safety.redaction import AUTHORIZATION, Secret, shortened
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    import httpx2

_REASON_LENGTH = 500  # characters of an error that are kept


class NoAnswerError(ValueError):
    """A response whose status means, by the map, that the user gets no list."""

    def __init__(self, status: int, file: str) -> None:
        super().__init__(f"HTTP {status}, which no_answer of {file} names")


class MappedRecommender(HTTPRecommender):
    """A recommender behind HTTP whose requests and answers a map describes.

    It differs from an `HTTPRecommender` in the form of what is sent and read alone. The
    server is asked for no description of itself; the map declares what is known of it.
    Keys come from the environment: the one of `HTTPRecommender`, and those that headers
    of the map name. All of them go to the server of ``RECSYS_HTTP_ORIGIN`` alone.

    Args:
        url: Scheme, host, port and the path that all requests share.
        map: The file of the map.
        concurrency: As of an `HTTPRecommender`.
        timeout: Likewise.
        max_wait: Likewise.
        version: The one that answers, as part of the key of each answer that is kept.
        deterministic: Whether the server always gives the same answer; None reads the
            map.

    Raises:
        RecommenderError: If an argument or the map is wrong.
    """

    def __init__(
        self,
        url: str,
        *,
        map: str,
        concurrency: int | None = None,
        timeout: float = 30.0,
        max_wait: float | None = None,
        version: str | None = None,
        deterministic: bool | None = None,
    ) -> None:
        self.map = Map(MapFile.read(map))
        super().__init__(
            url,
            batch=self.map.batch or 1,
            concurrency=concurrency,
            timeout=timeout,
            max_wait=max_wait,
            version=version,
            deterministic=deterministic,
        )
        self._reader = Reader(self.map)
        self._answering: str | None = None  # the version of the first answer
        url, file = self.endpoint.url, self.map.file.name
        self._list_notes = ListNotes(self.notes, url, file, self.map.pages)
        self.told: Callable[[str], None] | None = None  # what is read beside the list

    @classmethod
    def from_spec(cls, spec: str) -> MappedRecommender:
        """The recommender in ``https://shop.example/api?map=map.toml``; raises as the
        class.
        """
        url, given = specs.split(spec)
        made: MappedRecommender = specs.build(partial(cls, url), given, spec)
        return made

    @property
    def identity(self) -> Mapping[str, object]:
        return {"recommender": self.endpoint.url, "map": self.map.digest}

    @property
    def deterministic(self) -> bool:
        declared = self._declared
        return self.map.about.deterministic if declared is None else declared

    @cached_property
    def about(self) -> About:
        """What the map declares, with the version of the spec, if it has one."""
        said = self.map.about
        return replace(said, version=self._pinned or said.version)

    def require_key(self) -> None:
        """Raise an error if the environment lacks a key that the map names."""
        _ = self._secrets

    @cached_property
    def _secrets(self) -> dict[str, Secret]:
        variables, place = self.map.variables, self.map.file.place("headers")
        return named_keys(self.endpoint, variables, place)

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        self.require_key()
        return super()._client

    @property
    def _address(self) -> str:
        return self.endpoint.url

    def _batches(self, requests: Sequence[Request]) -> list[list[int]]:
        """The positions of the requests of each call.

        A batch asks for lists of one length, and names no user twice: its answers may be
        found by their users.
        """
        if self.map.batch is None:
            return super()._batches(requests)
        batches: list[list[int]] = []
        unfilled: dict[int, list[tuple[list[int], set[str]]]] = {}
        for position, request in enumerate(requests):
            of_length = unfilled.setdefault(request.k, [])
            fitting = (each for each in of_length if request.user not in each[1])
            batch, users = next(fitting, ([], set()))
            if not batch:
                batches.append(batch)
                of_length.append((batch, users))
            batch.append(position)
            users.add(request.user)
            if len(batch) == self.batch:
                of_length.remove((batch, users))
        return batches

    async def _answers(self, requests: Sequence[Request]) -> list[Answered]:
        try:
            if self.map.batch is None:
                return [await self._list_of(requests[0])]
            said = await self._said(self._sent(requests))
            failed = self._reader.failure_of_all(said)
            if failed is not None:
                return [self._addressed(failed) for _ in requests]
            self._check(self._reader.version(said))
            answers = [*map(self._addressed, self._reader.batch(said, requests))]
            for answer, request in zip(answers, requests, strict=True):
                if isinstance(answer, Recommendation) and answer.error is None:
                    self._list_notes.read(answer, request)
            return answers
        except UnfilledError as lacks:
            return [NotApplicable(str(lacks)) for _ in requests]
        except (NoAnswerError, UnsendableError) as error:
            if len(requests) > 1:  # it may be for one of them
                middle = len(requests) // 2
                halves = requests[:middle], requests[middle:]
                parts = [await self._answers_of_half(half) for half in halves]
                return [answer for part in parts for answer in part]
            if isinstance(error, UnsendableError):
                raise
            return [NotApplicable(str(error))]

    async def _answers_of_half(self, requests: Sequence[Request]) -> list[Answered]:
        try:
            return await self._answers(requests)
        except Exception as error:  # noqa: BLE001 - the failure is its answer
            failed = Recommendation((), error=self._reason(error, self._address))
            return [failed for _ in requests]

    async def _list_of(self, request: Request) -> Answered:
        """The list of one request, of as many pages as it takes."""
        sent = self._sent([request])
        found = Found()
        seen = set[str]()
        for number in range(1, self.map.pages + 1):
            try:
                said = await self._said(sent)
            except NoAnswerError as none:
                if seen:  # behind the last page
                    return self._read(found, request)
                return NotApplicable(str(none))
            failed = self._reader.failure(said)
            if failed is not None:
                return self._addressed(failed)
            self._check(self._reader.version(said))
            page = self._reader.found(said)
            found.add(page)
            following = self._reader.following(said)
            is_last = following is None or not page.items or number == self.map.pages
            if is_last or len(found.items) >= request.k:
                self._tell_next(said, following, number)
            if following is None or len(found.items) >= request.k:
                return self._read(found, request)
            if not page.items:
                return self._read(found, request, Flaw.EMPTY_PAGE)
            if str(following) in seen:
                raise self.map.paths["next"].unread(
                    f"leads to {brief(following)}, which was read already"
                )
            seen.add(str(following))
            sent = self._sent_next(request, sent, following)
        return self._read(found, request, Flaw.CAPPED)

    def _addressed(self, answer: Answered) -> Answered:
        """An answer whose error begins with the address."""
        if not isinstance(answer, Recommendation) or answer.error is None:
            return answer
        said = f"{self.endpoint.url}: {answer.error}"
        return replace(answer, error=shortened(one_line(said), _REASON_LENGTH))

    def _read(
        self, found: Found, request: Request, ending: Flaw | None = None
    ) -> Recommendation:
        """The list of a request, which is counted if it is not as it should be."""
        answer = self._reader.recommendation(found, request)
        self._list_notes.read(answer, request, ending)
        return answer

    def _tell_next(self, said: Any, following: Any, number: int) -> None:
        """Tell whoever listens what the last page that was read says of a further one."""
        path = self.map.paths.get("next")
        if path is None or self.told is None:
            return
        value = path.value(said)
        finds = path.nothing(said) if value is None else f"finds {brief(value)}"
        more = "" if following is None else ", which was not read"
        self.told(path.said(f"{finds}, after page {number}{more}"))

    def _sent(self, requests: Sequence[Request], cursor: Any = None) -> Sent:
        return self.map.sent(self.endpoint.url, requests, self._secrets, cursor)

    def _sent_next(self, request: Request, sent: Sent, following: Any) -> Sent:
        """The request for the next page, whose address or cursor an answer names."""
        is_address = isinstance(following, str) and following.startswith(
            ("https://", "http://", "/", "?")
        )
        if not is_address:
            if not self.map.sends_cursor:
                raise self.map.paths["next"].unread(
                    f"leads to {brief(following)}, which is no address, and no {{cursor}} sends it; put '{{cursor}}' into query or body"
                )
            return self._sent([request], following)
        url = urljoin(sent.url, following)
        parts = urlsplit(url)
        bare = parts._replace(query="", fragment="").geturl()
        where = Endpoint.parse(bare, "next", self.endpoint.url, AUTHORIZATION)
        if where.origin != self.endpoint.origin:
            raise self.map.paths["next"].unread(
                f"leads to {where.origin}, another server, which is not asked"
            )
        return Sent(sent.method, url, sent.headers, sent.body)

    async def _said(self, sent: Sent) -> Any:
        content = await self._call(sent.method, sent.url, sent.body, sent.headers)
        try:
            return json.loads(content.decode())
        except (ValueError, RecursionError):
            raise UnreadError(self._unparsed(content)) from None

    def _unparsed(self, content: bytes) -> str:
        """What an answer is that is not JSON."""
        file = self.map.file.name
        text = content.decode(errors="replace").lstrip("\ufeff\r\n\t ")
        what = brief(text) if text else "empty"
        if text.startswith("<") and not text.startswith("<?xml"):
            return f"the answer is not JSON but looks like a web page, perhaps a login: {what}; check path in {file}, and the key"
        return f"the answer is not JSON but {what}; check path in {file}"

    def _require_answer(self, response: httpx2.Response) -> None:
        if response.status_code in self.map.no_answer:
            raise NoAnswerError(response.status_code, self.map.file.name)
        if response.status_code == 204:
            raise UnreadError(
                "the answer is empty (HTTP 204); if this means that there is no list, add no_answer = [204]"
            )
        super()._require_answer(response)

    def _check(self, version: str | None) -> None:
        if self.told is not None and version is not None:
            self.told(self.map.paths["version"].said(f"finds {brief(version)}"))
        if self.about.version is None and version is not None:
            self._answering = self._answering or version
            if version != self._answering:
                raise ContractError(
                    f"version {one_line(version)!r} answers, and it was {self._answering!r} before; run again"
                )
        super()._check(version)

    def _reason(self, error: Exception, url: str) -> str:
        said = http_contract.describe(error, url.partition("?")[0], self._hints, "")
        if isinstance(error, UnreadError | UnsendableError):
            said = f"{self.endpoint.url}: {error}"
        return shortened(one_line(said), _REASON_LENGTH)

    @cached_property
    def _hints(self) -> Mapping[int, str]:
        file = self.map.file.name
        compare = f"compare what {file} sends with what the server takes; recsys-mt try shows it"
        own = ", ".join(self.map.variables)
        key = (
            f"check {own}, which headers of {file} name"
            if own
            else f"set {AUTHORIZATION}, or name a variable in headers of {file}, and set {ORIGIN} to this server"
        )
        return {
            400: compare,
            401: key,
            403: key,
            404: f"check path in {file}; if users without a list are answered so, add no_answer = [404]",
            405: f"check method in {file}",
            413: f"lower batch in {file}",
            415: compare,
            422: compare,
            429: "lower concurrency= in the spec",
        }

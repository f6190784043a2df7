"""Recommenders behind HTTP: ``--recsys-model=https://shop.example/api``."""

from __future__ import annotations

import queue
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pytest_recsys_mt.llm.api.background import BackgroundLoop
from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.pacing import MAX_WAIT, Pace, pace_rules
from pytest_recsys_mt.llm.api.retries import persist
from pytest_recsys_mt.recommenders import http_contract, http_times
from pytest_recsys_mt.recommenders.http_contract import About, Answered, Exchange
from pytest_recsys_mt.recommenders.http_key import authorization, header
from pytest_recsys_mt.requests import Recommendation, Request, specs
from pytest_recsys_mt.safety.errors import RecommenderError, UnreachableError
from pytest_recsys_mt.safety.redaction import (
    AUTHORIZATION,
    Secret,
    redact_bytes,
    shortened,
)
from pytest_recsys_mt.safety.sanitize import one_line

if TYPE_CHECKING:
    import httpx2

EXAMPLE = "https://shop.example/api"

_REASON_LENGTH = 300  # characters of an error that are kept

_SPLIT = (400, 413, 422, 500)
"""Statuses that a server may return for a whole batch because of one request in it."""


Arrived = list[tuple[int, Answered]]


class HTTPRecommender:
    """A recommender that follows the contract of
    ``docs/http-recommender.openapi.yaml``.

    ``GET url/about`` returns the version that answers, ``POST url/recommend`` answers a
    batch. Without a version, answers are stored for one run only. Prompt edits and
    instructions are not sent: test a recommender that reads text as a text model.

    The key comes only from the environment (`AUTHORIZATION`), in the header
    ``Authorization`` or the one that `HEADER` names. It is sent only to the server that
    the environment names (`ORIGIN`), over https or on this machine, never along a
    redirect: an address in a pull request must not get the key of a build server.

    Args:
        url: Scheme, host, port and path.
        batch: Most requests per call.
        concurrency: Calls in flight at a time; None starts with 8 and tries up to 64
            while answers stay as fast.
        timeout: Seconds that one attempt of a call may take.
        max_wait: Seconds to wait for a server that is busy or unreachable; None leaves
            it to the run.
        version: The one that must answer. No request for it is then sent, so that
            recorded answers can be replayed without the server.
        deterministic: Whether the server always gives the same answer; None reads its
            description (with a `version`: False).

    Raises:
        RecommenderError: If an argument is out of range.
    """

    def __init__(
        self,
        url: str,
        *,
        batch: int = 16,
        concurrency: int | None = None,
        timeout: float = 30.0,
        max_wait: float | None = None,
        version: str | None = None,
        deterministic: bool | None = None,
    ) -> None:
        url = Secret(url)  # a traceback shows local variables
        self.endpoint = Endpoint.parse(url, "the address", EXAMPLE, AUTHORIZATION)
        specs.check(
            self.endpoint.url,
            ("batch", batch, 1 <= batch <= 1000, "in 1..1000"),
            *pace_rules(concurrency, timeout, max_wait),
            ("version", version, version is None or bool(version.strip()), "a text"),
        )
        self.batch = batch
        self.concurrency = concurrency
        self.timeout = timeout
        self.max_wait = max_wait
        self._pinned = version
        self._declared = deterministic
        self.notes: list[str] = []
        self.heard: Callable[[Exchange], None] | None = None  # told of each response
        self._loop: BackgroundLoop | None = None
        self._about_failed: RecommenderError | None = None
        self._has_answered = False

    @classmethod
    def from_spec(cls, spec: str) -> HTTPRecommender:
        """The recommender in
        ``https://shop.example/api?batch=8&timeout=5``; raises
        as the class.
        """
        url, given = specs.split(spec)
        made: HTTPRecommender = specs.build(partial(cls, url), given, spec)
        return made

    @property
    def identity(self) -> Mapping[str, object]:
        """The values that determine answers in addition to the fingerprint."""
        return {"recommender": self.endpoint.url}

    @property
    def fingerprint(self) -> str | None:
        """The version that answers, or None if the server does not say."""
        return self.about.version

    @property
    def deterministic(self) -> bool:
        """Whether the server, or the spec for it, declares
        that it always gives the same answer.
        """
        return self.about.deterministic if self._declared is None else self._declared

    @property
    def seeded(self) -> bool:
        """Whether the server declares that the same replicate of
        a request always gets the same answer.
        """
        return self.about.seeded

    @property
    def ignores(self) -> tuple[str, ...]:
        """The parts of a request that the server declares not to read."""
        return self.about.ignores

    @property
    def promises(self) -> tuple[str, ...]:
        """The promises of the server on the history."""
        return self.about.promises

    @property
    def reads_latest(self) -> int | None:
        """How many of a history's latest items the server declares to read at most."""
        return self.about.reads_latest

    @cached_property
    def about(self) -> About:
        """The server's description of itself; empty if it has no ``/about``.

        Raises:
            RecommenderError: If it cannot be reached, or violates the contract.
        """
        if self._pinned is not None:
            return About(self._pinned)
        if self._about_failed is not None:
            raise self._about_failed
        url = f"{self.endpoint.url}/about"
        _ = self._client  # raises if the key must not be sent
        try:
            return self._running.submit(self._fetch_about(url)).result()
        except Exception as error:  # noqa: BLE001 - every test reports the same error
            failed = UnreachableError(
                f"{self._reason(error, url)}; start the server, or, to replay recorded answers "
                f"without it, add version=VERSION (and deterministic=true) to the spec",
            )
        # Not above: there a traceback would show the original error and the server's
        # full text.
        self._about_failed = failed
        raise failed

    def recommend(self, requests: Sequence[Request], /) -> list[Recommendation]:
        """The answers in the order of the requests; a failed one is a `Recommendation`
        with an error.

        Raises:
            NotApplicable: If the server cannot serve one of the requests.
            RecommenderError: If the key must not be sent.
        """
        found = {position: answer for arrived in self.recommend_each(requests)
                 for position, answer in arrived}  # fmt: skip
        answers = []
        for position in range(len(requests)):
            answer = found[position]
            if not isinstance(answer, Recommendation):
                raise answer
            answers.append(answer)
        return answers

    def recommend_each(self, requests: Sequence[Request]) -> Iterator[Arrived]:
        """Yield each request's position with its answer, a batch at a time, as they
        arrive.

        If the caller stops reading, the calls in flight are cancelled. RecommenderError
        if the key must not be sent.
        """
        batches = self._batches(requests)
        arrived: queue.SimpleQueue[Arrived | None] = queue.SimpleQueue()
        calls = self._running.submit(self._send_all(requests, batches, arrived))
        calls.add_done_callback(lambda _: arrived.put(None))
        try:
            while (answers := arrived.get()) is not None:
                yield answers
            calls.result()
        finally:
            calls.cancel()

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()
        for held in ("_client", "_pace"):  # the last tasks of the loop used them
            self.__dict__.pop(held, None)

    def _batches(self, requests: Sequence[Request]) -> list[list[int]]:
        """The positions of the requests of each call."""
        size = min(self.batch, self.about.max_batch or self.batch)
        positions = list(range(len(requests)))
        return [
            positions[start : start + size] for start in range(0, len(requests), size)
        ]

    @property
    def _address(self) -> str:
        """What messages name as the address of a batch."""
        return f"{self.endpoint.url}/recommend"

    @property
    def _running(self) -> BackgroundLoop:
        if self._loop is None:
            self._loop = BackgroundLoop(self._client)
        return self._loop

    @cached_property
    def _key(self) -> Secret | None:
        return authorization(self.endpoint)

    @property
    def _key_header(self) -> str:
        return header()

    @cached_property
    def _pace(self) -> Pace:
        return Pace(
            self.concurrency,
            MAX_WAIT if self.max_wait is None else self.max_wait,
        )

    @cached_property
    def _client(self) -> httpx2.AsyncClient:
        key = self._key
        from pytest_recsys_mt.llm.api.transport import http_client

        client = http_client(self.endpoint, self._pace.ceiling, self.notes)
        if key is not None:
            client.headers[self._key_header] = key
        return client

    async def _fetch_about(self, url: str) -> About:
        import httpx2

        try:
            body = await self._call("GET", url)
        except httpx2.HTTPStatusError as error:
            if error.response.status_code in (404, 405, 501):
                return About()
            raise
        return http_contract.read_about(body)

    async def _send_all(
        self,
        requests: Sequence[Request],
        batches: Sequence[Sequence[int]],
        arrived: queue.SimpleQueue[Arrived | None],
    ) -> None:
        import asyncio

        waiting = iter(batches)

        async def work() -> None:
            for batch in waiting:
                async for answers in self._send(requests, batch):
                    arrived.put(answers)

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._pace.ceiling, len(batches))):
                group.create_task(work())

    async def _send(
        self,
        requests: Sequence[Request],
        batch: Sequence[int],
        failed: int = 0,
    ) -> AsyncIterator[Arrived]:
        import httpx2

        url = self._address
        try:
            with http_times.counting(failed) as counted:
                asked = [requests[position] for position in batch]
                answers = http_times.timed(await self._answers(asked), counted)
        except Exception as error:  # noqa: BLE001 - a call's failure is its answer, whatever it is
            status = (
                error.response.status_code
                if isinstance(error, httpx2.HTTPStatusError)
                else 0
            )
            # Do not halve if the server fails every call: this would only multiply its
            # failures.
            may_be_one = status in _SPLIT and (status != 500 or self._has_answered)
            if len(batch) > 1 and may_be_one:
                middle = len(batch) // 2
                for half in (batch[:middle], batch[middle:]):
                    async for arrived in self._send(requests, half, failed + 1):
                        yield arrived
                return
            none = Recommendation((), error=self._reason(error, url))
            yield [(position, none) for position in batch]
            return
        self._has_answered = True
        yield list(zip(batch, answers, strict=True))

    async def _answers(self, requests: Sequence[Request]) -> list[Answered]:
        """The answers to a batch, of one call."""
        body = http_contract.body_of(requests)
        said = await self._call("POST", self._address, body)
        version, answers = http_contract.read_answers(said, len(requests))
        self._check(version)
        return answers

    async def _call(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        further: Mapping[str, str] | None = None,
    ) -> bytes:
        """The content of the response, with `further` headers sent."""

        async def attempt() -> bytes:
            with http_times.attempt():
                return await self._attempt(method, url, body, further or {})

        describe = partial(self._reason, url=url)
        return await persist(attempt, self._pace, describe, http_times.earlier())

    async def _attempt(
        self,
        method: str,
        url: str,
        body: bytes | None,
        further: Mapping[str, str],
    ) -> bytes:
        import asyncio

        headers = {} if body is None else {"Content-Type": "application/json"}
        headers.update(further)
        async with asyncio.timeout(self._pace.time_limit(self.timeout)):
            response = await self._client.request(
                method,
                url,
                content=body,
                headers=headers,
            )
        content = redact_bytes(response.content)
        if self.heard is not None:
            key = {} if self._key is None else {self._key_header: self._key}
            shown = {**key, **headers}
            status = response.status_code
            self.heard(Exchange(method, url, shown, body, status, content))
        self._require_answer(response)
        return content

    def _require_answer(self, response: httpx2.Response) -> None:
        """Raise an error for a response that holds no answer."""
        response.raise_for_status()

    def _check(self, version: str | None) -> None:
        expected = self.about.version
        if version is None or expected is None or version == expected:
            return
        said = one_line(version)
        raise http_contract.ContractError(
            f"version {said!r} answers, and the spec names {expected!r}; name the one that is served"
            if self._pinned is not None
            else f"version {said!r} answers, and it was {expected!r} when the run began; run again",
        )

    def _reason(self, error: Exception, url: str) -> str:
        return shortened(one_line(http_contract.describe(error, url)), _REASON_LENGTH)

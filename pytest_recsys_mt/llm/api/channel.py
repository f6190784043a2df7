"""Requests to an OpenAI-compatible endpoint. It imports
openai; import it only when needed.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import openai

from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.llm.api.transport import http_client
from pytest_recsys_mt.safety.redaction import HEADERS, Secret, secret


class Channel(AbstractAsyncContextManager["Channel"]):
    """Sends the requests of the OpenAI client and raises its errors, at a quarter of
    its cost.

    All requests to one path differ in their bodies alone, so the client builds the
    first one, and its address and headers serve for all. It makes the exception of a
    response that is no success.

    Raises:
        RecommenderError: If this process may not open so many connections.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key: Secret | None,
        connections: int,
        notes: list[str],
    ) -> None:
        self._http = http_client(endpoint, connections, notes)
        self._key = key
        self._endpoint = endpoint
        self._built: dict[str, httpx2.Request] = {}
        self._building = asyncio.Lock()

    async def __aexit__(self, *error: object) -> None:
        await self._http.aclose()

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The body of the response; openai.APIStatusError if it is no success, or an
        error of aiohttp and httpx2.
        """
        async with self._building:
            if path not in self._built:
                built = self._built[path] = await self._by_client(
                    path,
                    httpx2.Response(200),
                )
                del built.headers["content-length"]
        built = self._built[path]
        content = json.dumps(
            body,
            ensure_ascii=False,
            separators=(",", ":"),
            allow_nan=False,
        )
        response = await self._http.send(
            httpx2.Request("POST", built.url, headers=built.headers, content=content),
        )
        if not response.is_success:
            await self._by_client(path, response)
        return response.content

    async def _by_client(self, path: str, response: httpx2.Response) -> httpx2.Request:
        """The request of the OpenAI client; it gets `response`
        from a transport without a network.
        """
        version = self._endpoint.version
        client = openai.AsyncOpenAI(
            # Never empty, or the client would look for other keys in the environment.
            api_key=self._key or "none",
            base_url=self._endpoint.url,
            default_query=None if version is None else {"api-version": version},
            timeout=self._http.timeout,
            max_retries=0,
            http_client=httpx2.AsyncClient(
                transport=httpx2.MockTransport(lambda _: response),
                headers=self._http.headers,
                trust_env=False,
            ),
        )
        headers: dict[str, Any] = {}
        if version is not None and self._key is not None:
            headers = {"Authorization": openai.omit, "api-key": self._key}
        elif self._key is None and not re.search(
            r"(?im)^\s*authorization\s*:",
            secret(HEADERS),
        ):
            headers = {"Authorization": openai.omit}
        answered = await client.post(
            path,
            body={},
            cast_to=httpx2.Response,
            options={"headers": headers},
        )
        return answered.request

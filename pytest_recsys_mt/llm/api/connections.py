"""Connections to an endpoint, as aiohttp keeps them, with two faults of servers and
networks taken care of.

A response that no request asked for. HTTP/1.1 has no number that would say which
request a response belongs to. A server, or a proxy before it, that answers twice would
give each later request on that connection the answer to the request before. aiohttp
looks for such bytes when a response ends, and not when it takes the connection from its
pool, and so misses a response that comes later.

A name server that does not answer. Looking up a name blocks a thread, which Python
waits for when it ends, however long ago the call was given up. So names are looked up
in threads that nobody waits for.
"""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx2
from aiohttp.resolver import ThreadedResolver

UNASKED = (
    "{url} sent a response that nobody asked for; its connection was closed, and what it sent is no answer. If a response "
    "comes so late that the next request is sent already, it is taken for the answer to that: have the server repaired"
)

_KEEPALIVE = 5.0  # seconds that an idle connection stays open, as with httpx2


def use_connections(
    client: httpx2.AsyncClient,
    context: ssl.SSLContext,
    most: int,
    unasked: Callable[[], object],
) -> None:
    """Let `client`, whose transport is aiohttp, use `Connections`.

    Neither the OpenAI client nor httpx2 has an option for it, so the transports are
    given another way to make their session; `tests/models/test_connections.py` fails if
    one of the private names used here is gone.

    Args:
        client: An `openai.DefaultAioHttpClient` that has sent nothing yet.
        context: For TLS.
        most: The most connections that are open at a time.
        unasked: Called for each response that no request asked for.
    """

    def session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(connector=Connections(context, most, unasked))

    transports: list[Any] = [client._transport, *client._mounts.values()]
    for transport in transports:
        if hasattr(transport, "get_client"):
            transport.get_client = session


class Connections(aiohttp.TCPConnector):
    """Connections that serve another request only if the
    server sent nothing in between.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        most: int,
        unasked: Callable[[], object],
    ) -> None:
        super().__init__(
            ssl=context,
            limit=most,
            keepalive_timeout=_KEEPALIVE,
            resolver=UnawaitedResolver(),
        )
        self._unasked = unasked

    async def _get(self, key: Any, traces: Any) -> Any:
        connection = await super()._get(key, traces)
        while connection is not None and connection.protocol.should_close:  # type: ignore[union-attr]
            self._unasked()
            connection.close()
            connection = await super()._get(key, traces)
        return connection


class UnawaitedResolver(ThreadedResolver):
    """Looks up names as Python does, in threads that the
    end of the process does not wait for.
    """

    def __init__(self) -> None:
        super().__init__(loop=_Lookups(asyncio.get_running_loop()))  # type: ignore[arg-type]


class _Lookups:
    """The two lookups of an event loop, each in a daemon thread of its own."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def getaddrinfo(self, host: str, port: int, **how: Any) -> Any:
        return await self._apart(lambda: socket.getaddrinfo(host, port, **how))

    async def getnameinfo(self, address: Any, flags: int = 0) -> Any:
        return await self._apart(lambda: socket.getnameinfo(address, flags))

    def _apart(self, look_up: Callable[[], Any]) -> "asyncio.Future[Any]":
        found = self._loop.create_future()

        def answer(result: Any, error: Exception | None) -> None:
            if found.done():  # nobody waits any more
                return
            if error is None:
                found.set_result(result)
            else:
                found.set_exception(error)

        def work() -> None:
            result: Any = None
            error: Exception | None = None
            try:
                result = look_up()
            except (OSError, UnicodeError) as failed:
                error = failed
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(answer, result, error)

        threading.Thread(target=work, name="recsys-mt-lookup", daemon=True).start()
        return found

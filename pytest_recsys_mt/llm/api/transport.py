"""The HTTP client below the OpenAI client. It imports
openai; import it only when needed.
"""

from collections.abc import AsyncIterator

import httpx2
import openai

from pytest_recsys_mt.llm.api.connections import UNASKED, use_connections
from pytest_recsys_mt.llm.api.endpoint import Endpoint
from pytest_recsys_mt.safety.errors import RecommenderError

LARGEST = 2_000_000
"""Most bytes of a response to read; the longest
answers of real models have some 100,000.
"""

_STREAMED = 8 * LARGEST  # of a stream, which says a word in some 200 bytes

_CONNECT = 10.0  # seconds for opening a connection

_OTHER_FILES = 256  # files that this process may open in addition to its connections


class UnreadableError(ValueError):
    """A response whose body is not read completely; the text says why."""


def http_client(
    endpoint: Endpoint,
    connections: int,
    notes: list[str],
) -> httpx2.AsyncClient:
    """The fastest transport that the OpenAI client has (aiohttp), made safe, with a
    connection for each call in flight.

    It limits only the time for connecting: the caller limits the whole attempt, as a
    server that sends a byte a minute would keep every limit between two bytes.

    Args:
        endpoint: Where requests go.
        connections: The most that are open at a time.
        notes: Gets a sentence, once, if a server sends responses that nobody asked for.

    Raises:
        RecommenderError: If this process may not open so many connections.
    """
    _allow(connections)
    context = httpx2.create_ssl_context()
    client = openai.DefaultAioHttpClient(
        follow_redirects=False,
        # Requests that stay on this machine do not use a proxy.
        trust_env=not endpoint.is_loopback,
        verify=context,
        timeout=httpx2.Timeout(None, connect=_CONNECT),
        limits=httpx2.Limits(max_connections=connections),
        # A small compressed body may expand to a large one, so none is requested or
        # accepted.
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_limit]},
    )
    note = UNASKED.format(url=endpoint.url)

    def unasked() -> None:
        if note not in notes:
            notes.append(note)

    use_connections(client, context, connections, unasked)
    return client


def _allow(connections: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHER_FILES
    if resource.RLIM_INFINITY not in (soft, hard) and needed > hard:
        raise RecommenderError(
            f"concurrency={connections!r} takes {needed:,} open files, and this process may open "
            f"{hard:,}; raise that limit (ulimit -Hn), or lower concurrency to "
            f"{max(1, hard - _OTHER_FILES)}",
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


async def _limit(response: httpx2.Response) -> None:
    coding = response.headers.get("content-encoding", "identity").strip()
    if coding.lower() not in ("", "identity"):
        raise UnreadableError(
            f"the answer is packed as {coding!r}, which was not asked for",
        )
    if isinstance(response.stream, httpx2.AsyncByteStream):
        is_stream = response.headers.get("content-type", "").startswith(
            "text/event-stream",
        )
        response.stream = _Limited(response.stream, _STREAMED if is_stream else LARGEST)


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise UnreadableError(f"the answer has more than {self._most:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()

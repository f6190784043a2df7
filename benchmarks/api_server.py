"""A server on this machine that answers every chat completion after a fixed delay.

`python -m benchmarks.api_server` prints its address and serves until its standard input
closes. The delay in milliseconds is the first part of the path:
``http://127.0.0.1:PORT/50/v1``.
"""

import asyncio
import re
import sys
from typing import cast

ANSWER = (
    b'{"id":"1","object":"chat.completion","created":0,"model":"fixed","system_fingerprint":"fp",'
    b'"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"'
    + b"\\n".join(b"%d. Film number %d (1999)" % (i, i) for i in range(1, 11))
    + b'"}}],"usage":{"prompt_tokens":600,"completion_tokens":80,"total_tokens":680}}'
)


REPLY = (
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    % len(ANSWER)
) + ANSWER

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class _Connection(asyncio.Protocol):
    """Reads of HTTP what the clients here send: a server that
    parses more would be slower than they.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._read = b""

    def data_received(self, data: bytes) -> None:
        self._read += data
        head, found, body = self._read.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if not found or length is None or len(body) < int(length[1]):
            return
        self._read = b""
        delay = int(head.split(b"/", 2)[1]) / 1000
        asyncio.get_running_loop().call_later(delay, self._transport.write, REPLY)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Connection, "127.0.0.1", 0, backlog=4096)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())

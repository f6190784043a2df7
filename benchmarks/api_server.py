"""A server on this machine that answers every chat completion after a fixed delay.

`python -m benchmarks.api_server` prints its address and serves until its standard input closes. The
delay in milliseconds is the first part of the path: ``http://127.0.0.1:PORT/50/v1``.
"""

import asyncio
import sys

from aiohttp import web

ANSWER = (
    b'{"id":"1","object":"chat.completion","created":0,"model":"fixed","system_fingerprint":"fp",'
    b'"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"'
    + b"\\n".join(b"%d. Film number %d (1999)" % (i, i) for i in range(1, 11))
    + b'"}}],"usage":{"prompt_tokens":600,"completion_tokens":80,"total_tokens":680}}'
)


async def _answer(request: web.Request) -> web.Response:
    await request.read()
    delay = int(request.match_info["delay"]) / 1000
    if delay:
        await asyncio.sleep(delay)
    return web.Response(body=ANSWER, content_type="application/json")


async def _serve() -> None:
    application = web.Application()
    application.router.add_post("/{delay}/v1/chat/completions", _answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())

"""As many calls in flight as a spec allows: connections,
open files and answers that arrive together.
"""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import openai
import pytest
from aiohttp import web

from pytest_recsys_mt import RecommenderError
from pytest_recsys_mt.requests import Message, Prompt
from tests.models.faults import FaultServer, Reply, completion
from tests.support.calls import Limits
from tests.support.engine import Run, Settings
from tests.support.llm_api import Endpoint, OpenAIModel, http_client

resource = pytest.importorskip(
    "resource",
    reason="there is no limit of open files here",
)

MANY = 1000
FILES = 256
"""Files that the product leaves for all that is no connection."""


def prompts(count: int) -> list[Prompt]:
    return [
        Prompt((Message("user", f"question {number}"),), seed=number)
        for number in range(count)
    ]


@dataclass
class Crowd:
    """A server that answers nobody before `most` wait
    together, and then everybody a moment later.
    """

    most: int
    asked: int = 0
    waiting: int = 0
    together: int = 0
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, request: web.Request) -> web.Response:
        question = (await request.json())["messages"][0]["content"]
        self.asked += 1
        self.waiting += 1
        self.together = max(self.together, self.waiting)
        if self.together == self.most:
            self.complete.set()
        await self.complete.wait()
        await asyncio.sleep(1)
        self.waiting -= 1
        return web.json_response(completion(question))


@contextmanager
def serving(crowd: Crowd) -> Iterator[str]:
    """The server in a thread; gives the base URL for an OpenAI client."""
    loop = asyncio.new_event_loop()

    async def start() -> web.AppRunner:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", crowd.answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize("ahead", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_thousand_calls_are_in_flight_and_all_are_answered(
    ahead: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The server's ends of the connections are files of this process too.
    most = (
        MANY if hard == resource.RLIM_INFINITY else min(MANY, (hard - 2 * FILES) // 2)
    )
    crowd = Crowd(most)
    with serving(crowd) as url:
        resource.setrlimit(
            resource.RLIMIT_NOFILE,
            (min(2 * most + 2 * FILES, hard), hard),
        )
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        model = OpenAIModel("tiny", concurrency=most, max_wait=600, timeout=600)
        model.ahead = ahead
        answers = model.complete(prompts(2 * most))
        model.close()
    assert [answer.text for answer in answers] == [
        f"question {n}" for n in range(2 * most)
    ]
    assert crowd.asked == 2 * most, "no call was sent again, as after a timeout"
    assert crowd.together == most


LIMITED = """
import resource
from pytest_recsys_mt.safety.errors import RecommenderError
from pytest_recsys_mt.llm.api.openai_model import OpenAIModel
from pytest_recsys_mt.requests import Message, Prompt


resource.setrlimit(resource.RLIMIT_NOFILE, (200, 600))
asked = [Prompt((Message("user", "Name a film."),))]
try:
    OpenAIModel("tiny", concurrency=1000).complete(asked)
except RecommenderError as error:
    print(error)
print(OpenAIModel("tiny", concurrency=344).complete(asked)[0].text)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def test_the_limit_of_open_files_is_raised_as_far_as_it_goes(
    faulty: FaultServer,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.splitlines() == [
        "concurrency=1000 takes 1,256 open files, and this process may open 600; "
        + "raise that limit (ulimit -Hn), or lower concurrency to 344",
        "1. Heat",
        "(600, 600)",
    ]


def test_more_than_the_most_is_an_error_that_names_it() -> None:
    with pytest.raises(
        RecommenderError,
        match=r"concurrency must be in 1\.\.4096, got 5000",
    ):
        OpenAIModel("tiny", concurrency=5000)


@pytest.mark.parametrize("ahead", [False, True])
def test_answers_that_nobody_takes_hold_the_calls_back(
    ahead: bool,
    faulty: FaultServer,
) -> None:
    # Before any is taken each of three workers asks once; with `ahead`, two more
    # answers may wait. The first list may hold all of these five, whose workers wait
    # until it is read; if it holds fewer, as many more are asked.
    least, most = (5, 10) if ahead else (3, 3)
    reached, overrun = threading.Event(), threading.Event()

    def answer(payload: object) -> Reply:
        asked = len(faulty.asked)
        if asked >= least:
            reached.set()
        if asked > most:
            overrun.set()
        return Reply(completion())

    faulty.answer = answer
    model = OpenAIModel("tiny", concurrency=3)
    model.ahead = ahead
    arrivals = model.complete_each(prompts(50))
    next(arrivals)
    assert reached.wait(60)
    assert not overrun.wait(0.5)
    arrivals.close()
    model.close()


def test_prompts_may_join_while_the_last_answer_is_read(faulty: FaultServer) -> None:
    model = OpenAIModel("tiny", concurrency=4)
    model.ahead = True
    found: list[int] = []
    for arrived in model.complete_each(prompts(1)):
        found += [position for position, _ in arrived]
        if len(found) < 20:
            assert model.also(prompts(1))
    model.close()
    assert found == list(range(20))


def test_what_is_sent_is_what_the_openai_client_sends(
    faulty: FaultServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    endpoint = Endpoint.from_environment()
    model = OpenAIModel("tiny")
    (asked,) = prompts(1)

    async def by_client() -> None:
        http = http_client(endpoint, 1, [])
        async with openai.AsyncOpenAI(
            base_url=endpoint.url,
            http_client=http,
            timeout=http.timeout,
        ) as client:
            await client.chat.completions.create(**model.body(asked))

    asyncio.run(by_client())
    model.complete([asked])
    model.close()
    (payload, ours), (headers, our_headers) = faulty.asked, faulty.headers
    assert ours == payload
    assert our_headers == headers


@pytest.mark.parametrize("limits", [Limits(), Limits(calls=9)])
def test_only_a_run_without_limits_asks_ahead(limits: Limits) -> None:
    made = Run(Settings(limits=limits), "run").recommenders.made("openai:tiny")
    assert isinstance(made, OpenAIModel)
    assert made.ahead is not bool(limits)

"""The calls of a batch in flight."""

import asyncio
import contextlib
import gc
import warnings
from collections.abc import Awaitable, Callable

from pytest_recsys_mt.requests import Completion, Message, Prompt
from tests.support.llm_api import Flight


def test_what_is_added_while_a_flight_breaks_off_is_not_begun() -> None:
    first, second, late = (
        Prompt((Message("user", text),)) for text in ("first", "second", "late")
    )
    flight, begun = Flight(ahead=0), []

    async def ask(prompt: Prompt, told: Callable[[], Awaitable[None]]) -> Completion:
        begun.append(prompt)
        if prompt is first:
            raise ValueError("broken")
        try:
            await asyncio.sleep(60)
        finally:  # cancelled, as the first call raised
            flight.add([late])
            await asyncio.sleep(0.01)
        raise AssertionError

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with contextlib.suppress(ExceptionGroup):
            asyncio.run(flight.send_all([first, second], 3, ask))
        gc.collect()
    assert begun == [first, second]
    assert [str(each.message) for each in heard] == []

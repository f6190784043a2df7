"""The pace of calls on a clock that the tests turn."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

import pytest

from tests.support.llm_api import FIRST, Pace, UnavailableError


@dataclass
class Clock:
    """A clock that moves only when everybody sleeps."""

    now: float = 0.0
    naps: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        wanted = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, wanted)


def pace(clock: Clock, ceiling: int | None = None, max_wait: float = 120.0) -> Pace:
    ours = Pace(ceiling, max_wait, clock=clock, sleep=clock.sleep, draw=lambda: 0.0)
    ours.alive = True
    return ours


async def answers(of: Pace, clock: Clock, count: int, seconds: float) -> None:
    """`count` answers, all of which take `seconds`, as many at a time as `of` allows."""
    while count > 0:
        turns = [await of.enter() for _ in range(min(count, of.limit))]
        clock.now += seconds
        for turn in turns:
            of.answered(turn)
            of.leave(turn)
        count -= len(turns)


def run(check: Callable[[Clock], Coroutine[None, None, None]]) -> Clock:
    clock = Clock()
    asyncio.run(check(clock))
    return clock


def test_it_doubles_while_answers_take_no_longer() -> None:
    async def check(clock: Clock) -> None:
        ours, limits = pace(clock), []
        for _ in range(5):
            limits.append(ours.limit)
            await answers(ours, clock, ours.limit, 1.0)
        assert limits == [8, 16, 32, 64, 64]

    run(check)


def test_it_stays_where_answers_take_longer() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock)
        await answers(ours, clock, FIRST, 1.0)
        await answers(ours, clock, 20 * FIRST, 2.1)
        assert ours.limit == 2 * FIRST

    run(check)


@pytest.mark.parametrize("ceiling", [3, 100])
def test_a_number_that_was_given_is_begun_with_and_kept(ceiling: int) -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, ceiling)
        assert ours.limit == ceiling
        await answers(ours, clock, 3 * ceiling, 1.0)
        assert ours.limit == ceiling

    run(check)


def test_refusals_of_calls_in_flight_together_halve_it_once() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock)
        turns = [await ours.enter() for _ in range(FIRST)]
        for turn in turns:
            ours.refused(turn, "busy", None)
            ours.leave(turn)
        assert ours.limit == FIRST // 2
        ours.refused(await ours.enter(), "busy", None)
        assert ours.limit == FIRST // 4

    run(check)


def test_after_a_refusal_it_grows_by_one() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock)
        turn = await ours.enter()
        ours.refused(turn, "busy", None)
        ours.leave(turn)
        for expected in (FIRST // 2 + 1, FIRST // 2 + 2):
            await answers(ours, clock, ours.limit, 1.0)
            assert ours.limit == expected

    run(check)


def test_it_never_falls_below_one() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, max_wait=1e9)
        for _ in range(20):
            turn = await ours.enter()
            ours.refused(turn, "busy", None)
            ours.leave(turn)
        assert ours.limit == 1

    run(check)


def test_a_wait_that_was_asked_for_holds_everybody() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock)
        first, second = await ours.enter(), await ours.enter()
        ours.refused(first, "busy", 20.0)
        ours.refused(second, "busy", 3.0)
        await asyncio.gather(*(ours.enter() for _ in range(2)))
        assert clock.now == 20.0

    run(check)


def test_pauses_double_until_an_answer_comes() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, max_wait=1e9)
        for _ in range(9):
            turn = await ours.enter()
            ours.refused(turn, "busy", None)
            ours.leave(turn)
        turn = await ours.enter()
        ours.answered(turn)
        ours.refused(turn, "busy", None)
        ours.leave(turn)
        await ours.enter()

    naps = run(check).naps
    # Half of the longest is drawn, and nothing was drawn here.
    assert naps == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 15.0, 15.0, 0.25]


def test_a_wait_that_is_too_long_fails_everybody_at_once_until_it_is_short_enough() -> (
    None
):
    async def check(clock: Clock) -> None:
        ours = pace(clock, ceiling=2)
        turns = [await ours.enter(), await ours.enter()]
        queued = [asyncio.ensure_future(ours.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        ours.refused(turns[0], "quota", 3600.0)
        for turn in turns:
            ours.leave(turn)
        for failure in await asyncio.gather(*queued, return_exceptions=True):
            assert isinstance(failure, UnavailableError)
            assert (failure.reason, failure.asked) == ("quota", 3600.0)
        assert clock.naps == []
        clock.now = 3500.0
        await ours.enter()
        assert clock.now == 3600.0

    run(check)


@pytest.mark.parametrize(("alive", "patience"), [(True, 120.0), (False, 5.0)])
def test_an_endpoint_that_stays_away_is_given_up_and_still_probed(
    alive: bool,
    patience: float,
) -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock)
        ours.alive = alive

        async def be_refused() -> None:
            while True:
                turn = await ours.enter()
                ours.refused(turn, "gone", None)
                ours.leave(turn)

        with pytest.raises(UnavailableError) as raised:
            await be_refused()
        assert raised.value.asked is None
        assert patience / 2 < clock.now <= patience
        for _ in range(100):
            with pytest.raises(UnavailableError):
                await ours.enter()
        clock.now += 60.0
        probe = await ours.enter()
        ours.answered(probe)
        ours.leave(probe)
        await ours.enter()

    run(check)


def test_who_waits_gets_the_place_that_falls_free() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, ceiling=1)
        turn = await ours.enter()
        given_up, waiting = (asyncio.ensure_future(ours.enter()) for _ in range(2))
        await asyncio.sleep(0)
        given_up.cancel()
        ours.leave(turn)
        await asyncio.wait_for(waiting, 10)

    run(check)


def test_overlong_waits_hold_for_all_once_no_older_call_is_left() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, ceiling=100)
        slow = await ours.enter()

        async def asked_to_wait() -> bool:
            turn = await ours.enter()
            clock.now += 1.0
            overlong = ours.overlong(1e9, first=True)
            ours.leave(turn)
            return overlong

        assert all([await asked_to_wait() for _ in range(50)]), (
            "an older call may be answered yet"
        )
        ours.leave(slow)
        assert not await asked_to_wait()
        ours.seen()
        assert await asked_to_wait()

    run(check)


def test_one_call_that_hangs_does_not_give_up_an_endpoint_that_answers() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, ceiling=1, max_wait=0.0)
        turn = await ours.enter()
        clock.now += 60.0
        assert not ours.unanswered(turn, "silent", hangs=True)
        ours.leave(turn)
        await answers(ours, clock, 1, 1.0)
        turn = await ours.enter()
        clock.now += 60.0
        assert not ours.unanswered(turn, "silent", hangs=True)
        assert ours.unanswered(turn, "silent", hangs=True), "nor does another"

    run(check)


def test_hanging_calls_leave_those_in_flight_their_time() -> None:
    async def check(clock: Clock) -> None:
        ours = pace(clock, ceiling=4, max_wait=0.0)
        *silent, last = [await ours.enter() for _ in range(4)]
        clock.now += 1.0
        for turn in silent:
            assert not ours.unanswered(turn, "silent", hangs=True)
            ours.leave(turn)
        assert ours.unanswered(last, "silent", hangs=True), (
            "now nobody is left who may be answered"
        )

    run(check)


def test_without_patience_many_broken_calls_in_a_row_give_up_an_endpoint_and_few_do_not() -> (
    None
):
    async def check(clock: Clock) -> None:
        ours = pace(clock, max_wait=0.0)

        async def breaks() -> bool:
            turn = await ours.enter()
            clock.now += 1.0
            given_up = ours.unanswered(turn, "broken", hangs=False)
            ours.leave(turn)
            return given_up

        assert not any([await breaks() for _ in range(7)])
        await answers(ours, clock, 1, 1.0)
        assert [await breaks() for _ in range(8)] == [False] * 7 + [True]

    run(check)

"""How far a run is, in numbers and as a line."""

import heapq
import math
import random

import pytest

from tests.support.calls import Progress, Standing, line


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def standing(progress: Progress) -> Standing:
    found = progress.standing
    assert found is not None
    return found


def test_a_line_says_what_was_found_and_what_was_paid() -> None:
    clock = Clock()
    progress = Progress(clock)
    progress.found()
    with progress.doing("test_it"), progress.batch("chat", 3):
        clock.now += 10
        progress.add({"usage": [90, 10]}, 0.25)
        progress.add({"error": "gone"}, 0.0)
        assert line([standing(progress)]) == (
            "2 of 3 answers, 00:10, about 00:05 left, test_it, 0.2/s, spent $0.25, chat, 1 cached, "
            "1 failed, 100 tokens"
        )
    assert progress.standing is None
    assert line([]) == ""


def test_a_phase_without_calls_says_what_it_is_and_how_long_it_takes() -> None:
    clock = Clock()
    progress = Progress(clock)
    with progress.doing("test_it"):
        clock.now += 60
        with progress.doing("fitting \x1b[31mbprmf\n"):
            clock.now += 5
            assert line([standing(progress)]) == "fitting bprmf, 00:05"
            progress.report("epoch 3 of 20")
            assert line([standing(progress)]) == "fitting bprmf epoch 3 of 20, 00:05"
        assert line([standing(progress)]) == "test_it, 01:05"


def test_the_batches_of_a_test_are_counted_together() -> None:
    progress = Progress()
    with progress.doing("test_it"):
        for _ in range(3):
            with progress.batch("chat", 2):
                progress.add({}, None)
        assert (standing(progress).answered, standing(progress).wanted) == (3, 6)
    with progress.doing("test_other"):
        assert standing(progress).wanted == 0


def test_several_workers_are_one_line() -> None:
    one = Standing("test_one", "", 65, 40, 10, 30.0, 1.5, ["chat"])
    other = Standing("test_other", "", 5, 20, 20, None, 0.0, ["chat", "3 cached"])
    idle = Standing("loading ml-25m", "", 7)
    assert line([one, other, idle]) == (
        "3 workers, 30 of 60 answers, 01:05, about 00:30 left, test_one, test_other, loading ml-25m, "
        "1.5/s, chat, 3 cached"
    )
    assert line([idle, idle]) == "2 workers, loading ml-25m, 00:07"


def test_a_long_name_keeps_its_end() -> None:
    text = line([Standing("test_" + "x" * 100 + "[scale]", "", 0)])
    assert len(text) < 50
    assert text.startswith("test_xxx")
    assert text.endswith("x[scale], 00:00")


def spent(progress: Progress, usd: float | None = 0.25) -> str:
    """The line after one more answer."""
    with progress.batch("chat", 2):
        progress.add({"usage": [90, 10]}, usd)
        return line([standing(progress)])


def test_a_line_says_how_much_of_the_smallest_bound_is_used() -> None:
    progress = Progress()
    progress.at_most(None, 4.0, "allowed")
    progress.at_most(40, 1.4, "planned")
    progress.at_most(80, None, "allowed")
    assert ", spent $0.25 of at most $1.40 planned, " in spent(progress)
    progress.spent(7, 0.5)  # by all workers
    assert ", spent $0.75 of at most $1.40 planned, " in spent(progress)
    assert ", 9 of at most 40 calls planned, " in spent(progress, usd=None)


def arrivals(calls: int, in_flight: int, typical: float, seed: int) -> list[float]:
    """When a server with log-normal delays answers, so many calls at a time."""
    draw = random.Random(seed)
    times: list[float] = []
    flying = [draw.lognormvariate(math.log(typical), 0.5) for _ in range(in_flight)]
    heapq.heapify(flying)
    for sent in range(in_flight, in_flight + calls):
        times.append(heapq.heappop(flying))
        if sent < calls:
            heapq.heappush(
                flying,
                times[-1] + draw.lognormvariate(math.log(typical), 0.5),
            )
    return times


@pytest.mark.parametrize("typical", [0.1, 2.0, 20.0], ids="{} s".format)
@pytest.mark.parametrize(("calls", "in_flight"), [(240, 8), (1000, 8), (1000, 16)])
def test_the_time_left_in_the_middle_is_about_right(
    calls: int,
    in_flight: int,
    typical: float,
) -> None:
    for seed in range(20):
        clock = Clock()
        progress = Progress(clock)
        times = arrivals(calls, in_flight, typical, seed)
        with progress.batch("chat", calls // 4):
            progress.more(calls - calls // 4)  # not known at first
            for time in times[: calls // 2]:
                clock.now = 1000 + time
                progress.add({}, None)
            left = standing(progress).left
        assert left is not None
        truth = times[-1] - times[calls // 2 - 1]
        assert truth / 1.5 < left < truth * 1.5


def test_the_time_left_follows_a_server_that_becomes_slower() -> None:
    clock = Clock()
    progress = Progress(clock)
    with progress.batch("chat", 1200):
        assert standing(progress).left is None, "nothing is known yet"
        for pause in [0.1] * 600 + [1.0] * 100:
            clock.now += pause
            progress.add({}, None)
        assert standing(progress).left == pytest.approx(500, rel=0.05)
        clock.now += 100
        left = standing(progress).left
        assert left is not None
        assert left > 1000, "and one that stands still"

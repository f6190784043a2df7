"""How long calls took: the time that each answer carries, and what of it is a latency."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import Call

Kind = Literal["recommend", "chat", "choose"]
"""What a call asks for: a list of a recommender, a text of a language model, or one of
fixed answers.
"""


def kind_of(call: Call) -> Kind:
    """What a call asks for."""
    if call.prompt is None:
        return "recommend"
    return "choose" if call.prompt.choices else "chat"


State = Literal["alone", "in a batch", "retried", "cached", "failed", "unmeasured"]
"""What is known of the time of a call.

* ``alone``: the answer came to this call alone: its time is a latency.
* ``in a batch``: several calls were answered together: its time is a share of theirs.
* ``retried``: an attempt at it failed before the one that was answered.
* ``cached``: an earlier run sent it.
"""


class Took(NamedTuple):
    """The time of one call.

    Attributes:
        state: What is known of it.
        seconds: From sending the attempt that was answered to its answer, or the share
            in the time of a batch; None if it is not known.
        refused: Whether the endpoint refused an attempt at it before.
    """

    state: State
    seconds: float | None = None
    refused: bool = False


def timed(
    arrivals: Iterator[list[tuple[int, Answer]]],
) -> Iterator[list[tuple[int, Answer]]]:
    """Give each answer the seconds that it took: as the recommender says, else a share
    of those of the answers that arrived with it.
    """
    began = time.perf_counter()
    for arrived in arrivals:
        share = (time.perf_counter() - began) / max(1, len(arrived))
        for _, answer in arrived:
            if "text" not in answer and "items" not in answer:
                continue
            seconds = answer.get("seconds")
            if not _is_duration(seconds):
                seconds = share
                if len(arrived) > 1:
                    answer["together"] = len(arrived)
            answer["seconds"] = round(float(seconds or 0), 6)
        yield arrived
        began = time.perf_counter()


def _is_duration(seconds: object) -> bool:
    return isinstance(seconds, int | float) and 0 <= seconds < math.inf


def took(answer: Answer, *, failed_before: bool, live: bool) -> Took:
    """What is known of the time of a call that this run sent.

    Args:
        answer: Its answer.
        failed_before: Whether an attempt at it failed first that is not in the answer.
        live: Whether the recommender makes its answers when it is asked.
    """
    if "error" in answer or "lost" in answer:
        return Took("failed")
    seconds = answer.get("seconds")
    if seconds is None or not live:
        return Took("unmeasured")
    if failed_before or answer.get("failed_before", 0):
        refused = answer.get("refused_before", 0) > 0
        return Took("retried", seconds, refused)
    if answer.get("together", 1) > 1:
        return Took("in a batch", seconds)
    return Took("alone", seconds)

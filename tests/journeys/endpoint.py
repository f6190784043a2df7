"""An OpenAI-compatible endpoint on this machine, as an account
at a provider would be: a key, and a bill.
"""

import hashlib
import math
import re
import threading
from typing import Any

from tests.models.faults import FaultServer, Reply, completion

KEY = "sk-shop-0123456789abcdefghijklmnopqrstuvwxyz"
INPUT, OUTPUT = 10.0, 40.0
"""USD for a million tokens; a large model takes twice as much."""
EMPTY = 25
"""One question in so many is thought about until no token
is left for the answer, when first asked.
"""


class Endpoint:
    """Ranks the films of a prompt always alike, and bills every answer, also an empty
    one.

    Attributes:
        answered: Answers that were billed.
        billed: USD, for all of them.
        waiting: Requests that are not answered before `release`.
        silent: Of so many questions, one gets an empty answer and one a refusal,
            whenever it is asked; 0 for none.
    """

    def __init__(self, server: FaultServer) -> None:
        self.url = server.url
        self.answered = 0
        self.billed = 0.0
        self._server = server
        self._asked: set[str] = set()
        self.waiting = self.silent = 0
        self._left: float = math.inf
        self._released = threading.Event()
        self._lock = threading.Lock()
        server.answer = self._answer
        server.key = KEY

    @property
    def asked(self) -> int:
        """Requests that came in."""
        return len(self._server.asked)

    def answer_only(self, number: int) -> None:
        """Answer so many requests from now on, and let the others wait."""
        self._left = number

    def release(self) -> None:
        """Answer those that wait, and all others."""
        self._left = math.inf
        self._released.set()

    def _answer(self, payload: dict[str, Any]) -> Reply:
        text = payload["messages"][-1]["content"]
        films = re.findall(r"(?m)^\d+\. (.+ \(\d{4}\))", text)
        ranked = sorted(
            films,
            key=lambda film: hashlib.sha256(film.encode()).hexdigest(),
        )
        listed = "\n".join(f"{n}. {film}" for n, film in enumerate(ranked[:10], 1))
        question = f"{payload['model']} {text} {payload['seed']}"
        with self._lock:
            self._left -= 1
            waits = self._left < 0
            self.waiting += waits
        if waits:
            self._released.wait()
        with self._lock:
            is_new = question not in self._asked
            self._asked.add(question)
            thinks = is_new and len(self._asked) % EMPTY == 0
            self.answered += 1
            usage = {
                "prompt_tokens": len(text) // 5,
                "completion_tokens": 100 if thinks else 80,
            }
            self.billed += (
                (usage["prompt_tokens"] * INPUT + usage["completion_tokens"] * OUTPUT)
                * (2 if payload["model"].startswith("large") else 1)
                / 1e6
            )
        answer = (
            completion(None, finish_reason="length") if thinks else completion(listed)
        )
        which = int(hashlib.sha256(text.encode()).hexdigest(), 16) % (self.silent or 1)
        if self.silent and which < 2:
            answer = completion(
                message={"content": None, "refusal": ("", "I won't.")[which]},
            )
        return Reply({**answer, "usage": usage})

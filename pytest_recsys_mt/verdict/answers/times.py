"""How long the calls of users took."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Times:
    """The times of the first call of each user, in seconds.

    Attributes:
        seconds: Of the calls that this run sent, and that were answered alone and at
            the first attempt.
        failed: Calls that failed, by the reason.
        retried: Calls that were answered after an attempt that failed: how long a user
            waits for such a call is not known.
        refused: Those of them that the endpoint refused first.
        uncounted: Calls without a latency of this run, by the reason.
        obstacle: Why no call is timed at all; empty if calls are.
    """

    seconds: tuple[float, ...] = ()
    failed: Mapping[str, int] = field(default_factory=dict)
    retried: int = 0
    uncounted: Mapping[str, int] = field(default_factory=dict)
    obstacle: str = ""
    refused: int = 0

    @property
    def unknown(self) -> int:
        """Calls that were sent and have no time."""
        return sum(self.failed.values()) + self.retried

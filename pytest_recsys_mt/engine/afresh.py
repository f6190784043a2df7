"""Whether answers of this run can be compared with those that an earlier run made."""

from pytest_recsys_mt.calls.cache import Mode
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.safety.errors import NotApplicable


def require_kept(subject: Subject, mode: Mode) -> None:
    """Raise `NotApplicable` with the reason why no answer of an earlier run is used, or
    no call can be sent now.
    """
    if not subject.durable:
        raise NotApplicable(
            f"{subject.name} has no fingerprint, so its answers are not kept from run to run",
        )
    if not subject.live:
        raise NotApplicable(
            "its answers are recorded, so they are the same on every day",
        )
    if mode == "refresh":
        raise NotApplicable(
            "all requests are sent anew (--recsys-mode=refresh), so no answer of an earlier run is used",
        )

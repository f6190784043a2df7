"""What users' code does to the streams and limits of the process ends with its call."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]


class _Kept:
    """A stream of the process that cannot be closed: pytest reads from it what was captured."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream = stream
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        raise ValueError(
            f"{self._name} belongs to the whole run, so a recommender may not close it"
        )


@contextlib.contextmanager
def unharmed() -> Iterator[None]:
    """Within it the standard streams cannot be closed; after it, they and the limit on open files are as before.

    Only in the main thread: pytest exchanges the streams there, and another thread would put back old ones.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    streams = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    files = resource.getrlimit(resource.RLIMIT_NOFILE) if resource else (0, 0)
    for name, stream in streams.items():
        if stream is not None:  # `print` says nothing to None
            setattr(sys, name, _Kept(stream, f"sys.{name}"))
    try:
        yield
    finally:
        for name, stream in streams.items():
            setattr(sys, name, stream)
        if resource and resource.getrlimit(resource.RLIMIT_NOFILE) != files:
            # Who lowered the hard limit, too, may not raise it again.
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, files)

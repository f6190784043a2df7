"""Whether the disk takes answers, as all workers of a run see it."""

import contextlib
import os
from pathlib import Path

from pytest_recsys_mt.safety.files import written_whole


class DiskState:
    """A small file by which a worker of a run reports to the others that it cannot
    write an answer.

    It holds a byte while answers can be written. To empty it needs no room, so that a
    full disk takes that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def begin(self) -> None:
        """Make the file, if no worker has; an `OSError` if
        the disk takes not even that.
        """
        # Two workers may both find none, and one of them may have failed by then: the
        # other then finds out by itself.
        if not self._path.exists():
            with written_whole(self._path) as stream:
                stream.write("1")

    def fail(self) -> None:
        """Say that answers cannot be written."""
        with contextlib.suppress(OSError):  # then each worker finds out by itself
            os.truncate(self._path, 0)

    @property
    def failed(self) -> bool:
        """Whether a worker said so."""
        try:
            return self._path.stat().st_size == 0
        except OSError:
            return False

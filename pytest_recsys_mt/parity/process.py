"""Runs pytest in a process of its own."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Sequence


def run_pytest(arguments: Sequence[str], **environment: str) -> int:
    """The exit status of pytest.

    Ctrl-C reaches pytest too, which ends its run in order; this process waits for it.

    Args:
        arguments: Of pytest.
        **environment: Further environment variables.
    """
    command = [sys.executable, "-m", "pytest", *arguments]
    with subprocess.Popen(command, env={**os.environ, **environment}) as process:
        while process.returncode is None:
            with contextlib.suppress(KeyboardInterrupt):
                process.wait()
    return process.returncode

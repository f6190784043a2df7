"""Workers of ``-n`` as forks of a process that has imported all that takes seconds, in
place of new interpreters.
"""

import atexit
import contextlib
import faulthandler
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

import execnet.gateway_io
from execnet.gateway_base import Popen2IO

HANGS = 200
"""Seconds after which a run says where it is, and ends: it takes
two, and SQLite waits for a lock for sixty.
"""


class _Started:
    """A worker, as the part of `subprocess.Popen` that execnet uses."""

    def __init__(self, pid: int, ended: int) -> None:
        self.pid = pid
        self._ended = ended  # a pipe whose other end the worker alone holds

    def wait(self) -> int:
        """Wait until the worker has ended."""
        os.read(self._ended, 1)
        return 0

    def poll(self) -> int | None:
        """0 once the worker has ended."""
        return 0 if select.select([self._ended], [], [], 0)[0] else None

    def kill(self) -> None:
        """Kill the worker."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def fork_workers(unneeded: int) -> None:
    """Let execnet take forks of this process as it is now, for what it would start
    later; without one of its files.
    """
    here, there = socket.socketpair()
    if not os.fork():
        here.close()
        os.close(unneeded)
        _serve(there)
    there.close()

    def begin(master: Any, args: list[str], execmodel: Any) -> None:
        given, to_worker = os.pipe()
        from_worker, said = os.pipe()
        ended, end = os.pipe()
        job = json.dumps([os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(here, [len(job).to_bytes(8)], [given, said, end])
        here.sendall(job)
        for each in (given, said, end):
            os.close(each)
        master.popen = _Started(int.from_bytes(here.recv(8, socket.MSG_WAITALL)), ended)
        Popen2IO.__init__(
            master,
            os.fdopen(to_worker, "wb"),
            os.fdopen(from_worker, "rb"),
            execmodel,
        )

    execnet.gateway_io.Popen2IOMaster.__init__ = begin  # type: ignore[assignment, method-assign]


def _serve(asked: socket.socket) -> NoReturn:
    """Fork a worker for each job, until the process that asks has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the workers
    while True:
        size, streams, *_ = socket.recv_fds(asked, 8, 3)
        if not size:
            os._exit(0)
        job = asked.recv(int.from_bytes(size), socket.MSG_WAITALL)
        pid = os.fork()
        if not pid:
            asked.close()
            _be_worker(streams, *json.loads(job))
        for each in streams:
            os.close(each)
        asked.sendall(pid.to_bytes(8))


def _be_worker(
    streams: list[int],
    folder: str,
    environment: dict[str, str],
) -> NoReturn:
    """What ``python -u -c`` with execnet's first line does;
    it ends when its last stream is closed.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        faulthandler.dump_traceback_later(HANGS, exit=True)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for number, stream in enumerate(streams[:2]):
            os.dup2(stream, number)
            os.close(stream)
        sys.argv = ["-c"]
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        exec(eval(sys.stdin.readline()), {"__name__": "__main__"})  # noqa: S102 - as execnet does
        atexit._run_exitfuncs()
    except BaseException:  # noqa: BLE001 - as Python itself ends such a process
        traceback.print_exc()
    finally:
        os._exit(0)

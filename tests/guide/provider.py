"""An account at a provider of language models, as a process: `python -m
tests.guide.provider FILE`.

It writes its address and its key into the file, and answers until it is stopped.
"""

import sys
import threading
from pathlib import Path

from tests.journeys.endpoint import KEY, Endpoint
from tests.models.faults import FaultServer

if __name__ == "__main__":
    with FaultServer() as server:
        Endpoint(server)
        Path(sys.argv[1]).write_text(f"{server.url} {KEY}\n", encoding="utf-8")
        threading.Event().wait()

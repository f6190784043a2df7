"""Test your recommender behind HTTP: start the reference server, and hold it to its
promises.

    pip install '.[examples]'
    python examples/http_recommender.py

Put your own address in the place of the server's. The token stands in the environment,
with the one server that may get it.
"""

import os
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
TOKEN = "only-for-this-example"


def main() -> int:
    """Start the server, test it, stop it; gives pytest's exit status."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        print(
            "This example needs fastapi and uvicorn. In a clone: pip install '.[examples]'",
        )
        return 2
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, str(HERE / "http_server.py"), "--port", str(port)],
        env={**os.environ, "SHOP_TOKEN": TOKEN},
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(HERE / "promises"),
        "-q",
        "--no-header",
    ]
    command += ["-p", "no:cacheprovider", f"--recsys-model={url}"]
    environment = {
        **os.environ,
        "RECSYS_HTTP_ORIGIN": url,
        "RECSYS_HTTP_AUTHORIZATION": f"Bearer {TOKEN}",
    }
    try:
        with tempfile.TemporaryDirectory() as folder:
            # A server that is still starting is waited for, as one that is too busy is.
            command += ["--rootdir", folder, f"--recsys-cache={folder}"]
            return subprocess.run(
                command,
                cwd=folder,
                env=environment,
                check=False,
            ).returncode
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())

"""Record a language model once, and replay its answers without it.

    python examples/record_replay.py

The model here is a script behind an OpenAI-compatible endpoint on this machine: it
copies the numbered candidates of a prompt in their order, so it breaks the promise
about shuffled ones. With a real one, set OPENAI_BASE_URL and OPENAI_API_KEY.

Ends with 0 if both runs show the broken promise (status 1); else with the exit status
of the run that does not.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PROMISES = Path(__file__).with_name("promises")
PROGRAM = [
    sys.executable,
    "-c",
    "import sys; from pytest_recsys_mt.cli import main; sys.exit(main())",
]


class Endpoint(BaseHTTPRequestHandler):
    """Answers every chat with the first lines of its prompt that begin with a number."""

    asked = 0
    protocol_version = "HTTP/1.1"  # a connection serves many calls

    def do_POST(self) -> None:
        """Answer one chat."""
        Endpoint.asked += 1
        length = int(self.headers["content-length"])
        prompt = json.loads(self.rfile.read(length))["messages"][-1]["content"]
        titles = re.findall(r"^\s*(?:\d+[.)]|[-*])\s+(.+)$", prompt, re.MULTILINE)[
            -20:
        ][:10]
        text = "\n".join(f"{place}. {title}" for place, title in enumerate(titles, 1))
        message = {"role": "assistant", "content": text}
        body = json.dumps(
            {
                "model": "script-1",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {
                    "prompt_tokens": len(prompt) // 4,
                    "completion_tokens": len(text) // 4,
                },
            },
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def run(folder: Path, cache: str, url: str, *more: str) -> int:
    """Run the promises on the model; gives pytest's exit status."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(PROMISES),
        "-q",
        "--no-header",
        "--tb=no",
    ]
    command += ["-p", "no:cacheprovider", "--rootdir", str(folder), "--recsys-users=40"]
    command += [
        "--recsys-model=openai:script?temperature=0",
        f"--recsys-cache={folder}/{cache}",
        *more,
    ]
    environment = {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": ""}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def main() -> int:
    """Record into one cache, carry a file of answers to
    another one, replay with no server there.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recorded = run(folder, "recorded", url)
        server.shutdown()
        server.server_close()
        print(f"\nrecorded with {Endpoint.asked} calls: exit status {recorded}\n")
        if recorded != 1:
            return recorded or 1
        cassette = str(folder / "answers.jsonl")
        for arguments in (
            ("export", f"--cache={folder}/recorded"),
            ("import", f"--cache={folder}/new"),
        ):
            subprocess.run([*PROGRAM, "cache", *arguments, cassette], check=True)
        replayed = run(folder, "new", url, "--recsys-mode=replay")
        print(f"\nreplayed without the server: exit status {replayed}")
        return 0 if replayed == 1 else replayed or 1


if __name__ == "__main__":
    sys.exit(main())

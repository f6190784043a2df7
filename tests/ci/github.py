"""GitHub as a job of Actions sees it: the API of
comments, and the variables of the runner.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "shop/ranker"
TOKEN = "ghs_secret"


@dataclass
class GitHub:
    """The comments of the pull request 7, and who may write them.

    Attributes:
        comments: As the API lists them, the oldest first.
        writable: Whether the token may write, as it may not for a fork.
        status: If not 0, every request ends with it.
        address: Of the API.
    """

    comments: list[dict[str, Any]] = field(default_factory=list)
    writable: bool = True
    status: int = 0
    address: str = ""

    def add(self, body: str, kind: str = "User") -> dict[str, Any]:
        number = 100 + len(self.comments)
        comment = {
            "id": number,
            "body": body,
            "user": {"login": "somebody", "type": kind},
            "html_url": f"https://github.com/{REPOSITORY}/pull/7#issuecomment-{number}",
        }
        self.comments.append(comment)
        return comment

    def answer(self, method: str, path: str, token: str, data: Any) -> tuple[int, Any]:
        """As api.github.com answers: https://docs.github.com/en/rest/issues/comments."""
        where = urlsplit(path)
        if self.status:
            return self.status, {"message": "Server Error"}
        if token != f"Bearer {TOKEN}":
            return 401, {"message": "Bad credentials"}
        if (method, where.path) == ("GET", f"/repos/{REPOSITORY}/issues/7/comments"):
            query = {
                name: int(value[0]) for name, value in parse_qs(where.query).items()
            }
            size = min(query.get("per_page", 30), 100)
            start = (query.get("page", 1) - 1) * size
            return 200, self.comments[start : start + size]
        if not self.writable:
            return 403, {"message": "Resource not accessible by integration"}
        assert set(data) == {"body"}
        assert len(data["body"]) <= 65_536
        if (method, where.path) == ("POST", f"/repos/{REPOSITORY}/issues/7/comments"):
            return 201, self.add(data["body"], "Bot")
        for comment in self.comments:
            if where.path == f"/repos/{REPOSITORY}/issues/comments/{comment['id']}":
                assert method == "PATCH"
                comment["body"] = data["body"]
                return 200, comment
        return 404, {"message": "Not Found"}

    def variables(
        self,
        folder: Path,
        event: dict[str, Any] | None = None,
    ) -> dict[str, str]:
        """What the runner sets for a job on the pull request, or for another event."""
        if event is None:
            event = {
                "pull_request": {"number": 7, "head": {"sha": "0123456789abcdef0123"}},
            }
        (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
        for name in ("summary.md", "output.txt", "env.txt"):
            (folder / name).touch()
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.address,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "55",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "output.txt"),
            "GITHUB_ENV": str(folder / "env.txt"),
        }


@contextmanager
def served() -> Iterator[GitHub]:
    """GitHub on this machine, until the end of the block."""
    github = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            data = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("Authorization", "")
            status, found = github.answer(self.command, self.path, token, data)
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PATCH = do_GET  # noqa: N815

        def log_message(self, format: str, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        github.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield github
        finally:
            server.shutdown()

"""The command `recsys-mt view`: one page of many runs,
as a file or on this machine alone.
"""

import os
import secrets
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pytest_recsys_mt.gate.store import Store, read_all
from pytest_recsys_mt.report.html import read_record, render_view
from pytest_recsys_mt.safety.errors import DataError

SHOWN = 100
"""Kept runs on a page."""


def view_of(records: Sequence[Path], folder: Path) -> str:
    """The page of some records; without any, of the kept runs of the project around a
    folder.

    Raises:
        DataError, PolicyError: If there are none, one is given twice or cannot be read,
            or they share no test.
    """
    twice = [
        path
        for path in records
        if [*map(os.path.realpath, records)].count(os.path.realpath(path)) > 1
    ]
    if twice:
        raise DataError(
            f"{str(twice[0])!r} is given twice; a view takes each record once",
        )
    paths = [*records] or [
        each.record for each in Store.around(folder).like_the_latest()
    ][-SHOWN:]
    found = [*read_all(paths, read_record, skip=not records)]
    if not found:
        raise DataError("no kept run can be read")
    return render_view(found)


def serve(text: str) -> None:
    """Show the page to users of this machine who know its
    address, until it is interrupted.
    """
    place = f"/{secrets.token_urlsafe()}"

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == place
            content = text.encode() if found else b""
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the terminal has the address alone."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(
            f"http://127.0.0.1:{server.server_port}{place} (Ctrl-C ends it)",
            flush=True,
        )
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()

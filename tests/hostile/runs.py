"""One run of pytest against a hostile server, and what became of it."""

import base64
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from tests.hostile.server import COMPLETION, PROMPT, HostileServer

KEY = "sk-proj-Hv7QmZ2xR9bT4wLcJ8nYpE3sKdF6uAgW1oXi5rMtBqVz"
PRICE = 1000.0
"""USD for a million tokens, of prompts and answers alike."""

ANSWER = (PROMPT + COMPLETION) * PRICE / 1e6
"""USD that the server bills for an answer."""

FLYING = 8

TEST = """\
from pytest_recsys_mt import metamorphic
from pytest_recsys_mt.oracles import same_ranking
from pytest_recsys_mt.relations import shuffle_candidates


@metamorphic(shuffle_candidates)
def test_order(source, followup):
    assert same_ranking(source, followup, similarity="rbo", margin=0.5)
"""


@dataclass(frozen=True)
class Ended:
    """What became of a run.

    Attributes:
        code: Exit status; None where it did not end in time.
        seconds: Until its end.
        mebibytes: The most memory it held.
        said: All it wrote to the terminal.
        record: The JSON record; None where there is none.
        cached: Answers in the cache.
        folder: With all that it wrote.
    """

    code: int | None
    seconds: float
    mebibytes: float
    said: str
    record: dict[str, Any] | None
    cached: int
    folder: Path

    @property
    def message(self) -> str:
        """The reason of the first failed call, as the
        terminal says it; empty if none failed.
        """
        rows = [] if self.record is None else self.record["results"]
        for row in rows:
            for name in ("reason", "message", "error"):
                if row.get(name):
                    return str(row[name])
        return ""


def run(server: HostileServer, folder: Path, *options: str, users: int = 10) -> Ended:
    """Run the test above in `folder` against `server`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_order.py").write_text(TEST)
    prices = f'["tiny"]\ninput = {PRICE}\noutput = {PRICE}\n'
    (folder / "prices.toml").write_text(prices)
    command = [
        sys.executable, "-m", "pytest", "test_order.py", "-vv", "--showlocals", "-p", "no:cacheprovider",
        f"--recsys-model=openai:tiny?timeout=1&max_tokens={COMPLETION}&concurrency={FLYING}",
        f"--recsys-users={users}", "-orecsys_max_wait=3", "--recsys-prices=prices.toml",
        "--recsys-cache=cache", "--recsys-json=record.json", "--recsys-html=report.html",
        "--junitxml=junit.xml", *options,
    ]  # fmt: skip
    foreign = re.compile(r"(PYTEST|COV|RECSYS|OPENAI|GITHUB)_.*|CI")
    environment = {
        **{
            name: value
            for name, value in os.environ.items()
            if not foreign.fullmatch(name)
        },
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": KEY,
        "COLUMNS": "80",
    }
    began = time.monotonic()
    with (folder / "terminal.txt").open("wb") as terminal:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=terminal,
            stderr=subprocess.STDOUT,
        )
        code, usage = _ended(process, began + 300)
    record = folder / "record.json"
    return Ended(
        code,
        time.monotonic() - began,
        usage / 1024,
        (folder / "terminal.txt").read_text(errors="replace"),
        json.loads(record.read_text()) if record.exists() else None,
        _rows(folder / "cache" / "answers" / "cache.db"),
        folder,
    )


def _ended(
    process: "subprocess.Popen[bytes]",
    deadline: float,
) -> tuple[int | None, float]:
    while time.monotonic() < deadline:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss
        time.sleep(0.05)
    process.kill()
    process.wait()
    return None, 0.0


def _rows(database: Path) -> int:
    if not database.exists():
        return 0
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT count(*) FROM Cache").fetchone()[0])


def check(ended: Ended) -> None:
    """What holds of every run, whatever the server does.

    Raises:
        AssertionError: If the run hung, lost its record, spent too much or gave the key
            away.
    """
    assert ended.code in (0, 1), ended.said[-3000:]
    assert "Traceback" not in ended.said, ended.said[-3000:]
    assert ended.record is not None, ended.said[-3000:]
    ElementTree.parse(ended.folder / "junit.xml")
    assert (ended.folder / "report.html").stat().st_size > 1000
    calls = ended.record["calls"]
    assert calls["usd"] is None or calls["usd"] >= 0
    assert min(calls["prompt_tokens"], calls["completion_tokens"], calls["made"]) >= 0
    assert leaked(ended.folder) == []


def leaked(folder: Path, length: int = 12) -> list[str]:
    """Files that hold so many characters of the key in a row, in any encoding."""
    spelt = {KEY, quote(KEY, safe=""), KEY.encode().hex(), KEY.encode().hex().upper()}
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + KEY.encode()).decode()
        spelt |= {text[4:-4], text[4:-4].translate(str.maketrans("+/", "-_"))}
    parts = {
        form[at : at + length].encode()
        for form in spelt
        for at in range(len(form) - length + 1)
        if not form[at : at + length].startswith("sk-proj-")
    }
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [
        f"{path.relative_to(folder)}: {part!r}"
        for path in files
        for text in [path.read_bytes()]
        for part in parts
        if part in text
    ]


def check_bill(server: HostileServer, limit: float) -> None:
    """That no more was billed than the limit, in USD, and the calls in flight.

    Raises:
        AssertionError: If it was.
    """
    assert server.billed * ANSWER <= limit + FLYING * ANSWER

"""The head of a kept run: the facts that lists of runs show of it
without its record.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_recsys_mt.gate.document import Document
from pytest_recsys_mt.gate.states import grouped, state_of_test

SCHEMA = "recsys-mt-run/1"


def head_of(document: Document, root: Path, *, everybody: bool) -> dict[str, Any]:
    """The head of a run.

    Args:
        document: Its record.
        root: The folder of the project, whose commit it names.
        everybody: Whether the run had all users, so that it can be a baseline.
    """
    return {
        "schema": SCHEMA,
        "started": document["time"]["started"],
        "commit": _commit(root),
        "models": document["models"],
        "data": document["data"],
        "data_digest": document["data_digest"],
        "seed": document["seed"],
        "prompt": document["settings"].get("prompt"),
        "against": document["settings"].get("against"),
        "suite": document["digests"]["suite"],
        "everybody": everybody,
        "gate": document["gate"]["status"],
        "counts": Counter(row["status"] for row in document["results"]),
        "reasons": Counter(
            text.partition(": ")[0] for text in document["gate"]["reasons"]
        ),
        "tests": {
            nodeid: state_of_test(own)
            for nodeid, own in grouped(
                document["results"],
                lambda row: row["nodeid"],
            ).items()
        },
    }


def is_sound(head: Any) -> bool:
    """Whether a value that was read as a head is one of this version."""
    return (
        isinstance(head, dict)
        and head.get("schema") == SCHEMA
        and isinstance(head.get("models"), list)
        and isinstance(head.get("tests"), dict)
    )


def _commit(root: Path) -> str:
    if not any((each / ".git").exists() for each in (root, *root.parents)):
        return ""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["git", "rev-parse", "--short", "HEAD"]
        done = subprocess.run(
            command,
            cwd=root,
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
        return done.stdout.strip()
    return ""

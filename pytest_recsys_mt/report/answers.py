"""The file of answers to multiple-choice questions next to a
record, which would be slow to read with them.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_recsys_mt.gate.document import Facts, Row
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.files import MOST_DATA, content_of, is_replaced, written_to

SCHEMA = "recsys-mt-answers/1"

LISTED = 5
"""Wrong answers that stay in a row, for the page of a record."""

_SHOWN = ("question", "shown", "options", "right", "chosen", "raw")

NEEDED = ("question", "digest", "kind", "options", "right", "chosen", "raw", "model")


def answers_path(record: Path) -> Path:
    """The file of the answers of a record:
    ``record.answers.jsonl`` for ``record.json``.
    """
    return record.with_suffix(".answers.jsonl")


def taken_from(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The answers in ``details["answers"]`` of rows, which keep only `LISTED`
    wrong ones and their number.
    """
    found = []
    for row in rows:
        own = row["details"].pop("answers", None) or ()
        found += [
            {"model": row["model"], "test": row["nodeid"], **answer} for answer in own
        ]
        wrong = [answer for answer in own if answer["chosen"] != answer["right"]]
        if wrong:
            row["details"]["wrong"] = {
                "number": len(wrong),
                "answers": [
                    {name: each[name] for name in _SHOWN} for each in wrong[:LISTED]
                ],
            }
    return found


def write_answers(
    record: Path,
    about: Facts,
    answers: Sequence[Mapping[str, Any]],
) -> None:
    """Write the answers next to a record that is a file;
    without any, remove those of an earlier run.
    """
    if not is_replaced(record):
        return  # nothing can be written next to a device or a pipe
    path = answers_path(record)
    if not answers:
        path.unlink(missing_ok=True)
        return
    head = {
        "schema": SCHEMA,
        "data": about["data"],
        "data_digest": about["data_digest"],
        "seed": about["seed"],
    }
    with written_to(path, 0o644) as stream:
        for line in (head, *answers):
            stream.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")


def read_answers(record: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The first line of the file of a record's answers, and the answers.

    Raises:
        DataError: If there is no such file, or it is not one of answers.
    """
    path = answers_path(record)
    try:
        lines = content_of(path, MOST_DATA).decode("utf-8").splitlines()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise DataError(
            f"{str(path)!r}, the answers of {str(record)!r}, cannot be read: {why}; a run of suites/lrworld with "
            f"--recsys-json={record} writes both",
        ) from error
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict) or not (
            row.get("schema") == SCHEMA if number == 1 else _is_answer(row)
        ):
            what = (
                f"the first line of a file of answers ({SCHEMA})"
                if number == 1
                else "an answer"
            )
            raise DataError(
                f"{path}:{number}: not {what}; write the record anew with --recsys-json",
            )
        found.append(row)
    if len(found) < 2:
        raise DataError(
            f"{str(path)!r} has no answers; write the record anew with --recsys-json",
        )
    return found[0], found[1:]


def _is_answer(row: Mapping[str, Any]) -> bool:
    if any(name not in row for name in NEEDED) or not isinstance(row["options"], list):
        return False
    places = range(len(row["options"]))
    texts = (
        row["question"],
        row["digest"],
        row["kind"],
        row["model"],
        row["raw"],
        *row["options"],
    )
    return (
        all(isinstance(each, str) for each in texts)
        and row["right"] in places
        and (row["chosen"] is None or row["chosen"] in places)
    )

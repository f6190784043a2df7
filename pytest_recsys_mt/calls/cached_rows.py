"""A row of the cache: an answer, its call and a checksum, as canonical JSON
text, and how a row is checked.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from pytest_recsys_mt.calls.answer import Answer
from pytest_recsys_mt.calls.call import canonical, key_of
from pytest_recsys_mt.requests import MOST_TOKENS, Usage

SCHEMA = "recsys-mt-answer/1"

# The text around the answer, the call and the checksum in the canonical text of a
# row.
_BEFORE_ANSWER = '{"answer":'
_BEFORE_CALL = ',"call":'
_BEFORE_CHECKSUM = f',"schema":"{SCHEMA}","sha256":"'
_AFTER_CHECKSUM = '"}'
_CHECKSUM_LENGTH = 64


def row_of(call: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """The stored form of one answer."""
    return {
        "schema": SCHEMA,
        "call": dict(call),
        "answer": dict(answer),
        "sha256": _checksum(answer),
    }


def sound_answer(text: str, key: str) -> Answer:
    """The answer in the row `text`, if it is intact and answers the call of `key`.

    A row that stands there as `AnswerCache.put` wrote it is checked as text, its call
    is not read.
    """
    answer = _canonical_answer(text, key)
    if answer is None:
        answer = sound_row(text, key)["answer"]
    return answer


def _canonical_answer(text: str, key: str) -> Answer | None:
    """The answer in a row in canonical form, if it is intact; None for any other row.

    The row is ``{"answer":…,"call":…,"schema":"…","sha256":"…"}``.
    """
    # No string of a canonical text holds an unescaped quote, and no answer has a `call`
    # of its own.
    answer_text, found, rest = text.removeprefix(_BEFORE_ANSWER).partition(_BEFORE_CALL)
    if not found:
        return None
    checksum_start = len(rest) - len(_AFTER_CHECKSUM) - _CHECKSUM_LENGTH
    checksum = rest[checksum_start : -len(_AFTER_CHECKSUM)]
    call_text = rest[: checksum_start - len(_BEFORE_CHECKSUM)]
    if sha256_of(call_text) != key or sha256_of(answer_text) != checksum:
        return None
    canonical_text = (
        f"{_BEFORE_ANSWER}{answer_text}"
        f"{_BEFORE_CALL}{call_text}"
        f"{_BEFORE_CHECKSUM}{checksum}{_AFTER_CHECKSUM}"
    )
    if text != canonical_text:
        return None
    try:
        answer: Answer = json.loads(answer_text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and _is_answer(answer) else None


def sound_row(text: str, key: str) -> dict[str, Any]:
    """The row in `text`, if it is intact and answers the call of `key`.

    Raises:
        ValueError: If it is not; the text says why.
    """
    row = _row_in(text)
    call = row.get("call")
    answer = row.get("answer")
    try:
        if not isinstance(call, dict) or key_of(call) != key:
            raise ValueError(
                "its key is not the hash of its call: it was altered or damaged",
            )
        if not isinstance(answer, dict) or _checksum(answer) != row.get("sha256"):
            raise ValueError(
                "its checksum is not that of its answer: it was altered or damaged",
            )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not _is_answer(answer):
        raise ValueError(
            "its answer holds no text, items or refusal in the form they are kept in, or its usage is not of two or four "
            f"numbers up to {MOST_TOKENS:,}, parts no larger than their wholes",
        )
    return row


def _row_in(text: str) -> dict[str, Any]:
    """The row in `text`, if it is JSON of the schema that is read here."""
    try:
        text.encode()
        row = json.loads(text)
    except UnicodeEncodeError:
        raise ValueError("it is not UTF-8") from None
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    schema = row.get("schema") if isinstance(row, dict) else None
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}, and {SCHEMA!r} is read here")
    return cast("dict[str, Any]", row)


def _is_answer(answer: Mapping[str, Any]) -> bool:
    """Whether all fields of an answer are of the types that
    the rest of this package relies on.
    """
    if "error" in answer:
        return False
    text = answer.get("text")
    if text is not None and not isinstance(text, str):
        return False
    if not isinstance(answer.get("seconds") or 0, int | float):
        return False
    counts = ("together", "failed_before", "refused_before")
    if not all(isinstance(answer.get(name, 1), int) for name in counts):
        return False
    if not isinstance(answer.get("not_applicable", ""), str):
        return False
    says_something = (
        "items" in answer or "not_applicable" in answer or isinstance(text, str)
    )
    return (
        says_something
        and _are_texts(answer.get("items", []))
        and _are_entries(answer.get("entries", []))
        and _are_texts(answer.get("notes", []))
        and _is_usage(answer.get("usage"))
    )


def _are_texts(texts: object) -> bool:
    return isinstance(texts, list) and all(isinstance(text, str) for text in texts)


def _are_entries(entries: object) -> bool:
    if not isinstance(entries, list):
        return False
    return all(isinstance(entry, list) and len(entry) == 3 for entry in entries)


def _is_usage(usage: object) -> bool:
    """Whether a usage has two or four plausible numbers, see
    `Answer`; None stands for an unknown one.
    """
    if usage is None:
        return True
    if not isinstance(usage, list) or len(usage) not in (2, 4):
        return False
    return Usage.said(*usage) == Usage(*usage)


def _checksum(answer: Mapping[str, Any]) -> str:
    return sha256_of(canonical(answer))


def sha256_of(text: str) -> str:
    """The SHA-256 of a text in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()

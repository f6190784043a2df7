"""Planned calls as input files of OpenAI's Batch API, and its output files as answers.

The Batch API answers a file of requests within a day at half the price. Beside the files to upload stands a file for
the plugin, FILE.calls.jsonl. It holds the content of each request; the cache stores it with the answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_recsys_mt.calls.answer import plain_completion
from pytest_recsys_mt.calls.cache import AnswerCache
from pytest_recsys_mt.calls.cache_files import Imported, Row, imported_from, lines_of
from pytest_recsys_mt.calls.call import Call, canonical, key_of
from pytest_recsys_mt.calls.subject import Subject
from pytest_recsys_mt.errors import CacheError, RecommenderError
from pytest_recsys_mt.llm.api import chat_api
from pytest_recsys_mt.safety.files import written_or

URL = "/v1/chat/completions"
RESPONSES_URL = "/v1/responses"

MOST_REQUESTS = 50_000
"""The most requests in a file (https://platform.openai.com/docs/guides/batch)."""

MOST_BYTES = 200_000_000
"""The largest size of a file, in bytes."""


def calls_file(path: Path) -> Path:
    """The path of the calls of the batch at `path`: ``b.calls.jsonl`` beside ``b.jsonl``."""
    return path.with_suffix(".calls.jsonl")


def write_batch(path: Path, planned: Mapping[str, Sequence[tuple[Subject, Call]]]) -> list[Path]:
    """Write calls as input files of the Batch API, and the file of calls beside them.

    A file holds requests to one model only, and at most as many as the API takes; further files are
    named ``FILE-2.jsonl``, ``FILE-3.jsonl``.
    """
    with written_or(CacheError, calls_file(path)) as calls:
        for pairs in planned.values():
            for _, call in pairs:
                calls.write(canonical({"key": call.key, "call": dict(call.content)}) + "\n")
        written: list[Path] = []
        for name, pairs in planned.items():
            for part in _parts([_request(name, subject, call) for subject, call in pairs]):
                number = len(written) + 1
                stem = path.stem if number == 1 else f"{path.stem}-{number}"
                written.append(path.with_name(f"{stem}.jsonl"))
                with written_or(CacheError, written[-1]) as stream:
                    stream.writelines(part)
    return written


def import_batch(
    cache: AnswerCache, output: Path, calls: Path, *, replace: bool = False
) -> Imported:
    """Copy the answers of an output file of the Batch API into `cache`; its error file works too.

    Lines with a failed request, or with a request of another batch, are refused; the others are imported.
    """
    asked = _asked(calls)
    return imported_from(cache, output, lambda line: _answer(line, asked), replace=replace)


def _request(name: str, subject: Subject, call: Call) -> str:
    body = subject.request_body(call)
    if body is None:
        raise RecommenderError(
            f"{name} is not asked by Chat Completions, so it has no batch; leave it out, or name a "
            f"model of an OpenAI-compatible endpoint: --recsys-model=openai:NAME"
        )
    url = RESPONSES_URL if "input" in body else URL
    request = {"custom_id": call.key, "method": "POST", "url": url, "body": body}
    return json.dumps(request, separators=(",", ":")) + "\n"


def _parts(lines: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for line in lines:
        if part and (len(part) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)  # JSON in ASCII: a character is a byte
    if part:
        yield part


def _asked(path: Path) -> dict[str, dict[str, Any]]:
    calls = {}
    for number, line in lines_of(path):
        try:
            row = json.loads(line)
            key, call = row["key"], row["call"]
            if key_of(call) != key:
                raise ValueError(key)
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CacheError(
                f"{path}:{number}: this call was altered or damaged; write the batch again with "
                f"--recsys-plan -o recsys_batch=FILE, which gives unanswered calls the same ids"
            ) from None
        calls[key] = call
    return calls


def _answer(line: bytes, asked: Mapping[str, dict[str, Any]]) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON") from None
    row = row if isinstance(row, dict) else {}
    key, failure = row.get("custom_id"), row.get("error")
    if not isinstance(key, str) or key not in asked:
        raise ValueError(f"custom_id {key!r} is of no call of this batch")
    response = row.get("response")
    response = response if isinstance(response, dict) else {}
    status, body = response.get("status_code"), response.get("body")
    if failure or status != 200:
        failure = failure or (body.get("error") if isinstance(body, dict) else None)
        said = failure.get("message") if isinstance(failure, Mapping) else failure
        how = "not answered" if status is None else f"HTTP {status}"
        raise ValueError(f"{key[:12]}: {how}: {said or 'no reason given'}")
    try:
        answer = plain_completion(chat_api.read(json.dumps(body).encode()))
    except ValueError as error:
        raise ValueError(f"{key[:12]}: {error}") from None
    if "error" in answer or not (answer.get("text") or "").strip():
        raise ValueError(f"{key[:12]}: {answer.get('error', 'the model wrote nothing')}")
    return key, asked[key], answer

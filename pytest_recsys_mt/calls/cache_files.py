"""Answers as lines of JSON: exported from a cache, and imported into the same or
another cache.

A line holds one answer with its call and a checksum, and lines stand in the order of
their keys. A line does not say when, where or in which run the answer was made. So
equal answers give equal files, and a new answer is one new line in a diff.
"""

import fnmatch
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pytest_recsys_mt.calls.answer import REASON_LENGTH, Answer
from pytest_recsys_mt.calls.cache import AnswerCache, Kept
from pytest_recsys_mt.calls.cached_rows import row_of, sound_row
from pytest_recsys_mt.calls.call import canonical
from pytest_recsys_mt.safety.errors import CacheError
from pytest_recsys_mt.safety.files import failing_as, written_or
from pytest_recsys_mt.safety.redaction import shortened
from pytest_recsys_mt.safety.sanitize import one_line

_UNKNOWN = "?"

MOST_LINE = 1 << 26
"""The most bytes of a line: the images of a call are in it."""

Row = tuple[str, dict[str, Any], Answer]
"""The key of a call, the call and its answer."""


@dataclass(slots=True)
class Imported:
    """The result for the lines of a file.

    Attributes:
        added: Answers to calls of which the cache held none.
        known: Answers that the cache already held in the same words.
        differing: Answers of which the cache held another one.
        refused: Lines that were not imported, as ``FILE:LINE: reason``.
    """

    added: int = 0
    known: int = 0
    differing: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Share:
    """The answers of one model in a cache; their size is in characters of their rows."""

    answers: int = 0
    size: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


def model_of(call: Mapping[str, Any]) -> str:
    """The name of the recommender that a call went to."""
    identity = call.get("model")
    if not isinstance(identity, Mapping):
        return _UNKNOWN
    for field_name in ("model", "recommender", "fingerprint"):
        name = identity.get(field_name)
        if isinstance(name, str):
            return name
    return _UNKNOWN


def host_of(call: Mapping[str, Any]) -> str:
    """The host that a call went to; empty for models on this machine."""
    identity = call.get("model")
    if not isinstance(identity, Mapping):
        return ""
    host = identity.get("host")
    return host if isinstance(host, str) else ""


def matches(kept: Kept, model: str | None) -> bool:
    """Whether the name of an answer's model matches the
    pattern `model`; None matches all.
    """
    return model is None or fnmatch.fnmatchcase(model_of(kept.call), model)


def write_answers(cache: AnswerCache, path: Path, model: str | None = None) -> int:
    """Write the answers of `cache` to `path`, completely or not at all; returns their
    number.

    Refused rows are left out.
    """
    count = 0
    with written_or(CacheError, path) as stream:
        for _, kept in cache.rows():
            if kept is None or not matches(kept, model):
                continue
            answer = dict(kept.answer)
            answer.pop("run", None)
            row = {"key": kept.key, **row_of(kept.call, answer)}
            stream.write(canonical(row) + "\n")
            count += 1
    return count


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not empty, by their number, from 1."""
    with (
        failing_as(CacheError, f"{str(path)!r} cannot be read"),
        path.open("rb") as stream,
    ):
        for number, line in enumerate(_bounded_lines(stream), start=1):
            if len(line) > MOST_LINE:
                raise CacheError(
                    f"{path}:{number}: a line of more than {MOST_LINE >> 20} MiB is no answer",
                )
            if line.strip():
                yield number, line


def _bounded_lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines of a stream, of an overlong one its
    beginning: a file may be one line without end.
    """
    while True:
        line = stream.readline(MOST_LINE + 1)
        if not line:
            return
        yield line


def import_answers(
    cache: AnswerCache,
    path: Path,
    *,
    replace: bool = False,
) -> Imported:
    """Copy the answers of a file into `cache`.

    A damaged line is refused, the others are imported. They become visible together, at
    the end.
    """
    return imported_from(cache, path, _read, replace=replace)


def imported_from(
    cache: AnswerCache,
    path: Path,
    read: Callable[[bytes], Row],
    *,
    replace: bool,
) -> Imported:
    """Copy the answer that `read` finds in each line of a file into `cache`;
    its `ValueError` says why a line is refused.
    """
    imported = Imported()
    with cache.together():
        for number, line in lines_of(path):
            try:
                key, call, answer = read(line)
            except ValueError as error:
                reason = shortened(one_line(str(error)), REASON_LENGTH)
                imported.refused.append(f"{path}:{number}: {reason}")
                continue
            cached = cache.get(key)
            if cached is None:
                imported.added += 1
                cache.put(key, call, answer)
            elif _say_the_same(cached, answer):
                imported.known += 1
            else:
                imported.differing += 1
                if replace:
                    cache.put(key, call, answer)
    return imported


def _say_the_same(one: Answer, other: Answer) -> bool:
    """Whether two answers are equal except for when, how
    fast and in which run they were made.
    """
    of_the_call = (
        *("run", "asked", "seconds", "together"),
        *("failed_before", "refused_before"),
    )
    without = dict.fromkeys(of_the_call)
    return {**one, **without} == {**other, **without}


def keys_in(path: Path) -> set[str]:
    """The keys of all answers in a file."""
    keys = set()
    for number, line in lines_of(path):
        try:
            key, _, _ = _read(line)
            keys.add(key)
        except ValueError as error:
            raise CacheError(
                f"{path}:{number}: {error}; export the answers again",
            ) from None
    return keys


def shares(cache: AnswerCache) -> tuple[dict[tuple[str, str], Share], int]:
    """The content of `cache` by model and host, and the number of its refused rows."""
    by_model: dict[tuple[str, str], Share] = {}
    refused = 0
    for _, kept in cache.rows():
        if kept is None:
            refused += 1
            continue
        model_and_host = (model_of(kept.call), host_of(kept.call))
        share = by_model.setdefault(model_and_host, Share())
        prompt_tokens, completion_tokens, *_ = kept.answer.get("usage") or (0, 0)
        share.answers += 1
        share.size += kept.size
        share.prompt_tokens += prompt_tokens
        share.completion_tokens += completion_tokens
    return dict(sorted(by_model.items())), refused


def _read(line: bytes) -> Row:
    """The answer in a line; a `ValueError` says why it is refused."""
    try:
        text = line.decode()
        # `int` refuses the names NaN and Infinity, which are no JSON.
        key = json.loads(text, parse_constant=int).get("key")
    except (ValueError, RecursionError, AttributeError):
        raise ValueError("it is not a JSON object") from None
    row = sound_row(text, key)
    return key, row["call"], row["answer"]

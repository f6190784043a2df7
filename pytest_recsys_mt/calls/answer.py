"""An answer as plain JSON data, as processes exchange it and the cache stores it; and
how the answers to several calls are got: as they arrive, or together, or each alone.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields
from typing import Any, TypedDict, TypeVar, cast

from pytest_recsys_mt.calls.users_code import COMPLETE, RECOMMEND, shown
from pytest_recsys_mt.requests import Completion, Entry, Recommendation, Request, Usage
from pytest_recsys_mt.safety.errors import NotApplicable, RecommenderError
from pytest_recsys_mt.safety.raised import traceback_of
from pytest_recsys_mt.safety.redaction import redact, shortened
from pytest_recsys_mt.safety.sanitize import one_line, sanitize


class Answer(TypedDict, total=False):
    """One of five results, distinguished by `error`, `not_applicable`, `unasked`,
    `lost`, or the absence of all four.

    Attributes:
        unasked: Why the call was not sent: a limit.
        lost: True for an attempt that gave no answer and may have been paid for.
        entries: Text, kind and id of each entry of an answer.
        ambiguous: True if an answer has several lists of equal claims.
        usage: Tokens of the prompt and of the answer; None, or missing in a failed
            call: unknown. Where there are any, those of the thinking and those from the
            provider's cache follow.
        asked: When the batch of the call began, in Unix seconds.
        run: The run that sent the call: its answer counts as made, not as cached.
        seconds: The time that it took, or its share in the time of a batch.
        together: How many answers shared that time; missing if it is its own.
        failed_before: Attempts of the call that failed before; missing if none did.
        refused_before: Those of them that the endpoint refused; missing likewise.
        notes: What the endpoint did not take of the call; missing if it took all.
    """

    error: str
    traceback: str
    not_applicable: str
    unasked: str
    lost: bool
    items: list[str]
    entries: list[list[Any]]
    text: str | None
    how: str
    ambiguous: bool
    usage: list[int] | None
    finish_reason: str | None
    model: str | None
    system_fingerprint: str | None
    asked: float
    run: str
    seconds: float | None
    together: int
    failed_before: int
    refused_before: int
    notes: list[str]


LOST: Answer = {"lost": True}
"""The call may be attempted again; later answers do not include this attempt."""


def has_failed(answer: Answer) -> bool:
    """Whether an attempt gave no answer."""
    return "error" in answer or "lost" in answer


def without_error(answer: Answer) -> Answer:
    """A copy of an answer without its error."""
    return cast("Answer", {k: v for k, v in answer.items() if k != "error"})


def is_empty(answer: Answer) -> bool:
    """Whether an answer says nothing; a refusal says why."""
    if "not_applicable" in answer:
        return False
    text = answer.get("text")
    if isinstance(text, str):
        return not text.strip()
    return not answer.get("items")


REASON_LENGTH = 300
"""Characters of an error that are kept."""


def failure(error: BaseException) -> Answer:
    """The answer of a call that raised."""
    if isinstance(error, NotApplicable):
        reason = redact(one_line(str(error)))
        return {"not_applicable": reason or "no reason given"}
    failed: Answer = {"error": describe_failure(error)}
    traceback = sanitize(traceback_of(error))
    if traceback:
        failed["traceback"] = traceback
    return failed


def describe_failure(error: BaseException) -> str:
    """One line that describes the failure, short enough for a report, without keys."""
    try:
        message = one_line(str(error)) or "no message"
    except Exception as second:  # noqa: BLE001 - users' code as well
        message = (
            f"its message is unavailable, as its str() raised {type(second).__name__}"
        )
    return shortened(f"{type(error).__name__}: {message}", REASON_LENGTH)


def _without_keys(text: str) -> str:
    """`text` without keys: as it is, or sanitized if
    only the sanitized text shows a key.
    """
    # `redact` returns the same object if it finds no key.
    redacted = redact(text)
    sanitized = sanitize(redacted)
    sanitized_redacted = redact(sanitized)
    if sanitized_redacted is sanitized:
        return redacted
    return sanitized_redacted


def _all_without_keys(texts: Sequence[str]) -> list[str]:
    joined = "\n".join(texts)  # one search is faster than many
    if redact(joined) is joined:
        return list(texts)
    return [redact(text) for text in texts]


def _redacted_or_none(text: str | None) -> str | None:
    """`text` without keys; nothing stays nothing."""
    return redact(text) if text else text


def _plain_usage(usage: object) -> list[int] | None:
    """A reported usage as in an `Answer`; None if it is unknown or implausible."""
    counts = [getattr(usage, field.name, None) for field in fields(Usage)]
    known = Usage.said(*counts)
    if known is None:
        return None
    prompt_tokens, completion_tokens, *parts = astuple(known)
    if any(parts):
        return [prompt_tokens, completion_tokens, *parts]
    return [prompt_tokens, completion_tokens]


def usage_of(answer: Answer) -> Usage | None:
    """The tokens that an answer took, as far as reported."""
    usage = answer.get("usage")
    if usage is None:
        return None
    return Usage(*usage)


def plain_recommendation(recommendation: Recommendation) -> Answer:
    """A recommendation as plain JSON data; a failed one is ``{"error": reason}``."""
    if not isinstance(recommendation, Recommendation):
        return {"error": RECOMMEND.wrong(recommendation)}
    usage = _plain_usage(recommendation.usage)
    if recommendation.error is not None:
        reason = shortened(one_line(str(recommendation.error)), REASON_LENGTH)
        return {"error": reason, "usage": usage}
    wrong_ids = [item for item in recommendation.items if not isinstance(item, str)]
    if wrong_ids:
        error = (
            f"recommend(requests) returned {shown(recommendation)}; item ids are strings as in "
            f"the catalogue, got {shown(wrong_ids[0])}: take the id of an item, item.id"
        )
        return {"error": error, "usage": usage}
    text = recommendation.text
    answer: Answer = {
        "items": _all_without_keys(recommendation.items),
        "entries": [_plain_entry(entry) for entry in recommendation.entries],
        "text": _without_keys(text) if text else text,
        "usage": usage,
    }
    if recommendation.how:
        answer["how"] = redact(recommendation.how)
    if recommendation.ambiguous:
        answer["ambiguous"] = True
    _add_time(answer, recommendation.took)
    _add_earlier(answer, recommendation)
    return answer


def _add_time(answer: Answer, took: object) -> None:
    """Add the time that a recommender measured, unless it is implausible."""
    match took:
        case (int() | float() as seconds, int() as count) if (
            0 <= seconds < math.inf and count >= 1
        ):
            answer["seconds"] = seconds / count
            if count > 1:
                answer["together"] = count


def _add_earlier(answer: Answer, given: Recommendation | Completion) -> None:
    """Add the attempts that failed before the one that was answered, if there are any."""
    if given.failed_before > 0:
        answer["failed_before"] = given.failed_before
    if given.refused_before > 0:
        answer["refused_before"] = given.refused_before


def _plain_entry(entry: Entry) -> list[Any]:
    return [redact(entry.text), entry.kind, _redacted_or_none(entry.item)]


def refusing_titles(answer: Answer, request: Request) -> Answer:
    """The answer to `request`; a failure if it names offered items by their titles."""
    candidates = request.candidates or ()
    offered_ids = {item.id for item in candidates}
    foreign = [item for item in answer.get("items", ()) if item not in offered_ids]
    if not foreign:
        return answer
    # A recommender that returns one title returns titles, so the first is enough.
    named = foreign[0]
    for item in candidates:
        if named in (item.title, item.label):
            error = f"recommend(requests) returned {shown(named)}, which is the title of an item: return its id, item.id, here {shown(item.id)}"
            return {"error": error}
    return answer


def completion_of(answer: Answer) -> Completion:
    """The completion in an answer of `plain_completion`."""
    return Completion(
        text=answer.get("text"),
        usage=usage_of(answer),
        finish_reason=answer.get("finish_reason"),
        model=answer.get("model"),
        system_fingerprint=answer.get("system_fingerprint"),
        error=answer.get("error", answer.get("not_applicable")),
        seconds=answer.get("seconds"),
        failed_before=answer.get("failed_before", 0),
        refused_before=answer.get("refused_before", 0),
    )


def plain_completion(completion: Completion) -> Answer:
    """A completion as plain JSON data, without thinking; a
    failed one has the reason as ``error``.
    """
    if not isinstance(completion, Completion) or not isinstance(
        completion.text,
        str | None,
    ):
        return {"error": COMPLETE.wrong(completion)}
    usage = _plain_usage(completion.usage)
    finish_reason = _redacted_or_none(completion.finish_reason)
    text = completion.text
    error = completion.error
    if text is not None and text.strip():
        # The reader of texts takes a tenth of a second to import, and classical
        # recommenders write none.
        from pytest_recsys_mt.llm.reading.thinking import without_thinking

        text = without_thinking(text)
        if not text.strip():
            text = None
            error = (
                f"the model wrote its thinking and no answer (finish_reason {finish_reason!r}); give it more "
                f"tokens (max_tokens), or let it think less"
            )
    reason = shortened(one_line(error or "the model gave no text"), REASON_LENGTH)
    if text is None:
        return {"error": reason, "usage": usage, "finish_reason": finish_reason}
    answer: Answer = {"error": reason} if error else {}
    answer["text"] = _without_keys(text)
    answer["usage"] = usage
    answer["finish_reason"] = finish_reason
    answer["model"] = _redacted_or_none(completion.model)
    answer["system_fingerprint"] = _redacted_or_none(completion.system_fingerprint)
    answer["seconds"] = completion.seconds
    _add_earlier(answer, completion)
    if completion.notes:
        answer["notes"] = [one_line(redact(note)) for note in completion.notes]
    return answer


_SHORT = 64  # characters of a string that may well stand in many answers: names, ids, reasons


class Known:
    """Answers by the key of their call.

    Most answers of a run have the same fields, and the same model, run and counts of
    tokens. So the names of the fields, short strings and the values in flat lists are
    kept once for all answers.
    """

    def __init__(self) -> None:
        # The names of the fields of each answer, and behind them its values.
        self._packed_by_key: dict[str, tuple[Any, ...]] = {}
        self._shared: dict[Any, Any] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._packed_by_key

    def __setitem__(self, key: str, answer: Answer) -> None:
        names = tuple(answer)
        shared_names = self._shared.setdefault(names, names)
        self._packed_by_key[key] = (shared_names, *map(self._packed, answer.values()))

    def get(self, key: str) -> Answer | None:
        """The answer to a call; None if it is not known."""
        packed = self._packed_by_key.get(key)
        if packed is None:
            return None
        names, *packed_values = packed
        values = [
            list(value) if type(value) is tuple else value for value in packed_values
        ]
        return cast("Answer", dict(zip(names, values, strict=True)))

    def _packed(self, value: Any) -> Any:
        """A value as it is kept: a flat list as a tuple, in which
        equal strings and numbers are one object.
        """
        if type(value) is str and len(value) <= _SHORT:
            return self._shared.setdefault(value, value)
        if type(value) is list and all(type(part) in (str, int) for part in value):
            return tuple([self._shared.setdefault(part, part) for part in value])
        return value


FAILURES = (Exception, SystemExit, BaseExceptionGroup)
"""Errors of users' code that fail only its call: not a Ctrl-C, nor the exceptions by
which pytest skips or ends.
"""

Asked = TypeVar("Asked")


def as_they_arrive(
    ask: Callable[[Sequence[Asked]], Iterator[list[tuple[int, Any]]]],
    asked: Sequence[Asked],
    plain: Callable[[int, Any], Answer],
    unanswered: set[int] | None = None,
) -> Iterator[list[tuple[int, Answer]]]:
    """The answers as they arrive; an error fails those that have not arrived.

    Args:
        ask: Yields positions and answers; the answer is None for an attempt that is
            made once more.
        asked: The calls to send.
        plain: Takes a position and what arrived for it; returns it as plain data.
        unanswered: The positions without an answer, which the caller may add to; by
            default those of `asked`.
    """
    if unanswered is None:
        unanswered = set(range(len(asked)))
    try:
        for arrived in ask(asked):
            unanswered.difference_update(
                position for position, answer in arrived if answer is not None
            )
            yield [(position, plain(position, answer)) for position, answer in arrived]
    except FAILURES as error:
        failed = failure(error)
        if isinstance(error, RecommenderError):  # nothing was sent
            failed["usage"] = [0, 0]
        yield [(position, failed) for position in sorted(unanswered)]


def together_or_apart(
    ask: Callable[[Sequence[Asked]], list[Answer]],
    asked: Sequence[Asked],
) -> Iterator[list[tuple[int, Answer]]]:
    """Send all as one batch; if that fails, one by one, so that each fails alone."""
    answers = _answers_or_none(ask, asked)
    if answers is not None:
        yield list(enumerate(answers))
        return
    for position, one in enumerate(asked):
        for arrived in together_or_apart(ask, [one]):
            [(_, answer)] = arrived
            yield [(position, answer)]


def _answers_or_none(
    ask: Callable[[Sequence[Asked]], list[Answer]],
    asked: Sequence[Asked],
) -> list[Answer] | None:
    """The answers of a batch; None if it failed and holds
    several, of which others may succeed.
    """
    try:
        return ask(asked)
    except FAILURES as error:
        if len(asked) == 1:
            return [failure(error)]
        return None

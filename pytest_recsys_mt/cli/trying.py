"""The command `recsys-mt try`: one question to a model, as it is sent, answered and read."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_recsys_mt.requests import Item, Recommendation, Request, TextModel
from pytest_recsys_mt.requests.abilities import method_of
from pytest_recsys_mt.requests.design import PROMPT, Design
from pytest_recsys_mt.safety.errors import DataError, NotApplicable, RecsysError, meant
from pytest_recsys_mt.safety.raised import with_traceback
from pytest_recsys_mt.safety.redaction import (
    Secret,
    carries_key,
    gives_key,
    redact,
    shortened,
    shown,
)
from pytest_recsys_mt.safety.sanitize import one_line, sanitize

if TYPE_CHECKING:
    from pytest_recsys_mt.datasets import Dataset
    from pytest_recsys_mt.recommenders.http_contract import Exchange

LONGEST = 3000
"""Characters of a request or an answer that are shown."""

MOST_EXCHANGES = 4
"""HTTP requests that are shown."""

MOST_ITEMS = 20
"""Items of a list that are shown, unless more were asked for."""

WAIT = 30.0
"""Seconds that are waited for a server that is busy or away."""


@dataclass(frozen=True)
class Tried:
    """One question and what became of it.

    Attributes:
        sent: The request as it was sent, in lines.
        said: The answer as it came, in lines.
        read: The answer as it was read; a reason if there is none.
        besides: What was read beside the list, in lines.
    """

    sent: Sequence[str]
    said: Sequence[str]
    read: Recommendation | str
    besides: Sequence[str] = ()


def run(given: argparse.Namespace) -> int:
    """Run the command.

    Returns:
        0 if a list was read, else 1.
    """
    from pytest_recsys_mt.datasets import load
    from pytest_recsys_mt.recommenders import resolve

    spec = given.model
    if given.map is not None:
        spec += f"{'&' if '?' in spec else '?'}map={given.map}"
    data = load(given.data)
    request, training = question(data, given.user, given.k, whole=given.open)
    model = resolve(spec)
    history = f"{len(request.history)} ratings"
    candidates = (
        "the whole catalogue"
        if request.candidates is None
        else f"{len(request.candidates)} candidates"
    )
    name = shown(spec) if carries_key(spec) or gives_key(spec) else redact(spec)
    print(
        f"{name} for user {request.user!r} of {data.name}: {history}, {candidates}, k={request.k}"
    )
    try:
        tried = _tried(model, request, training, given.prompt or PROMPT)
    finally:
        close = method_of(model, "close")
        if close is not None:
            close()
    print("\nsent", *tried.sent, sep="\n  ")
    print("\nanswered", *tried.said, sep="\n  ")
    lines, has_list = read_in_lines(tried.read, request, data)
    besides = [sanitize(redact(line)) for line in tried.besides]
    print("\nread", *lines, *besides, sep="\n  ")
    return 0 if has_list else 1


def question(
    data: Dataset,
    user: str | None,
    k: int,
    *,
    whole: bool,
) -> tuple[Request, Dataset]:
    """A request as the suites make them, and the data to fit a model to.

    The latest interaction of the user is held out, or what the data withhold. It is one
    of the candidates; the others are drawn at random.

    Args:
        data: The data with the user.
        user: The id; None takes the first user of at least two interactions.
        k: Length of the list.
        whole: Whether the whole catalogue is offered.

    Raises:
        DataError: If there is no such user, or too little of him.
    """
    from pytest_recsys_mt.datasets.held_out import targets

    histories = data.histories
    asked = targets(data)
    if user is None:
        user = min(asked, default=None)
    if user is None or user not in histories:
        raise DataError(
            f"dataset {data.name!r} has no user {user!r}{meant(user or '', histories)}; one of its {len(histories)} users "
            f"is {min(histories)!r}",
        )
    if user not in asked:
        raise DataError(_unasked(data, user, min(asked, default=None)))
    (target,) = asked[user]
    training = data.known
    if data.withheld is None:
        training = data.without({user: asked[user]})
    past = training.histories[user]
    design = Design()
    candidates = None
    if not whole:
        candidates = data.offered.get(user)
        if candidates is None:
            candidates = _drawn(data, user, target, design)
    history = past[-design.history :]
    hidden = {rating.item.id for rating in past} - {
        rating.item.id for rating in history
    }
    request = Request(
        user,
        history,
        data.scale,
        candidates,
        k,
        attributes=data.users.get(user, {}),
        seen=tuple(sorted(hidden)) if whole else (),
    )
    return request, training


def _drawn(data: Dataset, user: str, target: str, design: Design) -> tuple[Item, ...]:
    """Random items that a user has not, and the one held out, in random order."""
    has = {rating.item.id for rating in data.histories[user]}
    draw = random.Random(user)
    others = [data.items[each] for each in sorted({*data.items} - has)]
    others = draw.sample(others, min(design.candidates - 1, len(others)))
    drawn = [*others, data.items[target]]
    draw.shuffle(drawn)
    return tuple(drawn)


def _unasked(data: Dataset, user: str, other: str | None) -> str:
    """Why there is no question to a user of the data."""
    if data.withheld is None:
        return f"user {user!r} of {data.name!r} has one interaction alone"
    return (
        f"user {user!r} of {data.name!r} has no history for training or no new item that is held out (split= or test=); one "
        f"who has is {other!r}"
    )


def _tried(model: Any, request: Request, training: Dataset, prompt: str) -> Tried:
    """Ask, whatever kind of model it is."""
    if isinstance(model, TextModel):
        return _tried_text(model, request, training, prompt)
    exchanges: list[Exchange] = []
    besides: list[str] = []
    is_remote = hasattr(model, "heard")
    if is_remote:
        model.heard = exchanges.append
        model.told = besides.append
        model.max_wait = WAIT if model.max_wait is None else model.max_wait
    read: Recommendation | str
    try:
        fit = method_of(model, "fit")
        if fit is not None:
            fit(training.apart(), 0)
        (answer,) = model.recommend([request])
        read = answer if answer.error is None else answer.error
    except NotApplicable as reason:
        read = f"not applicable: {reason}"
        answer = None
    except RecsysError:
        raise
    except Exception as error:  # noqa: BLE001 - of users' own code
        raise RecsysError(with_traceback("the model raised", error)) from None
    if is_remote:
        return Tried(*_exchanged(exchanges), read, [*dict.fromkeys(besides)])
    said = repr(answer) if answer is not None else read
    return Tried([_cut(_described(request))], [_cut(str(said))], read)


def _tried_text(
    model: Any,
    request: Request,
    training: Dataset,
    prompt: str,
) -> Tried:
    from pytest_recsys_mt.llm.recommender import LLMRecommender

    if getattr(model, "max_wait", 0) is None:
        model.max_wait = WAIT
    recommender = LLMRecommender(model, prompt)
    recommender.fit(training, 0)
    rendered = recommender.render(request)
    try:
        (completion,) = model.complete([rendered])
    except RecsysError:
        raise
    except Exception as error:  # noqa: BLE001 - of users' own code
        raise RecsysError(with_traceback("the model raised", error)) from None
    body = method_of(model, "body")
    sent = [
        line
        for message in rendered.messages
        for line in (f"{message.role}:", *_lines(message.content))
    ]
    if body is not None:
        others = {k: v for k, v in body(rendered).items() if k != "messages"}
        sent.append(_cut(json.dumps(others, default=str)))
    said = _lines(completion.text or f"no text: {completion.error}")
    if completion.finish_reason:
        said.append(f"(finish_reason: {completion.finish_reason})")
    read = recommender.read(request, completion)
    return Tried(sent, said, read if read.error is None else read.error)


def _exchanged(exchanges: Sequence[Exchange]) -> tuple[list[str], list[str]]:
    """The requests and the responses of a server, in lines."""
    sent: list[str] = []
    said: list[str] = []
    for exchange in exchanges[:MOST_EXCHANGES]:
        sent.append(redact(f"{exchange.method} {exchange.url}"))
        sent += [f"{name}: {_hidden(text)}" for name, text in exchange.headers.items()]
        if exchange.body is not None:
            sent.append(_cut(exchange.body.decode()))
        content = exchange.content
        said.append(f"HTTP {exchange.status}, {len(content):,} bytes")
        if content:
            said.append(_cut(content.decode(errors="replace")))
    left_out = len(exchanges) - MOST_EXCHANGES
    if left_out > 0:
        sent.append(f"... and {left_out} further requests")
    return sent, said or ["nothing that can be read"]


def _hidden(value: str) -> str:
    """The value of a header without a key."""
    clean = redact(value)
    return "[...]" if isinstance(value, Secret) and clean == value else str(clean)


def read_in_lines(
    read: Recommendation | str,
    request: Request,
    data: Dataset,
) -> tuple[list[str], bool]:
    """What was read of an answer, in lines, and whether it is a list."""
    if isinstance(read, str):
        return [f"no list: {sanitize(redact(read))}"], False
    if not read.items:
        why = f": {read.how}" if read.how else ""
        return [f"no items{why}", *_unread(read)], False
    lines = [f"{_counted(read, request)}{f' ({read.how})' if read.how else ''}"]
    known: set[str] = set()
    most = max(MOST_ITEMS, request.k)
    for number, item in enumerate(read.items[:most], 1):
        found = data.items.get(item)
        title = "" if found is None else one_line(found.label)
        note = _note(item, request, data, known)
        if number > request.k:
            note = "; ".join(filter(None, (f"beyond k={request.k}", note)))
        own = shortened(one_line(item), 80)
        lines.append(f"{number:3}. {own}  {title}{f'  <- {note}' if note else ''}")
        known.add(item)
    if len(read.items) > most:
        lines.append(f"... and {len(read.items) - most:,} more")
    return [*lines, *_unread(read)], True


def _counted(read: Recommendation, request: Request) -> str:
    """How many items a list has, and how many were asked for if these are more."""
    count, offered = len(read.items), request.candidates
    wanted = request.k if offered is None else min(request.k, len(offered))
    if count < wanted:
        return f"{count} of the {wanted} items asked for"
    return "1 item" if count == 1 else f"{count} items"


def _note(item: str, request: Request, data: Dataset, before: set[str]) -> str:
    """What is wrong with an item of a list; empty if nothing is."""
    if item in before:
        return "repeated"
    if item not in data.items:
        return "not in the catalogue"
    if item in request.known:
        return "the user has it"
    offered = request.candidates
    if offered is not None and all(each.id != item for each in offered):
        return "not one of the candidates"
    return ""


def _unread(read: Recommendation) -> Iterator[str]:
    """The entries of a text that name no item of the catalogue."""
    reasons: Mapping[str, str] = {
        "unparsed": "it names no title",
        "unknown": "no known item has this title",
        "outside": "its title exists, but not in the catalogue",
    }
    for entry in read.entries:
        if entry.kind in reasons:
            text = shortened(one_line(entry.text), 80)
            yield f"not read: {text!r}: {reasons[entry.kind]}"


def _described(request: Request) -> str:
    """A request to an object, as its fields."""
    history = ", ".join(
        f"{each.item.id}: {each.value:g}" for each in request.history[-5:]
    )
    candidates = (
        "None"
        if request.candidates is None
        else ", ".join(each.id for each in request.candidates)
    )
    return one_line(
        f"Request(user={request.user!r}, history=(... {history}), candidates=({candidates}), k={request.k}, "
        f"attributes={dict(request.attributes)!r})",
    )


def _lines(text: str) -> list[str]:
    """A text of several lines, of which not too many characters are shown."""
    return sanitize(_cut(text, keep_lines=True)).splitlines()


def _cut(text: str, *, keep_lines: bool = False) -> str:
    clean = redact(text)
    more = len(clean) - LONGEST
    start = clean[:LONGEST] if keep_lines else one_line(clean[:LONGEST])
    return f"{start} ... and {more:,} more characters" if more > 0 else start

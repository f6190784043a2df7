"""How to send a request again at which users' code
raised: in words, and as code to paste.
"""

from collections.abc import Iterable, Iterator, Mapping

from pytest_recsys_mt.report.asked import plain_requests
from pytest_recsys_mt.report.evidence import changed
from pytest_recsys_mt.requests import Item, Rating, Request

MOST_PARTS = 8
"""Most items of a list that are written as code: more are not readable."""


def how_to_send(
    source: Request | None,
    failed: Request,
    smallest: Request | None,
) -> Iterator[str]:
    """The changes of the failed request to the user's own, and a smaller request that
    fails as well.

    Args:
        source: The user's own request; None if it is not known.
        failed: The request at which users' code raised.
        smallest: The smallest request found at which it raises; None if none was
            sought.
    """
    if source is not None:
        of_source, of_failed = plain_requests(
            source,
            failed.replace(replicate=source.replicate),
        )
        if of_source != of_failed:
            yield ""
            yield "this request is a follow-up; it differs from the user's own in:"
            yield from changed(of_source, of_failed)
    if smallest is None or not _can_be_pasted(smallest):
        return
    yield ""
    yield "the smallest request found that raises it, for recommend([request]):"
    yield ""
    yield "from pytest_recsys_mt import Item, Rating, Request, Scale"
    yield from as_code(smallest)


def _can_be_pasted(request: Request) -> bool:
    """Whether a request is short, and has nothing that code could not say."""
    longest = max(len(request.history), len(request.candidates or ()))
    return longest <= MOST_PARTS and not any(request.edits)


def as_code(request: Request) -> Iterator[str]:
    """A request as Python code; it needs the names
    `Item`, `Rating`, `Request` and `Scale`.
    """
    low = _number(request.scale.low)
    high = _number(request.scale.high)
    candidates = "None"
    if request.candidates is not None:
        candidates = _tuple(map(_item, request.candidates))
    # An argument without code is left out: it has its default.
    parts = {
        "user": repr(request.user),
        "history": _tuple(map(_rating, request.history)),
        "scale": f"Scale({low}, {high})",
        "candidates": candidates,
        "k": str(int(request.k)),
        "instruction": repr(request.instruction) if request.instruction else "",
        "attributes": _facts(request.attributes),
        "seen": repr(request.seen) if request.seen else "",
    }
    yield "request = Request("
    for name, code in parts.items():
        if code:
            yield f"    {name}={code},"
    yield ")"


def _tuple(parts: Iterable[str]) -> str:
    """A tuple as code, each part on a line of its own."""
    lines = "".join(f"\n        {part}," for part in parts)
    return f"({lines}\n    )" if lines else "()"


def _rating(rating: Rating) -> str:
    when = "" if rating.timestamp is None else f", {int(rating.timestamp)}"
    return f"Rating({_item(rating.item)}, {_number(rating.value)}{when})"


def _item(item: Item) -> str:
    """An item as code, without the last arguments that have their defaults."""
    arguments = [
        repr(item.id),
        repr(item.title),
        repr(item.year),
        _facts(item.attributes),
    ]
    while len(arguments) > 1 and arguments[-1] in ("", "None", "''"):
        arguments.pop()
    return f"Item({', '.join(arguments)})"


def _facts(attributes: Mapping[str, object]) -> str:
    """Attributes as code; empty if there are none."""
    return repr(dict(attributes)) if attributes else ""


def _number(value: float) -> str:
    return f"{float(value):.12g}"

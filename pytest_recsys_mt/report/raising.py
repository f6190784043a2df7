"""How to ask a request again at which users' code raised: in words, and as code to paste."""

from collections.abc import Iterable, Iterator, Mapping

from pytest_recsys_mt.report.asked import plain_requests
from pytest_recsys_mt.report.evidence import changed
from pytest_recsys_mt.requests import Item, Rating, Request

MOST_PARTS = 8
"""Most items of a list that are written as code: with more, nobody reads it."""


def how_to_ask(source: Request | None, failed: Request, smallest: Request | None) -> Iterator[str]:
    """What the request that failed changes in the user's own, and a smaller one that fails as well."""
    if source is not None:
        sides = plain_requests(source, failed.replace(replicate=source.replicate))
        if sides[0] != sides[1]:
            yield ""
            yield "this request is a follow-up; it differs from the user's own in:"
            yield from changed(*sides)
    if smallest is None or any(smallest.edits):
        return
    if max(len(smallest.history), len(smallest.candidates or ())) > MOST_PARTS:
        return
    yield ""
    yield "the smallest request found that raises it, for recommend([request]):"
    yield ""
    yield "from pytest_recsys_mt import Item, Rating, Request, Scale"
    yield from as_code(smallest)


def as_code(request: Request) -> Iterator[str]:
    """A request as Python code; it needs the names `Item`, `Rating`, `Request` and `Scale`."""
    low, high, offered = _number(request.scale.low), _number(request.scale.high), request.candidates
    parts = {
        "user": repr(request.user),
        "history": _tuple(map(_rating, request.history)),
        "scale": f"Scale({low}, {high})",
        "candidates": "None" if offered is None else _tuple(map(_item, offered)),
        "k": str(int(request.k)),
        "instruction": repr(request.instruction) if request.instruction else "",
        "attributes": _facts(request.attributes),
        "seen": repr(request.seen) if request.seen else "",
    }
    yield "request = Request("
    yield from (f"    {name}={code}," for name, code in parts.items() if code)
    yield ")"


def _tuple(parts: Iterable[str]) -> str:
    lines = "".join(f"\n        {part}," for part in parts)
    return f"({lines}\n    )" if lines else "()"


def _rating(rating: Rating) -> str:
    when = "" if rating.timestamp is None else f", {int(rating.timestamp)}"
    return f"Rating({_item(rating.item)}, {_number(rating.value)}{when})"


def _item(item: Item) -> str:
    parts = [repr(item.id), repr(item.title), repr(item.year), _facts(item.attributes)]
    while len(parts) > 1 and parts[-1] in ("", "None", "''"):  # what is left out by default
        parts.pop()
    return f"Item({', '.join(parts)})"


def _facts(attributes: Mapping[str, object]) -> str:
    return repr(dict(attributes)) if attributes else ""


def _number(value: float) -> str:
    return f"{float(value):.12g}"

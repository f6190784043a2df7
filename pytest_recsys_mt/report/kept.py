"""``recsys-mt runs``: the kept runs of a project, and which of them is a baseline."""

from collections.abc import Iterator
from pathlib import Path

from pytest_recsys_mt.errors import DataError, PolicyError
from pytest_recsys_mt.gate.store import Kept, Store
from pytest_recsys_mt.safety.files import failing_as
from pytest_recsys_mt.safety.sanitize import one_line

SHOWN = {
    "regressed": "{} regressed", "suspicious": "{} suspiciously better", "holds": "{} hold", "violated": "{} violated",
    "inconclusive": "{} inconclusive", "error": "{} errors",
}  # fmt: skip
"""The verdicts that a line counts."""


def runs(folder: Path) -> Iterator[str]:
    """A line or two for each kept run of the project around a folder, the latest last."""
    store = Store.around(folder)
    kept = store.runs()
    if not kept:
        yield f"no run is kept in {str(store.folder)!r}; runs are kept when they end"
    elif not store.folder.is_relative_to(folder):
        yield f"of {str(store.folder)!r}, as no run is kept in this folder:"
    for each in kept:
        yield from _lines(each)
    try:
        store.accepted()
    except PolicyError as error:
        yield str(error)


def accept(folder: Path, number: int | None) -> str:
    """Make a run a baseline, and say of what."""
    store = Store.around(folder)
    with failing_as(DataError, f"{str(store.folder)!r} cannot be written"):
        kept = store.accept(number)
    failed = "" if kept.head.get("gate") == "passed" else " (its own gate failed)"
    which = "" if store.folder.is_relative_to(folder) else f" in {str(store.folder)!r}"
    return f"run {kept.number}{which} is the baseline of {_models(kept)} now{failed}: pytest ... --recsys-baseline"


def _lines(kept: Kept) -> Iterator[str]:
    head = kept.head
    if not head:
        yield f"{kept.number:4}  damaged: {str(kept.record.parent)!r}"
        return
    started = str(head.get("started", ""))[:16].replace("T", " ")
    marks = "; baseline" * kept.accepted + "; all users asked" * bool(head.get("everybody"))
    yield f"{kept.number:4}  {one_line(started)}  {one_line(str(head.get('commit') or '-')):9} {_models(kept)} on {one_line(str(head.get('data')))}, seed {one_line(str(head.get('seed')))}"
    counted: dict[str, int] = {}
    for counts in (head.get("reasons"), head.get("counts")):  # runs of before lack the first
        counted |= counts if isinstance(counts, dict) else {}
    told = [text.format(counted[status]) for status, text in SHOWN.items() if counted.get(status)]
    yield f"      gate {one_line(str(head.get('gate')))}: {', '.join(told) or 'no verdict'}{marks}"


def _models(kept: Kept) -> str:
    return ", ".join(one_line(str(model)) for model in kept.head["models"])

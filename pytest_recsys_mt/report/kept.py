"""``recsys-mt runs``: the kept runs of a project, and which of them is a baseline."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_recsys_mt.gate.store import Kept, Store
from pytest_recsys_mt.safety.errors import DataError, PolicyError
from pytest_recsys_mt.safety.files import failing_as
from pytest_recsys_mt.safety.sanitize import one_line

SHOWN = {
    "regressed": "{} regressed",
    "suspicious": "{} suspiciously better",
    "holds": "{} hold",
    "violated": "{} violated",
    "inconclusive": "{} inconclusive",
    "error": "{} errors",
}
"""The verdicts that a line counts."""


def runs(folder: Path) -> Iterator[str]:
    """A line or two for each kept run of the project around a folder,
    the latest last.
    """
    store = Store.around(folder)
    kept = store.runs()
    if not kept:
        yield f"no run is kept in {str(store.folder)!r}; runs are kept when they end"
    elif not store.folder.is_relative_to(folder):
        yield f"of {str(store.folder)!r}, as no run is kept in this folder:"
    for run in kept:
        yield from _lines(run)
    try:
        store.accepted()
    except PolicyError as error:
        yield str(error)


def accept(folder: Path, number: int | None) -> str:
    """Make a run a baseline, and say of which tests.

    Args:
        folder: The folder of the project, or one below it.
        number: The number of the run; None for the latest.

    Raises:
        DataError: If the choice cannot be written.
    """
    store = Store.around(folder)
    with failing_as(DataError, f"{str(store.folder)!r} cannot be written"):
        kept = store.accept(number)
    failed = "" if kept.head.get("gate") == "passed" else " (its own gate failed)"
    which = "" if store.folder.is_relative_to(folder) else f" in {str(store.folder)!r}"
    return (
        f"run {kept.number}{which} is the baseline of {_models(kept)} now{failed}: "
        f"pytest ... --recsys-baseline"
    )


def _lines(kept: Kept) -> Iterator[str]:
    """The time, the subjects and the result of a run; the head of
    a run is a file, so its content is not trusted.
    """
    head = kept.head
    if not head:
        yield f"{kept.number:4}  damaged: {str(kept.record.parent)!r}"
        return
    started = one_line(str(head.get("started", ""))[:16].replace("T", " "))
    commit = one_line(str(head.get("commit") or "-"))
    data = one_line(str(head.get("data")))
    seed = one_line(str(head.get("seed")))
    against = head.get("against")
    models = (
        f"{_models(kept)} against {one_line(str(against))}"
        if against
        else _models(kept)
    )
    yield f"{kept.number:4}  {started}  {commit:9} {models} on {data}, seed {seed}"
    gate = one_line(str(head.get("gate")))
    counts = _counts(head)
    shown = [
        text.format(counts[status])
        for status, text in SHOWN.items()
        if counts.get(status)
    ]
    marks = ""
    if kept.accepted:
        marks += "; baseline"
    if head.get("everybody"):
        marks += "; all users asked"
    yield f"      gate {gate}: {', '.join(shown) or 'no verdict'}{marks}"


def _counts(head: Mapping[str, Any]) -> dict[str, int]:
    """How many verdicts are in each state, and how many
    changed since the baseline in each way.
    """
    counts: dict[str, int] = {}
    for part in (
        head.get("reasons"),
        head.get("counts"),
    ):  # earlier runs lack the first
        if isinstance(part, dict):
            counts |= part
    return counts


def _models(kept: Kept) -> str:
    return ", ".join(one_line(str(model)) for model in kept.head["models"])

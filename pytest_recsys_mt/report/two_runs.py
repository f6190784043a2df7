"""The command `recsys-mt compare`: what became worse between two
runs, or two models of one run, and on whom.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from pytest_recsys_mt.gate.baseline import counterpart, prompts_of, rows_of
from pytest_recsys_mt.gate.changed_lists import in_words
from pytest_recsys_mt.gate.decision import Gate
from pytest_recsys_mt.gate.document import Comparison, Document
from pytest_recsys_mt.gate.nodeids import address, addresses
from pytest_recsys_mt.gate.policy import FILE, Policy, load
from pytest_recsys_mt.gate.reading import OF_EXAMPLES
from pytest_recsys_mt.gate.store import Store, called
from pytest_recsys_mt.report.compared import CHANGES, LOUD
from pytest_recsys_mt.report.outputs import (
    raised_as_data_error,
    record_at,
    require_output,
)
from pytest_recsys_mt.report.pairs import (
    Pair,
    cells_of,
    count_of_worse,
    lines_of_groups,
    lines_of_users,
    pairs_of,
)
from pytest_recsys_mt.report.sheet import Sheet
from pytest_recsys_mt.report.sheets import WRITERS, write_sheets
from pytest_recsys_mt.report.spending import cost
from pytest_recsys_mt.safety.errors import DataError
from pytest_recsys_mt.safety.sanitize import one_line

LIKE = ("models", "data", "seed")
"""The facts that two runs share if only one of them is named."""

NO_GROUPS = "no groups of users were judged in both runs; --recsys-slices=activity,genre judges some"

_JUDGED = tuple(change for change in CHANGES if change != "ungated")
"""The changes of promises that were judged in both runs."""


def compare_runs(paths: Sequence[Path], output: Path | None) -> int:
    """Write the comparison of two records, of the models of one, or of the latest kept
    run and the one before.

    Args:
        paths: Two records, one, or none.
        output: The file to write; None for the terminal.

    Returns:
        0 if nothing became worse, 1 if something did or the later one alone is partial,
        2 if they cannot be compared, or no test was judged in both.

    Raises:
        DataError, PolicyError: If a record cannot be read or compared, or the file
            cannot be written.
    """
    require_output(output, WRITERS, paths)
    title, sheets, status = compared(paths)
    write_sheets(output, "comparison", title, sheets, ".txt")
    return status


def compared(paths: Sequence[Path]) -> tuple[str, list[Sheet], int]:
    """The records that `compare_runs` compares, its tables, and its result."""
    store = Store.around(Path.cwd())
    # Kept, because a record is large, and one file may be needed twice.
    read = cache(partial(record_at, without=OF_EXAMPLES))
    old_path, new_path = _sides(paths, store, read)
    is_one_run = old_path == new_path
    policy_file = store.folder.parents[1] / FILE
    policy = load(policy_file) if policy_file.exists() else Policy()
    old, new, notes = _in_common(read(old_path), read(new_path))
    alpha = policy.alpha or new["settings"].get("alpha", 0.05)
    baseline = None if is_one_run else (called(old_path), old)
    with raised_as_data_error("these are not records as --recsys-json writes them"):
        gate = Gate(
            policy,
            configured=True,
            alpha=alpha,
            inconclusive="skip",
            baseline=baseline,
        )
        comparisons = gate.comparisons(new)
        sheets: list[Sheet] = []
        broken: list[str] = []
        for comparison in comparisons:
            section = _section(comparison, old, new)
            sheets += section.sheets
            broken += section.broken
        sheets.append(_spent(old, new, same=is_one_run))
        setbacks = _setbacks(old, new, broken)
        is_refused = any(comparison["refused"] for comparison in comparisons)
        is_judged = _any_counts(comparisons, _JUDGED)
        if not is_judged and not is_refused:
            notes.append("nothing is compared: no test was judged in both runs")
        # Once, if both sides are models of one run.
        sides = dict.fromkeys([_about(old_path, old), _about(new_path, new)])
        title = "; ".join([" -> ".join(sides), *setbacks, *notes])
    is_worse = bool(setbacks) or _any_counts(comparisons, LOUD)
    if is_refused:
        status = 2
    elif is_worse:
        status = 1
    else:
        status = 0 if is_judged else 2
    return title, sheets, status


def _any_counts(comparisons: Sequence[Comparison], changes: Sequence[str]) -> bool:
    """Whether any comparison has one of these changes."""
    for comparison in comparisons:
        counts = comparison["counts"]
        if any(counts.get(change) for change in changes):
            return True
    return False


def _setbacks(old: Document, new: Document, broken: Sequence[str]) -> list[str]:
    """Why the later run as a whole is worse: failures, and that it is partial."""
    setbacks = []
    if broken:
        setbacks.append(f"{len(broken)} failing now that did not then")
    incomplete = new["gate"]["incomplete"]
    if incomplete and not old["gate"]["incomplete"]:
        setbacks.append(f"the later run is partial: {one_line(incomplete[0])}")
    return setbacks


def _sides(
    paths: Sequence[Path],
    store: Store,
    read: Callable[[Path], Document],
) -> tuple[Path, Path]:
    """The earlier and the later record; the same one twice for the models of one.

    A run alone is compared with the latest one like it, and this with the one before.
    """
    if len(paths) == 2:
        return paths[0], paths[1]
    named = paths[0] if paths else None
    if named is None:
        store.run()  # raises if none is kept, or the latest is damaged
    sides = _kept_sides(store, named)
    if sides is not None:
        return sides
    if named is not None and len(read(named)["models"]) > 1:
        return named, named
    raise DataError(
        "no other kept run has the same models, data and seed; name two records: recsys-mt compare A B",
    )


def _kept_sides(store: Store, named: Path | None) -> tuple[Path, Path] | None:
    """The two kept runs that one of them is compared in; None if it has no other one
    like it.

    Args:
        store: Holds the kept runs.
        named: The record of one of them; None for the latest.
    """
    kept_runs = [kept for kept in store.runs() if kept.head]
    candidates = [kept for kept in kept_runs if named is None or kept.record == named]
    if not candidates:
        return None
    run = candidates[-1]
    alike = [kept.record for kept in kept_runs if _is_like(kept.head, run.head)]
    if len(alike) <= 1:
        return None
    latest = alike[-1]
    if run.record == latest:
        return alike[-2], latest
    return run.record, latest


def _is_like(head: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(head.get(name) == other.get(name) for name in LIKE)


def _in_common(old: Document, new: Document) -> tuple[Document, Document, list[str]]:
    """Both records with the tests that are in both, and
    notes on those that are left out.
    """
    old_tests = set(addresses(old["results"]))
    new_tests = set(addresses(new["results"]))
    if old_tests == new_tests:
        return old, new, []
    both = old_tests & new_tests
    counts = f"{len(old_tests - both)} then, {len(new_tests - both)} now"
    if not both:
        raise DataError(f"no test is in both runs: {counts}")
    return _only(old, both), _only(new, both), [f"tests of one run alone: {counts}"]


def _only(document: Document, tests: Collection[str]) -> Document:
    """A record with some of its tests alone."""
    rows = [row for row in document["results"] if address(row) in tests]
    # The digest of users is one of all tests, so it would differ although the users are
    # the same.
    digests = {**document["digests"], "users": ""}
    return cast("Document", {**document, "results": rows, "digests": digests})


def _about(path: Path, document: Document) -> str:
    """A record in the title: its name, its models, its
    prompt, its time and its gate.
    """
    started = str(document["time"]["started"])
    to_the_minute = started[: len("2026-01-31T12:00")].replace("T", " ")
    facts = [
        one_line(", ".join(document["models"])),
        prompts_of(document),
        to_the_minute,
        f"gate {document['gate']['status']}",
    ]
    known = ", ".join(fact for fact in facts if fact)
    return f"{called(path)} ({known})"


class _Section(NamedTuple):
    """The tables on one comparison, and the tests that fail now and did not then."""

    sheets: list[Sheet]
    broken: list[str]


def _section(comparison: Comparison, old: Document, new: Document) -> _Section:
    """The tables on the promises, the groups of users and the users of
    one comparison.
    """
    model = comparison["model"]
    # Between two runs a model is compared with its counterpart; within one run with
    # another model.
    against = (
        counterpart(old, model) if comparison["baseline"] else comparison["against"]
    )
    pairs = list(pairs_of(comparison, rows_of(old, against), rows_of(new, model)))
    broken = [pair.broke for pair in pairs if pair.broke]
    sheets = [_promises(comparison, pairs, broken), *_groups(pairs)]
    old_lists = old.get("lists", {}).get(against, {})
    new_lists = new.get("lists", {}).get(model, {})
    lines = list(lines_of_users(pairs, old_lists, new_lists))
    if lines:
        count = count_of_worse(pairs)
        title = f"The users whose values became worse most, of {count} that did"
        sheets.append(Sheet(title, notes=lines))
    return _Section(sheets, broken)


def _promises(
    comparison: Comparison,
    pairs: Sequence[Pair],
    broken: Sequence[str],
) -> Sheet:
    """The table of each promise then and now."""
    run = comparison["baseline"] or "the same run"
    rows = [cells_of(pair) for pair in pairs if pair.found["interval"] is not None]
    return Sheet(
        f"{comparison['model']} against {comparison['against']} of {run}",
        ("promise", "change", "then", "now", "worse by [bounds]", "margin", "users"),
        rows,
        _notes(comparison, pairs, broken),
        wordy=2,
    )


def _notes(
    comparison: Comparison,
    pairs: Sequence[Pair],
    broken: Sequence[str],
) -> list[str]:
    """The notes below the table of promises: the failures, how
    many changed how, and how many are left out.
    """
    notes = [f"cannot be compared: {reason}" for reason in comparison["refused"]]
    notes += broken
    counts = comparison["counts"]
    counted = [f"{counts[change]} {change}" for change in CHANGES if counts.get(change)]
    if counted:
        notes.append(", ".join(counted))
    lists = in_words(comparison.get("lists"))
    if lists:
        notes.append(lists)
    if comparison["bounds"]:
        notes.append(comparison["bounds"])
    ungated = [pair.found for pair in pairs if pair.found["change"] == "ungated"]
    for reason, count in Counter(found["reason"] for found in ungated).items():
        notes.append(f"not compared ({count}): {reason}")
    return notes


def _groups(pairs: Sequence[Pair]) -> Iterator[Sheet]:
    """The table of the groups of users that became worse,
    or a note that none were judged.
    """
    lines = lines_of_groups(pairs)
    judged = any(
        pair.old and pair.old["slices"] and pair.new["slices"] for pair in pairs
    )
    if lines or (pairs and not judged):
        yield Sheet(
            "On whom: the groups of users that became worse most, where both runs asked the same users",
            ("promise", "group", "then", "now", "worse by", "users"),
            lines,
            [] if judged else [NO_GROUPS],
            wordy=2,
        )


def _spent(old: Document, new: Document, *, same: bool) -> Sheet:
    """The table of calls, costs and time of both runs; of one run if
    both are the same.
    """
    documents = [new] if same else [old, new]
    columns = ("", "both") if same else ("", "then", "now")
    calls_of_runs = [document["calls"] for document in documents]
    made = []
    tokens = []
    for calls in calls_of_runs:
        made.append(calls["made"])
        tokens.append(calls["prompt_tokens"] + calls["completion_tokens"])
    rows = [["calls made", *(f"{count:,}" for count in made)]]
    if any(tokens):
        costs = [cost(calls) or "not known" for calls in calls_of_runs]
        rows.append(["tokens", *(f"{count:,}" for count in tokens)])
        rows.append(["cost", *costs])
    seconds = [str(document["time"].get("seconds", "")) for document in documents]
    rows.append(["seconds", *seconds])
    return Sheet("What they took", columns, rows)
